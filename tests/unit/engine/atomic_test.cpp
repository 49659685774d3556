// MI_ATOMIC: every operation of every size, operands from the command and from the registers.
#include <gtest/gtest.h>

#include <algorithm>

#include "covers.h"
#include "mi_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kAtomic = 0x1780'0000, kGlobal = 1u << 22, kInline = 1u << 18, kReturn = 1u << 16, kStall = 1u << 17;
constexpr uint32_t kQword = 1u << 19, kOctword = 2u << 19;

class AtomicTest : public ::testing::TestWithParam<const char*> {};

// The value that an operation writes to memory and the one that it returns, as in the atomics table of the public
// manuals.
struct Case {
  uint32_t opcode;
  uint64_t old, first, second, after, returned;
};

// The values are for 64 bits; a 32-bit operation must give the same lower halves.
constexpr uint64_t kMinusOne = ~uint64_t{0};
constexpr Case kCases[] = {
    {0x01, 0xf0f0, 0xff00, 0, 0xf000, 0xf0f0},  // AND
    {0x02, 0xf0f0, 0x0f00, 0, 0xfff0, 0xf0f0},  // OR
    {0x03, 0xf0f0, 0xff00, 0, 0x0ff0, 0xf0f0},  // XOR
    {0x04, 0xf0f0, 0x1234, 0, 0x1234, 0xf0f0},  // MOVE
    {0x05, 0x00ff, 0x5555, 0, 0x0100, 0x00ff},  // INC
    {0x06, 0x0100, 0x5555, 0, 0x00ff, 0x0100},  // DEC
    {0x07, 0x0100, 0x0011, 0, 0x0111, 0x0100},  // ADD
    {0x08, 0x0100, 0x0011, 0, 0x00ef, 0x0100},  // SUB
    {0x09, 0x0011, 0x0100, 0, 0x00ef, 0x0011},  // RSUB: operand - memory
    {0x0a, kMinusOne, 5, 0, 5, kMinusOne},      // IMAX
    {0x0a, 7, kMinusOne, 0, 7, 7},
    {0x0b, kMinusOne, 5, 0, kMinusOne, kMinusOne},  // IMIN
    {0x0b, 7, kMinusOne, 0, kMinusOne, 7},
    {0x0c, kMinusOne, 5, 0, kMinusOne, kMinusOne},  // UMAX
    {0x0c, 7, kMinusOne, 0, kMinusOne, 7},
    {0x0d, kMinusOne, 5, 0, 5, kMinusOne},  // UMIN
    {0x0d, 7, kMinusOne, 0, 7, 7},
    {0x0e, 0x1111, 0x1111, 0x2222, 0x2222, 0x1111},  // CMP_WR: equal
    {0x0e, 0x1112, 0x1111, 0x2222, 0x1112, 0x1112},  // not equal
    {0x0f, 0x0100, 0x5555, 0, 0x00ff, 0x00ff},       // PREDEC returns the new value
    {0x05, kMinusOne, 0, 0, 0, kMinusOne},
};

Dwords inline_command(const MiBench& bench, uint32_t header, uint64_t address, const std::vector<uint32_t>& first,
                      const std::vector<uint32_t>& second) {
  Dwords command = Dwords{header} + bench.at(address);
  for (size_t i = 0; i < first.size(); ++i) {
    command.push_back(first[i]);
    command.push_back(second[i]);
  }
  command[0] |= static_cast<uint32_t>(command.size() - 2);
  return command;
}

TEST_P(AtomicTest, DwordOperandsComeFromTheCommand) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  for (const Case& each : kCases) {
    bench.poke(data + 4, low(each.old));
    bench.poke(data + 8, 0x5a5a'5a5a);
    bench.go(bench.load64(bench.gpr(4), 0x1111'1111'2222'2222) +
             inline_command(bench, kAtomic | kGlobal | kInline | kReturn | kStall | each.opcode << 8, data + 4,
                            {low(each.first)}, {low(each.second)}));
    EXPECT_EQ(bench.peek(data + 4), low(each.after)) << std::hex << each.opcode;
    EXPECT_EQ(bench.peek(data + 8), 0x5a5a'5a5au) << std::hex << each.opcode;
    EXPECT_EQ(bench.reg64(bench.gpr(4)), 0x1111'1111'0000'0000u | low(each.returned)) << std::hex << each.opcode;
  }
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(AtomicTest, QwordOperandsComeFromTheGprs) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  for (const Case& each : kCases) {
    bench.poke64(data, each.old);
    bench.go(bench.load64(bench.gpr(0), each.first) + bench.load64(bench.gpr(2), each.second) +
             bench.load64(bench.gpr(4), 1) +
             Dwords{kAtomic | kGlobal | kReturn | kQword | (each.opcode | 0x20) << 8 | 1} + bench.at(data));
    EXPECT_EQ(bench.peek64(data), each.after) << std::hex << each.opcode;
    EXPECT_EQ(bench.reg64(bench.gpr(4)), each.returned) << std::hex << each.opcode;
  }
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(AtomicTest, ReturnsDataOnlyIfRequested) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.go(bench.load64(bench.gpr(4), 0x77) + Dwords{kAtomic | kGlobal | 0x05 << 8 | 1} + bench.at(data));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg64(bench.gpr(4)), 0x77u);
}

TEST_P(AtomicTest, CompareAndWriteComparesAllSixteenBytes) {
  COVERS("DG1-CS-15");  // with the tests above and the counter report of store_test.cpp
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const auto put = [&](uint64_t first, uint64_t second) {
    bench.poke64(data, first);
    bench.poke64(data + 8, second);
  };
  const uint32_t header = kAtomic | kGlobal | kReturn | kOctword | 0x4e << 8;
  put(1, 2);
  bench.go(inline_command(bench, header | kInline, data, {1, 0, 2, 0}, {0x10, 0x20, 0x30, 0x40}));
  EXPECT_EQ(bench.peek64(data), 0x20'0000'0010u);
  EXPECT_EQ(bench.peek64(data + 8), 0x40'0000'0030u);
  EXPECT_EQ(bench.reg64(bench.gpr(4)), 1u);
  EXPECT_EQ(bench.reg64(bench.gpr(5)), 2u);
  put(1, 3);  // only the upper half differs
  bench.go(bench.load64(bench.gpr(0), 1) + bench.load64(bench.gpr(1), 2) + bench.load64(bench.gpr(2), 7) +
           bench.load64(bench.gpr(3), 8) + Dwords{header | 1} + bench.at(data));
  EXPECT_EQ(bench.peek64(data), 1u);
  EXPECT_EQ(bench.peek64(data + 8), 3u);
  EXPECT_EQ(bench.reg64(bench.gpr(5)), 3u);
}

TEST_P(AtomicTest, InvalidOperationsChangeNothing) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.poke64(data, 5);
  const auto expect_undefined = [&](uint32_t header, uint64_t address) {
    bench.host.log.clear();
    bench.go(Dwords{header | kGlobal | 1} + bench.at(address));
    EXPECT_EQ(bench.undefined(), 1u) << std::hex << header;
    EXPECT_EQ(bench.peek64(data), 5u) << std::hex << header;
  };
  expect_undefined(kAtomic | 0x10 << 8, data);  // invalid operation
  expect_undefined(kAtomic | 0x00 << 8, data);
  expect_undefined(kAtomic | kQword | 0x05 << 8, data);  // size and operation do not match
  expect_undefined(kAtomic | 0x25 << 8, data);
  expect_undefined(kAtomic | kOctword | 0x05 << 8, data);
  expect_undefined(kAtomic | 3u << 19 | 0x05 << 8, data);  // invalid size
  expect_undefined(kAtomic | kQword | 0x25 << 8, data + 4);
}

// If memory is not write-back, either the memory type is ignored or the operation fails. A failed operation writes
// nothing, its returned data is undefined, and RESET_CTL shows a catastrophic error. There is no fallback to a bus
// lock. The global table has no memory type bits: its pages use the first entry of the attribute table.
TEST_P(AtomicTest, NonWriteBackMemoryFailsUnlessTheTypeIsIgnored) {
  COVERS("ICL-TLB-18");
  constexpr uint8_t kUc = 0, kWc = 1, kWt = 2, kWb = 3;
  for (const bool ignore : {true, false}) {
    for (const uint8_t type : {kUc, kWc, kWt, kWb}) {
      MiBench bench(GetParam());
      EXPECT_TRUE(bench.device->memory().types().state().atomics_ignore_type) << "by default";
      bench.device->memory().types().state().atomics_ignore_type = ignore;
      bench.device->memory().types().state().pat[0] = type;
      const uint64_t data = bench.allocate(1);
      bench.poke(data, 40);
      bench.go(Dwords{kAtomic | kGlobal | 0x05 << 8 | 1} + bench.at(data) + bench.store(data + 8, 7));
      const bool done = ignore || type == kWb;
      EXPECT_EQ(bench.peek(data), done ? 41u : 40u) << unsigned{type};
      EXPECT_EQ(bench.reg("rcs0", 0xd0) >> 2 & 1, done ? 0u : 1u) << "catastrophic error of RESET_CTL";
      EXPECT_EQ(bench.undefined(), done ? 0u : 1u);
      EXPECT_EQ(bench.peek(data + 8), 7u) << "the engine continues";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, AtomicTest, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
