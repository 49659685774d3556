// The work of messages, as performance counters see it. Expected values come from the addresses that the test puts into
// the payload.
#include "message/work_tally.h"

#include <random>
#include <set>

#include "eu/isa/assembler.h"
#include "message/issue_cost.h"
#include "message_bench.h"

namespace halogen::message {
namespace {

using eu::SendOutcome;

class WorkOfMessages : public MessageBench {
 protected:
  static constexpr uint32_t kLocal = 254;
  WorkOfMessages() {
    environment_.counts_work = true;
    begin();
  }
  // Returns the work of the messages since the last call.
  MessageWork work() { return functions_.take_work(); }
};

TEST_P(WorkOfMessages, LinesOfAMessageCountOnce) {
  constexpr uint32_t kSize = 1000, kBase = 0x3000 + 20;
  bind_raw(1, kBase, kSize);
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const uint32_t width = random() % 2 == 0 ? 8 : 16;
    const uint32_t channels = 1 + random() % 4;
    const bool local = random() % 2 == 0;
    const bool writes = random() % 2 == 0;
    const uint32_t lanes = static_cast<uint32_t>(random()) & ((1u << width) - 1);
    const uint32_t spread = random() % 3 == 0 ? 64 : 1100;
    std::set<uint64_t> lines;
    uint64_t bytes = 0;
    for (uint32_t lane = 0; lane < width; ++lane) {
      const uint32_t offset = static_cast<uint32_t>(random()) % spread & ~3u;
      grf(kPayload + lane / 8, lane % 8) = offset;
      for (uint32_t c = 0; c < channels && (lanes >> lane & 1) != 0; ++c) {
        const uint32_t at = offset + 4 * c;
        if (at + 4 <= (local ? group_.local.size() : kSize)) {
          bytes += 4;
          lines.insert((kVa + kBase + at) / 64);
          lines.insert((kVa + kBase + at + 3) / 64);
        }
      }
    }
    const uint32_t registers = width / 8;
    const uint32_t control = (width == 8 ? 0x2000u : 0x1000u) | (0xfu << channels & 0xf) << 8 | (local ? kLocal : 1);
    const uint32_t descriptor = writes ? registers * (1 + channels) << 25 | 9u << 14 | control
                                       : registers << 25 | registers * channels << 20 | 1u << 14 | control;
    ASSERT_EQ(send(kPort1, descriptor, lanes, static_cast<uint8_t>(width)), SendOutcome::done);
    MessageWork expected;
    (local ? writes ? expected.local_writes : expected.local_reads : expected.memory_lines) =
        local ? (bytes + 63) / 64 : lines.size();
    const MessageWork got = work();
    EXPECT_EQ(got.memory_lines, expected.memory_lines) << round;
    EXPECT_TRUE(got == expected) << round;
  }
}

TEST_P(WorkOfMessages, BlocksCountTheLinesThatTheyCross) {
  grf(kPayload, 5) = 0;
  bind_raw(4, 0xa000, 0x1000);
  for (const uint32_t offset : {0u, 4u, 32u, 60u}) {
    grf(kPayload, 2) = offset;  // bytes: an unaligned read of two OWords
    EXPECT_EQ(send(kPort0, 0x0218'4204, 1, 8), SendOutcome::done);
    EXPECT_EQ(work().memory_lines, offset <= 32 ? 1u : 2u) << offset;
  }
}

TEST_P(WorkOfMessages, AtomicsOfLocalMemoryCountAsReadAndWrite) {
  bind_raw(2, 0x5000, 4096);
  set_lanes(kPayload, {0, 4, 8, 256, 260, 8, 4092, 4096});
  constexpr uint32_t kAdd = 2u << 25 | 1u << 20 | 2u << 14 | 0x37u << 8;
  EXPECT_EQ(send(kPort1, kAdd | 2, 0xff, 8), SendOutcome::done);
  EXPECT_TRUE(work() == (MessageWork{.memory_lines = 3, .atomics = 1}));
  EXPECT_EQ(send(kPort1, kAdd | kLocal, 0x3f, 8), SendOutcome::done);
  EXPECT_TRUE(work() == (MessageWork{.local_reads = 1, .local_writes = 1, .atomics = 1}));
}

TEST_P(WorkOfMessages, AFaultingMessageCountsWhenItIsSentAgain) {
  grf64(kPayload, 0) = kVa + 0x1000;
  grf64(kPayload, 1) = kVa + 0x20'0000;
  constexpr uint32_t kIncrement = 2u << 25 | 1u << 20 | 0x12u << 14 | 0x2500 | 255;
  EXPECT_EQ(send(kPort1, kIncrement, 3, 8), SendOutcome::fault);
  EXPECT_TRUE(work() == MessageWork{});
  grf64(kPayload, 1) = kVa + 0x1040;
  EXPECT_EQ(send(kPort1, kIncrement, 3, 8), SendOutcome::done);
  EXPECT_TRUE(work() == (MessageWork{.memory_lines = 2, .atomics = 1}));
}

TEST_P(WorkOfMessages, SamplersAreAskedForGroupsOfFourLanes) {
  bind(3, {1u << 29 | 0xc7u << 18 | 1u << 16 | 1u << 14, 0, 15u << 16 | 15, 63, 0, 0, 0, 0x09770000,
           static_cast<uint32_t>(kVa), static_cast<uint32_t>(kVa >> 32), 0, 0, 0, 0, 0, 0});
  for (uint32_t lanes = 1; lanes < 0x1'0000; lanes = lanes * 5 + 3) {
    const uint32_t wide = lanes > 0xff ? 2 : 1;
    uint64_t groups = 0;
    for (uint32_t group = 0; group < 4; ++group) {
      groups += (lanes >> (4 * group) & 0xf) != 0 ? 1 : 0;
    }
    // ld: the coordinates are integers, and no sampler state is read.
    const uint32_t descriptor = 3 * wide << 25 | 4 * wide << 20 | wide << 17 | 7u << 12 | 3;
    ASSERT_EQ(send(kSampler, descriptor, lanes, static_cast<uint8_t>(8 * wide)), SendOutcome::done);
    EXPECT_TRUE(work() == (MessageWork{.blocks_sampled = groups})) << lanes;
  }
}

TEST_P(WorkOfMessages, EachBarrierMessageCounts) {
  EXPECT_EQ(send(kGateway, 0x0200'0004, 1, 1), SendOutcome::done);
  EXPECT_EQ(send(kGateway, 0x0200'0004, 1, 1), SendOutcome::done);
  EXPECT_TRUE(work() == (MessageWork{.barriers = 2}));
}

TEST_P(WorkOfMessages, NothingIsCountedUnlessItIsWanted) {
  environment_.counts_work = false;
  begin();
  bind_raw(2, 0x5000, 4096);
  EXPECT_EQ(send(kPort1, 2u << 25 | 1u << 20 | 2u << 14 | 0x37u << 8 | 2, 0xff, 8), SendOutcome::done);
  EXPECT_EQ(send(kGateway, 0x0200'0004, 1, 1), SendOutcome::done);
  EXPECT_TRUE(work() == MessageWork{});
  environment_.counts_work = true;
  begin();
  EXPECT_EQ(send(kGateway, 0x0200'0004, 1, 1), SendOutcome::done);
  EXPECT_TRUE(work() == (MessageWork{.barriers = 1})) << "earlier messages leave nothing behind";
}

INSTANTIATE_TEST_SUITE_P(Chips, WorkOfMessages, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

TEST(LineSet, LinesBeyondItsSizeStillCount) {
  LineSet lines;
  for (uint64_t i = 0; i < 1000; ++i) {
    lines.add(i * 64, 64);
  }
  EXPECT_EQ(lines.count(), 1000u);
  lines.clear();
  EXPECT_EQ(lines.count(), 0u);
  lines.add(~uint64_t{0} - 3, 4);
  lines.add(63, 2);
  EXPECT_EQ(lines.count(), 3u);
}

struct CostRow {
  const char* text;
  uint32_t clocks;
  oa::Pipe pipe;
  oa::InstructionKind kind;
};

// A clock for each 16 bytes of the widest operand; for messages, one for each two registers.
TEST(IssueCost, FollowsWidthTypeAndOperation) {
  using enum oa::Pipe;
  using enum oa::InstructionKind;
  constexpr CostRow kRows[] = {
      {"add (8|M0) r1.0<1>:f r2.0<8;8,1>:f r3.0<8;8,1>:f", 2, fpu0, binary},
      {"add (16|M0) r1.0<1>:f r2.0<8;8,1>:f r4.0<8;8,1>:f", 4, fpu0, binary},
      {"add (16|M0) r1.0<1>:hf r2.0<8;8,1>:hf r4.0<8;8,1>:hf", 2, fpu0, binary},
      {"add (4|M0) r1.0<1>:df r2.0<4;4,1>:df r4.0<4;4,1>:df", 2, fpu0, binary},
      {"(W) add (1|M0) r1.0<1>:d r2.0<0;1,0>:d 4:d", 1, fpu0, binary},
      {"mov (16|M0) r1.0<1>:ud r2.0<8;8,1>:ud", 4, fpu0, move},
      {"mov (16|M0) r1.0<1>:ud r2.0<8;8,1>:uw", 4, fpu0, move},
      {"mad (8|M0) r20.0<4>:f r2.0<4>.xyzw:f r4.0<4>.xyzw:f r6.0<4>.xyzw:f {Align16}", 2, fpu0, ternary},
      {"not (8|M0) r1.0<1>:ud r2.0<8;8,1>:ud", 2, fpu0, other},
      {"math.inv (8|M0) r1.0<1>:f r2.0<8;8,1>:f", 2, fpu1, other},
      {"math.pow (16|M0) r1.0<1>:f r4.0<8;8,1>:f r6.0<8;8,1>:f", 4, fpu1, binary},
      {"send.dc1 (8|M0) r8 r6 0x0 0x02106e00", 1, send, other},    // one register
      {"send.dc1 (8|M0) null r6 0x0 0x06026c00", 2, send, other},  // three registers
      {"send.rc (16|M0) null r6 0x0 0x10031000", 4, send, other},  // eight registers
  };
  for (const CostRow& row : kRows) {
    const auto in = eu::assemble_line(spec::GenId::gen9, row.text);
    ASSERT_TRUE(in.ok()) << row.text << ": " << in.message();
    const IssueCost cost = issue_cost(in.value());
    EXPECT_EQ(cost.clocks, row.clocks) << row.text;
    EXPECT_EQ(cost.pipe, row.pipe) << row.text;
    EXPECT_EQ(cost.kind, row.kind) << row.text;
  }
  const auto idle = eu::assemble_line(spec::GenId::gen9, "nop");
  ASSERT_TRUE(idle.ok()) << idle.message();
  EXPECT_EQ(issue_cost(idle.value()).clocks, 0u);
}

TEST(IssueCost, SumsUpByPipeAndKind) {
  const std::vector<IssueCost> costs{
      {2, oa::Pipe::fpu0, oa::InstructionKind::move}, {3, oa::Pipe::send, oa::InstructionKind::other}, {}};
  oa::StageActivity activity;
  add_activity(costs, std::vector<uint64_t>{10, 20, 30}, std::vector<uint64_t>{4, 5, 6}, activity);
  oa::StageActivity expected;
  expected.issue_clocks[0][2] = 12;
  expected.issue_clocks[2][3] = 45;
  expected.sends = 15;
  EXPECT_TRUE(activity == expected);
}

}  // namespace
}  // namespace halogen::message
