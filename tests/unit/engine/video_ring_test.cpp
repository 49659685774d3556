// The second command streamer of G45 and GM45, for the video codec engine. G45 PRM vol. 1b chapter 2 (seed 003).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kVcs = "vcs0";
constexpr uint32_t kRccid = 0x190, kRncid = 0x198, kGfxMode = 0x520, kNonSecure = 1u << 8;

TEST(VideoRing, ExistsFromG45On) {
  COVERS("G45-2.1-01");
  for (const auto& [chip, has] :
       {std::pair{"i965", false}, std::pair{"gm965", false}, std::pair{"g45", true}, std::pair{"gm45", true}}) {
    FlowBench bench(chip);
    EXPECT_EQ(bench.has_engine(kVcs), has) << chip;
    bench.write(0x4038, 0x7000);
    EXPECT_EQ(bench.read(0x4038), has ? 0x7000u : 0u) << chip;
  }
}

class VideoRing : public ::testing::TestWithParam<std::string> {
 protected:
  VideoRing() : bench(GetParam()) {
    data = bench.allocate(1);
    bench.start_ring(kVcs);
  }
  FlowBench bench;
  uint64_t data = 0;
};

TEST_P(VideoRing, BatchEndReturnsToTheRing) {
  COVERS("G45-2.3-01");
  const uint64_t batch = bench.place(FlowBench::join({bench.store(data, 1), {kBatchEnd}, bench.store(data, 9)}));
  bench.run_all(kVcs, FlowBench::join({bench.batch(batch), bench.store(data + 4, 2)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
}

TEST_P(VideoRing, NoopWritesItsNumber) {
  bench.run_all(kVcs, {0x0040'0000 | 0x3f'1234, 0x55});
  EXPECT_EQ(bench.reg(kVcs, kNopid), 0x3f'1234u);
  EXPECT_EQ(bench.reg("rcs0", kNopid), 0u);
}

TEST_P(VideoRing, StoreAfterAFlushIsExecuted) {
  bench.run_all(kVcs, FlowBench::join({{kFlush, kNoop}, bench.store(data, 7)}));
  EXPECT_EQ(bench.peek(data), 7u);
}

// The work before a flush is complete when the store behind it is seen.
TEST_P(VideoRing, StoreBehindAFlushShowsThatItIsComplete) {
  COVERS("G45-2.5-02");
  const uint64_t mark = bench.allocate(1);
  bench.start_ring(kVcs, 4);
  for (uint32_t round = 1; round < 40; ++round) {
    for (uint32_t i = 0; i < 16; ++i) {
      bench.emit(kVcs, bench.store(data + 4 * i, 100 * round + i));
    }
    bench.emit(kVcs, FlowBench::join({{kFlush, kNoop | 0x0040'0000 | round}, bench.store(mark, round)}));
    bench.submit(kVcs);
    for (unsigned step = 0; bench.peek(mark) != round; ++step) {
      ASSERT_LT(step, 10'000u);
      bench.device->advance(50);
    }
    for (uint32_t i = 0; i < 16; ++i) {
      ASSERT_EQ(bench.peek(data + 4 * i), 100 * round + i);
    }
    EXPECT_EQ(bench.reg(kVcs, kNopid), round) << "the parser has passed the flush";
  }
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(VideoRing, RaisesItsOwnUserInterrupt) {
  COVERS("G45-2.11-01");
  bench.write(0x20a8, ~(1u << 25 | 2u));
  bench.set_reg(kVcs, 0xa8, 0);
  bench.run_all(kVcs, FlowBench::join({{kUserInterrupt, kNoop}, bench.store(data, 1)}));
  EXPECT_EQ(bench.read(0x20a4) & 1u << 25, 1u << 25);
  EXPECT_EQ(bench.read(0x20a4) & 2, 0u) << "not the interrupt of the render engine";
  EXPECT_EQ(bench.peek(data), 1u);
}

// The summary of commands leaves MI_WAIT_FOR_EVENT out, but it has a section: it is accepted and waits for nothing.
TEST_P(VideoRing, WaitForEventIsANoop) {
  COVERS("G45-2.12-01");
  COVERS("G45-2.13-03");
  const auto passes = [&](uint32_t bits, uint32_t mark) {
    bench.host.log.clear();
    bench.run_all(kVcs, FlowBench::join({{kWaitForEvent | bits, kNoop}, bench.store(data, mark)}));
    EXPECT_EQ(bench.reg(kVcs, kEir) & 1, 0u) << "not a command error";
    return bench.peek(data) == mark;
  };
  EXPECT_TRUE(passes(0, 1));
  EXPECT_EQ(bench.host.log.events().size(), 0u);
  // Conditions of the render streamer hold; no bit selects them here.
  bench.set_reg("rcs0", 0x28, 0x001f'001f);
  bench.set_reg(kVcs, 0x28, 0x001f'001f);
  for (unsigned bit = 0; bit < 23; ++bit) {
    EXPECT_TRUE(passes(1u << bit, 2 + bit)) << bit;
  }
}

TEST_P(VideoRing, OtherCommandsAreParseErrors) {
  COVERS("G45-2.13-01");
  const std::vector<uint32_t> others{0x01u << 23,     kUnprobe,    kArbOnOff,   kSuspendFlush, 0x11u << 23,
                                     0x12u << 23,     0x13u << 23, 0x14u << 23, kSetContext,   0x23u << 23,
                                     0x24u << 23 | 1, kProbe,      0x5000'0004,  // XY_COLOR_BLT
                                     0x6102'0000,     0x7a00'0002, 0x7b00'0004, 0x7900'0002,   0x6904'0000};
  for (const uint32_t header : others) {
    FlowBench fresh(GetParam());
    fresh.start_ring(kVcs);
    fresh.run_all(kVcs, {header, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(fresh.events(EventKind::unknown_command), 1u) << std::hex << header;
    EXPECT_EQ(fresh.reg(kVcs, kEsr) & 1, 1u) << std::hex << header;
    EXPECT_EQ(fresh.reg(kVcs, kIpehr), header);
  }
}

TEST_P(VideoRing, ArbCheckAndReportHeadInABatchAreReported) {
  COVERS("G45-2.2-02");
  COVERS("G45-2.8-02");
  bench.give_status_page(kVcs);
  const uint64_t batch = bench.place({kArbCheck, kReportHead, kBatchEnd, kNoop});
  bench.run_all(kVcs, bench.batch(batch));
  EXPECT_EQ(bench.undefined(), 2u);
}

TEST_P(VideoRing, ArbCheckLoadsTheUpdatedHead) {
  const uint64_t ring = bench.ring_start(kVcs);
  bench.poke(ring, FlowBench::join({{kArbCheck, kNoop}, bench.store(data, 1)}));
  bench.poke(ring + 0x100, bench.store(data + 4, 2));
  bench.set_reg(kVcs, kUhptr, 4u << 21 | 0x100 | 1);
  bench.set_reg(kVcs, EngineBench::kTail, 0x110);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.reg(kVcs, EngineBench::kHead), 4u << 21 | 0x110);
}

INSTANTIATE_TEST_SUITE_P(Chips, VideoRing, ::testing::Values("g45", "gm45"), chip_name);

TEST(Gm45VideoRing, ArbCheckSwitchesToTheNextContextWithRunLists) {
  COVERS("G45-2.2-01");
  FlowBench bench("gm45");
  bench.start_ring(kVcs);
  const auto first = static_cast<uint32_t>(bench.allocate(8)), second = static_cast<uint32_t>(bench.allocate(8));
  bench.set_reg(kVcs, kUhptr, 0x800 | 1);
  bench.set_reg(kVcs, kRncid, second | 1);
  bench.set_reg(kVcs, kRccid, first | 1);
  const uint64_t ring = bench.ring_start(kVcs);
  bench.poke(ring, {kArbCheck, kNoop});
  bench.set_reg(kVcs, EngineBench::kTail, 0x800);
  bench.device->advance(100);
  EXPECT_EQ(bench.reg(kVcs, kUhptr) & 1, 0u) << "run lists disabled: the updated head is loaded";
  EXPECT_EQ(bench.reg(kVcs, kRncid), second | 1);
  bench.set_reg(kVcs, kGfxMode, 0x8000'8000);
  bench.set_reg(kVcs, kUhptr, 0x900 | 1);
  bench.set_reg(kVcs, kRncid, second);
  bench.poke(ring + 0x800, {kArbCheck, kNoop | 0x0040'0001});
  bench.set_reg(kVcs, EngineBench::kTail, 0x808);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kVcs, kNopid), 1u);
  EXPECT_EQ(bench.reg(kVcs, kRccid), first | 1) << "without the valid bit nothing happens";
  bench.set_reg(kVcs, kRncid, second | 1);
  bench.poke(ring + 0x808, {kArbCheck, kNoop});
  bench.set_reg(kVcs, EngineBench::kTail, 0x810);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kVcs, kRccid), second | 1);
  EXPECT_EQ(bench.reg(kVcs, kRncid) & 1, 0u);
  EXPECT_EQ(bench.reg(kVcs, kUhptr) & 1, 1u) << "the updated head is ignored";
}

TEST(Gm45VideoRing, HeadReportsGoToTheProcessStatusPage) {
  COVERS("G45-2.8-01");
  FlowBench bench("gm45");
  const uint64_t page = bench.give_status_page(kVcs);
  bench.start_ring(kVcs);
  const uint64_t context = bench.allocate(8);
  bench.set_reg(kVcs, kRccid, static_cast<uint32_t>(context) | 1);
  bench.run_all(kVcs, {kReportHead, kNoop});
  EXPECT_EQ(bench.peek(page + 16), 4u);
  bench.set_reg(kVcs, kGfxMode, 0x8000'8000);
  bench.run_all(kVcs, {kReportHead, kNoop});
  EXPECT_EQ(bench.peek(page + 16), 4u);
  EXPECT_EQ(bench.peek(context + 0x5000 + 16), 12u) << "20 KB after the address of the context";
}

TEST(Gm45VideoRing, SecuritySelectsTheTable) {
  COVERS("G45-2.4-02");
  COVERS("G45-2.4-03");
  COVERS("G45-2.4-04");
  FlowBench bench("gm45");
  constexpr uint64_t kTable = 0x0400'0000, kOther = 0x0500'0000;
  for (uint64_t page = 0; page < 1024; ++page) {
    bench.host.put<uint32_t>(kTable + 4 * page, static_cast<uint32_t>(kOther + page * EngineBench::kPage) | 1);
  }
  bench.write(0x20c4, static_cast<uint32_t>(kTable) | 1);
  bench.set_reg(kVcs, kGfxMode, 0x8000'8000);
  bench.set_reg(kVcs, kEmr, 0);
  const auto put_process = [&](uint64_t at, const FlowBench::Dwords& dwords) {
    for (const uint32_t dword : dwords) {
      bench.host.put<uint32_t>(kOther + at, dword);
      at += 4;
    }
  };
  const uint64_t data = bench.allocate(1);
  const uint64_t last = bench.place({kNoop | 0x0040'0001, kBatchEnd});
  const auto address = static_cast<uint32_t>(data);
  // A store without the global bit uses the table of the process; a store with the bit is dropped, as is a register
  // load.
  put_process(last, FlowBench::join({{0x1000'0002, 0, address, 5},
                                     {0x1040'0002, 0, address, 6},
                                     {0x1100'0001, 0x4098, 0xffff'fff0},
                                     {kNoop | 0x0040'0002, kBatchEnd}}));
  const uint64_t first = bench.place(bench.batch(last, kNonSecure));
  put_process(first, bench.batch(last));
  bench.start_ring(kVcs);
  bench.run_all(kVcs, bench.batch(first));
  EXPECT_EQ(bench.reg(kVcs, kNopid), 1u) << "secure: global table, also for the chained batch";
  bench.run_all(kVcs, bench.batch(first, kNonSecure));
  EXPECT_EQ(bench.reg(kVcs, kNopid), 2u) << "not secure: table of the process, also for the chained batch";
  EXPECT_EQ(bench.host.value_at<uint32_t>(kOther + data), 6u) << "both stores used the table of the process";
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.reg(kVcs, kHwstam), 0xffff'ffffu);
}

}  // namespace
}  // namespace halogen
