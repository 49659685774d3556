// Media threads that start children and write to each other's registers, as the loop filter of intel-vaapi-driver does
// on the first chips. All encodings are those of its kernels.
#include <gtest/gtest.h>

#include <cstring>

#include <fmt/format.h>

#include "eu/isa/assembler.h"
#include "hw/media.h"
#include "spec/append_command.h"
#include "support/engine_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
using Dwords = std::vector<uint32_t>;

constexpr std::string_view kEndOfRoot = "(W) send.ts (8|M0) null:ud m4 r0.0<8;8,1>:ud 0x0 0x02080000 {EOT}\n";
constexpr std::string_view kEndOfChild = "(W) send.ts (8|M0) null:ud m4 r0.0<8;8,1>:ud 0x0 0x02080012 {EOT}\n";
constexpr uint32_t kKey = 0x1212;

// Opens 2 to the power of `size_log2` registers from `first` on.
std::string open_gateway(uint32_t first, uint32_t size_log2) {
  return fmt::format(
      "(W) mov (8|M0) r48.0<1>:ud r0.0<8;8,1>:ud\n"
      "(W) mov (1|M0) r48.5<1>:ud {:#x}:ud\n"
      "(W) mov (1|M0) r48.8<1>:uw {:#x}:uw\n"
      "(W) send.gtwy (8|M0) null:ud m7 r48.0<8;8,1>:ud 0x0 0x02080000\n",
      first << 21 | size_log2 << 8, kKey);
}
constexpr std::string_view kCloseGateway = "(W) send.gtwy (8|M0) null:ud m7 r0.0<8;8,1>:ud 0x0 0x02080001\n";

// Forwards the bytes of r45 to the thread whose name is `thread`. `offset` is an operand, in bytes.
std::string forward(std::string_view thread, std::string_view offset, uint32_t length_log2 = 0, uint32_t key = kKey) {
  return fmt::format(
      "(W) mov (8|M0) r48.0<1>:ud r45.0<8;8,1>:ud\n"
      "(W) mov (1|M0) r46.0<1>:ud {1}\n"
      "(W) shl (1|M0) r48.5<1>:ud r46.0<0;1,0>:ud 0x10:ud\n"
      "(W) or (1|M0) r48.5<1>:ud r48.5<0;1,0>:ud {2:#x}:ud\n"
      "(W) mov (1|M0) r48.8<1>:uw {3:#x}:uw\n"
      "(W) mov (1|M0) r48.9<1>:uw {0}\n"
      "(W) send.gtwy (8|M0) null:ud m7 r48.0<8;8,1>:ud 0x0 0x02088002\n",
      thread, offset, length_log2 << 8, key);
}

// Stores two registers at a byte offset of surface 0.
std::string store(uint32_t reg, std::string_view offset) {
  return fmt::format(
      "(W) mov (8|M0) r60.0<1>:ud r0.0<8;8,1>:ud\n"
      "(W) mov (1|M0) r60.2<1>:ud {2}\n"
      "(W) mov (8|M0) m2.0<1>:ud r{0}.0<8;8,1>:ud\n"
      "(W) mov (8|M0) m3.0<1>:ud r{1}.0<8;8,1>:ud\n"
      "(W) send.dpwr (8|M0) null:ud m1 r60.0<8;8,1>:ud 0x0 0x06080300\n",
      reg, reg + 1, offset);
}

// Starts child r20.0, whose r0 is ours with our name in r0.3 and its number in r0.6, and whose r1 is r52.
constexpr std::string_view kSpawn = R"(
  (W) mov (8|M0) r50.0<1>:ud r20.0<0;1,0>:ud
  (W) mov (8|M0) r51.0<1>:ud r0.0<8;8,1>:ud
  (W) mov (1|M0) r51.3<1>:ud 0x0:ud
  (W) mov (1|M0) r51.6<1>:uw sr0.0<0;1,0>:uw
  (W) mov (1|M0) r51.6<1>:ud r20.0<0;1,0>:ud
  (W) mov (8|M0) m2.0<1>:ud r51.0<8;8,1>:ud
  (W) mov (8|M0) m3.0<1>:ud r52.0<8;8,1>:ud
  (W) send.urb (8|M0) null:ud m1 r50.0<8;8,1>:ud 0x0 0x06080000
  (W) add (1|M0) r51.2<1>:ud r0.2<0;1,0>:ud 0x10:ud
  (W) shl (1|M0) r51.4<1>:ud r20.0<0;1,0>:ud 0x1:ud
  (W) or (1|M0) r51.4<1>:ud r51.4<0;1,0>:ud 0x400:ud
  (W) send.ts (8|M0) null:ud m4 r51.0<8;8,1>:ud 0x0 0x02080001
)";

// Repeats `body` with r20.0 from 0 to `count` - 1.
std::string repeat(std::string_view label, uint32_t count, std::string_view body) {
  return fmt::format(
      "(W) mov (1|M0) r20.0<1>:ud 0x0:ud\n"
      "{0}:\n{2}"
      "(W) add (1|M0) r20.0<1>:ud r20.0<0;1,0>:ud 0x1:ud\n"
      "(W) cmp (8|M0) (lt)f0.0 null:ud r20.0<0;1,0>:ud {1:#x}:ud\n"
      "(W&f0.0) jmpi {0}\n",
      label, count, body);
}
constexpr std::string_view kWait = "(W) wait (1|M0) n0.0<0;1,0>:ud\n";

struct Family : EngineBench {
  static constexpr uint32_t kChild = 0x1000;  // offset of the child's kernel
  explicit Family(std::string_view name, device::DeviceOptions options = {}) : EngineBench(name, std::move(options)) {
    code = allocate(2);
    state = allocate(1);
    out = allocate(1);
    child_out = allocate(1);
    start_ring(kRcs, 8);
    for (const bool of_child : {false, true}) {
      const uint32_t at_state = low(state) + (of_child ? 0x80 : 0);
      poke(at_state + 0x100, at_state + 0x200);
      poke(at_state + 0x200, {4u << 29, low(of_child ? child_out : out), 1u << 19 | 127u << 6, 15u << 3, 0, 0});
    }
    emit(kRcs, {0x6101'0004, 1, 1, low(state) | 1, 1, 1});
    poke(state + 0x300, {low(code), 0, 0, low(state) + 0x100});
    poke(state + 0x310, {low(code) + kChild, 0, 0, low(state) + 0x180});
    poke(state + 0x500, {0, 0, low(state) + 0x300});
    emit(kRcs, {0x7000'0001, 0, low(state) + 0x500});
    host.log.clear();
  }
  static uint32_t low(uint64_t address) { return static_cast<uint32_t>(address); }
  void kernel(uint32_t offset, const std::string& text) {
    const auto assembled = eu::assemble(model.gen, text);
    ASSERT_TRUE(assembled.ok()) << assembled.message() << "\n" << text;
    Dwords words(assembled.value().size() / 4);
    std::memcpy(words.data(), assembled.value().data(), words.size() * 4);
    ASSERT_LE(words.size() * 4, 0x1000u);
    poke(code + offset, words);
  }
  void start(const std::string& root, const std::string& child = std::string(kEndOfChild)) {
    kernel(0, root);
    kernel(kChild, child);
    emit(kRcs, {0x7100'0003, 0, 0, 0, 0xabcd});
    submit(kRcs);
  }
  // Runs one root thread.
  void run(const std::string& root, const std::string& child = std::string(kEndOfChild)) {
    start(root, child);
    EXPECT_TRUE(device->settle());
  }
  std::string log() const {
    std::string all;
    for (const Event& event : host.log.events()) {
      all += event.to_string() + "\n";
    }
    return all;
  }

  uint64_t code = 0, state = 0, out = 0, child_out = 0;
};

class Children : public ::testing::TestWithParam<std::string> {};

TEST_P(Children, StartWithRowsOfTheUrbAndTheirOwnDescriptor) {
  constexpr uint32_t kCount = 5;
  Family family(GetParam());
  const std::string root =
      "(W) mov (8|M0) r52.0<1>:ud r1.0<8;8,1>:ud\n" +
      repeat("L0", kCount, "(W) add (1|M0) r52.1<1>:ud r20.0<0;1,0>:ud 0x700:ud\n" + std::string(kSpawn)) +
      store(0, "0x0:ud") + std::string(kEndOfRoot);
  family.run(root, "(W) shl (1|M0) r62.0<1>:ud r0.6<0;1,0>:ud 0x6:ud\n" + store(0, "r62.0<0;1,0>:ud") +
                       std::string(kEndOfChild));
  EXPECT_EQ(family.events(), 0u) << family.log();
  EXPECT_EQ(family.peek(family.out + 8), Family::low(family.state) + 0x300) << "the root knows its descriptor";
  for (uint32_t child = 0; child < kCount; ++child) {
    const uint64_t place = family.child_out + 64 * child;
    EXPECT_EQ(family.peek(place + 4 * 6), child) << "r0 is the first row";
    EXPECT_EQ(family.peek(place + 4 * 2), Family::low(family.state) + 0x300);
    EXPECT_EQ(family.peek(place + 32), 0xabcdu) << "r1 is the second row";
    EXPECT_EQ(family.peek(place + 36), 0x700 + child);
  }
  EXPECT_EQ(family.peek(family.child_out + 64 * kCount), 0u);
}

TEST_P(Children, ForwardTheirResultsToTheRootAndNotifyIt) {
  constexpr uint32_t kCount = 200;  // more than can be alive
  Family family(GetParam());
  const std::string root =
      "(W) mov (8|M0) r52.0<1>:ud 0x0:ud\n" + open_gateway(6, 3) +
      repeat("L0", kCount, "(W) add (1|M0) r52.1<1>:ud r20.0<0;1,0>:ud 0x3:ud\n" + std::string(kSpawn)) +
      repeat("L1", kCount, kWait) + std::string(kCloseGateway) + store(6, "0x0:ud") + store(8, "0x40:ud") +
      store(10, "0x80:ud") + store(12, "0xc0:ud") + std::string(kEndOfRoot);
  const std::string child = "(W) mov (8|M0) r45.0<1>:ud 0x0:ud\n(W) mov (4|M0) r45.0<1>:ub r1.4<0;1,0>:ub\n" +
                            forward("r0.6<0;1,0>:uw", "r0.6<0;1,0>:ud") + std::string(kEndOfChild);
  family.run(root, child);
  EXPECT_EQ(family.events(), 0u) << family.log();
  for (uint32_t i = 0; i < 256; ++i) {
    const uint32_t byte = family.peek(family.out + (i & ~3u)) >> (8 * (i & 3)) & 0xff;
    EXPECT_EQ(byte, i < kCount ? (i + 3) & 0xff : 0) << i;
  }
}

TEST_P(Children, StartChildrenThemselves) {
  Family family(GetParam());
  // Child n writes its number and starts child n + 1, up to 9; the descriptor after the child's is the child's again.
  family.poke(family.state + 0x320,
              {Family::low(family.code) + Family::kChild, 0, 0, Family::low(family.state) + 0x180});
  std::string child = "(W) mov (1|M0) r20.0<1>:ud r0.6<0;1,0>:ud\n(W) shl (1|M0) r62.0<1>:ud r0.6<0;1,0>:ud 0x6:ud\n" +
                      store(0, "r62.0<0;1,0>:ud") +
                      "(W) add (1|M0) r20.0<1>:ud r20.0<0;1,0>:ud 0x1:ud\n"
                      "(W) cmp (8|M0) (gt)f0.0 null:ud r20.0<0;1,0>:ud 0x9:ud\n"
                      "(W&f0.0) jmpi L9\n" +
                      std::string(kSpawn) + "L9:\n" + std::string(kEndOfChild);
  family.run("(W) mov (1|M0) r20.0<1>:ud 0x1:ud\n" + std::string(kSpawn) + std::string(kEndOfRoot), child);
  EXPECT_EQ(family.events(), 0u) << family.log();
  for (uint32_t i = 1; i < 10; ++i) {
    EXPECT_EQ(family.peek(family.child_out + 64 * i + 24), i);
  }
  EXPECT_EQ(family.peek(family.child_out + 640 + 24), 0u);
}

// The next media object starts when the whole family has ended.
TEST_P(Children, EndBeforeTheNextObjectStarts) {
  Family family(GetParam());
  // The child works for a while before it stores; the second root copies what it finds.
  const std::string child = repeat("L3", 5000, "") + store(20, "0x0:ud") + std::string(kEndOfChild);
  family.start("(W) mov (1|M0) r20.0<1>:ud 0x1:ud\n" + std::string(kSpawn) + std::string(kEndOfRoot), child);
  const uint64_t mark = family.allocate(1);
  family.emit(kRcs, {0x0200'0000, 0});  // MI_FLUSH
  family.emit(kRcs, {0x1040'0002, 0, Family::low(mark), 1});
  family.submit(kRcs);
  while (family.peek(mark) == 0) {
    ASSERT_EQ(family.peek(family.child_out), 0u) << "the child still works";
    family.device->advance(1000);
    if (family.peek(family.child_out) != 0) {
      break;
    }
  }
  EXPECT_EQ(family.peek(family.child_out), 5000u) << "stored before the mark";
  EXPECT_TRUE(family.device->settle());
  EXPECT_EQ(family.peek(mark), 1u);
}

struct Mistake {
  std::string name;
  std::string root;
  std::string text;  // in the Event
};
std::vector<Mistake> mistakes() {
  const std::string zero = "(W) mov (8|M0) r45.0<1>:ud 0x0:ud\n";
  const std::string own = "sr0.0<0;1,0>:uw";
  const std::string end(kEndOfRoot);
  return {
      {"close", std::string(kCloseGateway) + end, "closed that was not open"},
      {"twice", open_gateway(6, 1) + open_gateway(8, 1) + end, "opened twice"},
      {"registers", open_gateway(127, 1) + end, "beyond the registers"},
      {"missing", zero + forward("0x4d:uw", "0x0:ud") + end, "does not exist"},
      {"closed", zero + forward(own, "0x0:ud") + end, "gateway is closed"},
      {"key", zero + open_gateway(6, 1) + forward(own, "0x0:ud", 0, 0x1213) + end, "its key is not"},
      {"length", zero + open_gateway(6, 1) + forward(own, "0x0:ud", 5) + end, "length code is reserved"},
      {"end", zero + open_gateway(6, 0) + forward(own, "0x1d:ud", 2) + end, "beyond the target's gateway"},
      {"far", zero + open_gateway(6, 0) + forward(own, "0x1fff:ud", 0) + end, "beyond the target's gateway"},
      {"bytes", zero + "(W) mov (1|M0) r45.0<1>:ud 0x1:ud\n" + open_gateway(6, 0) + forward(own, "0x0:ud") + end,
       "four bytes differ"},
      {"rows", "(W) mov (1|M0) r20.0<1>:ud 0x1ff:ud\n" + std::string(kSpawn) + end, "rows beyond the last"},
      {"kind", std::string(kEndOfChild), "ends as the other kind"},
      {"name", "(W) mov (1|M0) sr0.0<1>:ud 0x5678:ud\n" + open_gateway(6, 1) + std::string(kCloseGateway) + end,
       "does not exist"},
      {"early", "(W) send.ts (8|M0) null:ud m4 r0.0<8;8,1>:ud 0x0 0x02080000\n" + end, "when the thread ends"},
  };
}

TEST_P(Children, EachMistakeRaisesAnEventAndTheThreadContinues) {
  for (const Mistake& mistake : mistakes()) {
    SCOPED_TRACE(mistake.name);
    Family family(GetParam());
    family.run(mistake.root);
    EXPECT_EQ(family.events(EventKind::undefined_behaviour), 1u) << family.log();
    EXPECT_NE(family.log().find(mistake.text), std::string::npos) << family.log();
    family.run(std::string(kEndOfRoot));
    EXPECT_EQ(family.events(EventKind::undefined_behaviour), 1u);
  }
}

TEST_P(Children, EightBytesAreForwardedTogether) {
  Family family(GetParam());
  family.run(
      "(W) mov (1|M0) r45.0<1>:ud 0x11223344:ud\n(W) mov (1|M0) r45.1<1>:ud 0x55667788:ud\n"
      "(W) mov (8|M0) r6.0<1>:ud 0x0:ud\n" +
      open_gateway(6, 0) + forward("sr0.0<0;1,0>:uw", "0x4:ud", 3) + std::string(kWait) + store(6, "0x0:ud") +
      std::string(kEndOfRoot));
  EXPECT_EQ(family.peek(family.out), 0u);
  EXPECT_EQ(family.peek(family.out + 4), 0x1122'3344u);
  EXPECT_EQ(family.peek(family.out + 8), 0x5566'7788u);
  EXPECT_EQ(family.peek(family.out + 12), 0u);
  EXPECT_EQ(family.events(), 0u) << family.log();
}

TEST_P(Children, DescriptorsInUnmappedMemoryFault) {
  Family family(GetParam());
  family.start("(W) mov (1|M0) r20.0<1>:ud 0x1:ud\n(W) mov (1|M0) r0.2<1>:ud 0x0fff0000:ud\n" + std::string(kSpawn) +
               std::string(kEndOfRoot));
  family.device->advance(1'000'000);
  EXPECT_GE(family.events(EventKind::fault), 1u);
  family.device->reset(device::ResetKind::driver);
  EXPECT_TRUE(family.device->settle());
}

// Threads that start children for ever end with the stop flag; others wait while the family has no room.
TEST_P(Children, EndlessSpawnersStop) {
  for (const std::string& child : {std::string(kEndOfChild), "L8:\n" + std::string(kWait) + "(W) jmpi L8\n"}) {
    Family family(GetParam());
    family.start("(W) mov (1|M0) r20.0<1>:ud 0x1:ud\nL0:\n" + std::string(kSpawn) + "(W) jmpi L0\n", child);
    uint32_t looks = 0;
    family.device->stop_flag().set_watch([&] { return ++looks > 20; });
    family.device->advance(1'000'000'000);
    family.device->stop_flag().set_watch({});
    EXPECT_LE(family.device->snapshot().engines[0].compute.walk.threads.size(), 128u);
    family.device->reset(device::ResetKind::driver);
    EXPECT_TRUE(family.device->settle());
  }
}

// Gen6: eight threads of a walk. Each opens a register, writes its number to the one before it and waits for the one
// behind it. They start speculatively with several host threads, and leave what one host thread leaves.
std::string chain_kernel() {
  return R"(
    (W) and (1|M0) r20.0<1>:ud r0.1<0;1,0>:ud 0x1ff:ud
    (W) mov (1|M0) r21.0<1>:ud 0x0:ud
    L0:
    (W) add (1|M0) r21.0<1>:ud r21.0<0;1,0>:ud 0x1:ud
    (W) cmp (8|M0) (lt)f0.0 null:ud r21.0<0;1,0>:ud 0x320:ud
    (W&f0.0) jmpi L0
    (W) mov (8|M0) r6.0<1>:ud 0x0:ud
    (W) mov (8|M0) r48.0<1>:ud 0x0:ud
    (W) mov (1|M0) r48.5<1>:ud 0xc00000:ud
    (W) mov (1|M0) r48.8<1>:uw 0x1212:uw
    (W) mov (8|M0) m7.0<1>:ud r48.0<8;8,1>:ud
    (W) send.gtwy (8|M0) null m7 0x0 0x02080000
    (W) cmp (8|M0) (eq)f0.0 null:ud r20.0<0;1,0>:ud 0x0:ud
    (W&f0.0) jmpi L1
    (W) add (1|M0) r46.0<1>:ud r20.0<0;1,0>:ud 0x10:ud
    (W) mov (4|M0) r48.0<1>:ub r46.0<0;1,0>:ub
    (W) mov (1|M0) r48.5<1>:ud 0x30000:ud
    (W) mov (1|M0) r47.0<1>:ud sr0.0<0;1,0>:ud
    (W) add (1|M0) r47.0<1>:d r47.0<0;1,0>:d -1:d
    (W) mov (1|M0) r48.9<1>:uw r47.0<0;1,0>:uw
    (W) mov (8|M0) m7.0<1>:ud r48.0<8;8,1>:ud
    (W) send.gtwy (8|M0) null m7 0x0 0x02088002
    L1:
    (W) cmp (8|M0) (eq)f0.0 null:ud r20.0<0;1,0>:ud 0x7:ud
    (W&f0.0) jmpi L2
    (W) wait (1|M0) n0.0<0;1,0>:ud
    L2:
    (W) mov (8|M0) m1.0<1>:ud 0x0:ud
    (W) shl (1|M0) m1.2<1>:ud r20.0<0;1,0>:ud 0x2:ud
    (W) mov (8|M0) m2.0<1>:ud r6.0<8;8,1>:ud
    (W) mov (8|M0) m3.0<1>:ud r20.0<0;1,0>:ud
    (W) send.rc (8|M0) null m1 0x0 0x06090300
    (W) mov (8|M0) m4.0<1>:ud r0.0<8;8,1>:ud
    (W) send.ts (8|M0) null m4 0x0 0x02000010 {EOT}
)";
}

// Runs a walk of eight threads on Gen6. Returns the address of the buffer of surface 0.
uint64_t run_walk(EngineBench& bench, const std::string& kernel) {
  const uint64_t code = bench.allocate(1), state = bench.allocate(1), out = bench.allocate(1);
  const auto low = [](uint64_t address) { return static_cast<uint32_t>(address); };
  const auto assembled = eu::assemble(bench.model.gen, kernel);
  EXPECT_TRUE(assembled.ok()) << assembled.message();
  Dwords words(assembled.value().size() / 4);
  std::memcpy(words.data(), assembled.value().data(), words.size() * 4);
  bench.poke(code, words);
  bench.poke(state + 0x100, 0x200u);
  bench.poke(state + 0x200, {4u << 29, low(out), 1u << 19 | 127u << 6, 15u << 3, 0, 0});
  bench.poke(state + 0x300, {0, 0, 0, 0x100, 0, 0, 0, 0});
  bench.start_ring(kRcs, 8);
  bench.emit(kRcs, {0x6101'0008, 1, low(state) | 1, low(state) | 1, low(state) | 1, low(code) | 1, 1, 1, 1, 1});
  bench.emit(kRcs, {0x7000'0006, 0, 31u << 16, 0, 0, 0, 0, 0});
  bench.emit(kRcs, {0x7002'0002, 0, 32, 0x300});
  hw::MEDIA_OBJECT_WALKER walk{};
  walk.block_resolution_x = walk.global_resolution_x = 8;
  walk.block_resolution_y = walk.global_resolution_y = 1;
  walk.global_outer_loop_stride_x = 8;
  walk.global_inner_loop_unit_y = 1;
  walk.local_outer_loop_stride_y = 1;
  walk.local_inner_loop_unit_x = 1;
  walk.local_loop_exec_count = walk.global_loop_exec_count = 0x3ff;
  std::vector<uint32_t> command;
  spec::append_command(bench.model.gen, command, walk);
  command.resize(17);  // no inline data
  command[0] = 0x7103'000f;
  bench.host.log.clear();
  bench.emit(kRcs, command);
  bench.submit(kRcs);
  EXPECT_TRUE(bench.device->settle());
  return out;
}

std::vector<uint32_t> run_chain(unsigned host_threads) {
  EngineBench bench("snb", {.threads = host_threads});
  const uint64_t out = run_walk(bench, chain_kernel());
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 0u);
  EXPECT_EQ(bench.events(EventKind::unsupported), 0u);
  std::vector<uint32_t> all;
  for (uint32_t thread = 0; thread < 8; ++thread) {
    all.push_back(bench.peek(out + 64 * thread));
    EXPECT_EQ(bench.peek(out + 64 * thread + 32), thread);
  }
  all.push_back(static_cast<uint32_t>(bench.device->clock().nanoseconds));
  return all;
}

TEST(ChildrenAndHosts, MessagesBetweenThreadsDoNotDependOnHostThreads) {
  const std::vector<uint32_t> alone = run_chain(1);
  for (uint32_t thread = 0; thread < 7; ++thread) {
    EXPECT_EQ(alone[thread], (thread + 0x11) << 24) << "byte 3, from the next thread";
  }
  EXPECT_EQ(alone[7], 0u);
  for (const unsigned threads : {2u, 4u}) {
    EXPECT_EQ(run_chain(threads), alone) << threads;
  }
}

// No public source describes how threads of Gen6 start others: the message is reported and starts nothing.
TEST(ChildrenElsewhere, SpawnsOfLaterChipsAreReportedAndTheirThreadsEnd) {
  EngineBench bench("snb");
  run_walk(bench,
           "(W) mov (8|M0) m4.0<1>:ud r0.0<8;8,1>:ud\n(W) send.ts (8|M0) null m4 0x0 0x02000001\n"
           "(W) send.ts (8|M0) null m4 0x0 0x02000010 {EOT}\n");
  EXPECT_EQ(bench.events(EventKind::unsupported), 1u) << "once for all threads";
}

INSTANTIATE_TEST_SUITE_P(Chips, Children, ::testing::Values("i965", "gm965", "g45", "gm45"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen
