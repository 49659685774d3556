// MI_MATH, the ALU of the command streamer. Encodings are those of DG1 PRM vol. 13, CS ALU Programming (seed 000).
// Results are computed by hand.
#include <gtest/gtest.h>

#include "covers.h"
#include "mi_bench.h"

namespace halogen {
namespace {

enum Opcode : uint32_t {
  kNoop = 0x000,
  kLoad = 0x080,
  kLoadInverted = 0x480,
  kLoad0 = 0x081,
  kLoad1 = 0x481,
  kAdd = 0x100,
  kSub = 0x101,
  kAnd = 0x102,
  kOr = 0x103,
  kXor = 0x104,
  kStore = 0x180,
  kStoreInverted = 0x580,
};
constexpr uint32_t kSourceA = 0x20, kSourceB = 0x21, kAccumulator = 0x31, kZero = 0x32, kCarry = 0x33;
constexpr uint64_t kOnes = ~uint64_t{0};

uint32_t op(uint32_t opcode, uint32_t first = 0, uint32_t second = 0) {
  return opcode << 20 | first << 10 | second;
}
Dwords math(const Dwords& program) {
  return Dwords{0x0d00'0000 | static_cast<uint32_t>(program.size() - 1)} + program;
}

class MathTest : public ::testing::TestWithParam<const char*> {};

struct Result {
  uint64_t value, zero, carry;
};

// Computes R0 op R1, with the accumulator and the flags in R2, R3 and R4.
Result compute(MiBench& bench, uint64_t a, uint64_t b, Opcode operation) {
  bench.go(bench.load64(bench.gpr(0), a) + bench.load64(bench.gpr(1), b) +
           math({op(kLoad, kSourceA, 0), op(kLoad, kSourceB, 1), op(operation), op(kStore, 2, kAccumulator),
                 op(kStore, 3, kZero), op(kStore, 4, kCarry)}));
  return {bench.reg64(bench.gpr(2)), bench.reg64(bench.gpr(3)), bench.reg64(bench.gpr(4))};
}

TEST_P(MathTest, ArithmeticAndLogicSetResultAndFlags) {
  COVERS("DG1-ALU-02");
  COVERS("DG1-ALU-03");
  COVERS("DG1-ALU-06");
  MiBench bench(GetParam());
  const auto expect = [&](uint64_t a, uint64_t b, Opcode operation, uint64_t value, bool carry) {
    const Result result = compute(bench, a, b, operation);
    EXPECT_EQ(result.value, value) << operation << ' ' << a << ' ' << b;
    EXPECT_EQ(result.zero, value == 0 ? kOnes : 0) << operation << ' ' << a << ' ' << b;
    EXPECT_EQ(result.carry, carry ? kOnes : 0) << operation << ' ' << a << ' ' << b;
  };
  expect(0xffff'ffff, 1, kAdd, 0x1'0000'0000, false);
  expect(kOnes, 1, kAdd, 0, true);
  expect(kOnes, kOnes, kAdd, kOnes - 1, true);
  expect(5, 7, kSub, kOnes - 1, true);  // carry is the borrow
  expect(7, 5, kSub, 2, false);
  expect(9, 9, kSub, 0, false);
  expect(0x0ff0'0ff0'0ff0'0ff0, 0x00ff'00ff'00ff'00ff, kAnd, 0x00f0'00f0'00f0'00f0, false);
  expect(0xf0, 0x0f, kAnd, 0, false);
  expect(0x0ff0'0000'0000'0ff0, 0x00ff'0000'0000'00ff, kOr, 0x0fff'0000'0000'0fff, false);
  expect(0x0ff0'0000'0000'0ff0, 0x00ff'0000'0000'00ff, kXor, 0x0f0f'0000'0000'0f0f, false);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(MathTest, LoadsRegistersInvertedRegistersAndConstants) {
  COVERS("DG1-ALU-05");
  MiBench bench(GetParam());
  constexpr uint64_t kValue = 0x0123'4567'89ab'cdef;
  bench.go(bench.load64(bench.gpr(15), kValue));
  // The other source is zero, so that OR returns the loaded value.
  const auto loaded = [&](Opcode load, uint32_t to, uint32_t from) {
    const uint32_t other = to == kSourceA ? kSourceB : kSourceA;
    bench.go(math({op(kLoad0, other, 7), op(load, to, from), op(kOr), op(kStore, 3, kAccumulator)}));
    return bench.reg64(bench.gpr(3));
  };
  for (const uint32_t to : {kSourceA, kSourceB}) {
    EXPECT_EQ(loaded(kLoad, to, 15), kValue);
    EXPECT_EQ(loaded(kLoadInverted, to, 15), ~kValue);
    EXPECT_EQ(loaded(kLoad0, to, 15), 0u);
    EXPECT_EQ(loaded(kLoad1, to, 15), kOnes);
  }
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(MathTest, StoresResultsAndFlags) {
  COVERS("DG1-ALU-07");
  MiBench bench(GetParam());
  bench.go(bench.load64(bench.gpr(0), 3) +
           math({op(kLoad, kSourceA, 0), op(kLoad0, kSourceB), op(kSub), op(kStore, 1, kAccumulator),
                 op(kStoreInverted, 2, kAccumulator), op(kStore, 3, kZero), op(kStoreInverted, 4, kZero),
                 op(kStore, 5, kCarry), op(kStoreInverted, 6, kCarry)}));
  EXPECT_EQ(bench.reg64(bench.gpr(1)), 3u);
  EXPECT_EQ(bench.reg64(bench.gpr(2)), ~uint64_t{3});
  EXPECT_EQ(bench.reg64(bench.gpr(3)), 0u);
  EXPECT_EQ(bench.reg64(bench.gpr(4)), kOnes);
  EXPECT_EQ(bench.reg64(bench.gpr(5)), 0u);
  EXPECT_EQ(bench.reg64(bench.gpr(6)), kOnes);
}

// Every register as source and as destination, through each command that accesses it.
TEST_P(MathTest, SixteenRegistersAreReachable) {
  COVERS("DG1-ALU-01");
  COVERS("DG1-ALU-04");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t other = (i + 5) % 16;
    const uint64_t value = 0x1000'0000'0000'0000u * i + 77 * i + 1;
    bench.poke64(data, value);
    const uint32_t load_memory = 0x1480'0002 | 1u << 22;
    bench.go(Dwords{load_memory, bench.gpr(i)} + bench.at(data) + Dwords{load_memory, bench.gpr(i) + 4} +
             bench.at(data + 4) +
             math({op(kLoad, kSourceB, i), op(kLoad0, kSourceA), op(kAdd), op(kStore, other, kAccumulator)}) +
             bench.save(bench.gpr(other), data + 8) + bench.save(bench.gpr(other) + 4, data + 12) +
             Dwords{0x1500'0001, bench.gpr(other), bench.gpr(i)});
    EXPECT_EQ(bench.reg64(bench.gpr(other)), value) << i;
    EXPECT_EQ(bench.peek64(data + 8), value) << i;
    EXPECT_EQ(bench.reg64(bench.gpr(i)), value) << i;
  }
  bench.write(bench.gpr(9), 0x55);  // written by the CPU
  bench.go(math({op(kLoad, kSourceA, 9), op(kLoad0, kSourceB), op(kOr), op(kStore, 10, kAccumulator)}));
  EXPECT_EQ(bench.read(bench.gpr(10)), 0x55u);
}

TEST_P(MathTest, NoopChangesNothing) {
  COVERS("DG1-ALU-08");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint32_t timestamp = bench.base() + 0x358;
  const auto ticks_of = [&](const Dwords& commands) {
    bench.go(bench.save(timestamp, data) + commands + bench.save(timestamp, data + 4));
    return bench.peek(data + 4) - bench.peek(data);
  };
  bench.go(bench.load64(bench.gpr(1), 0x1234));
  Dwords noops;
  for (int i = 0; i < 8; ++i) {
    noops = noops + math(Dwords(200, op(kNoop)));
  }
  const uint32_t plain = ticks_of(Dwords(8, 0));
  EXPECT_GT(ticks_of(noops), plain);
  EXPECT_EQ(bench.reg64(bench.gpr(1)), 0x1234u);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(MathTest, IllegalInstructionsChangeNothing) {
  MiBench bench(GetParam());
  bench.go(bench.load64(bench.gpr(0), 0x11));
  const auto expect_undefined = [&](uint32_t instruction) {
    bench.host.log.clear();
    bench.go(math({op(kLoad, kSourceA, 0), op(kLoad0, kSourceB), op(kOr), instruction, op(kStore, 2, kAccumulator)}));
    EXPECT_EQ(bench.undefined(), 1u) << std::hex << instruction;
    EXPECT_EQ(bench.reg64(bench.gpr(2)), 0x11u) << std::hex << instruction;
  };
  expect_undefined(op(0x105));  // unknown operation
  expect_undefined(op(0x500));  // inverted ADD
  expect_undefined(op(0xfff));
  expect_undefined(op(kLoad, kSourceA, 0x10));   // unknown register
  expect_undefined(op(kLoad, kAccumulator, 0));  // not a source operand
  expect_undefined(op(kLoad, 3, 0));
  expect_undefined(op(kStore, 0x10, kAccumulator));
  expect_undefined(op(kStore, 3, kSourceA));  // not a result operand
  expect_undefined(op(kStore, kSourceA, kAccumulator));
}

INSTANTIATE_TEST_SUITE_P(Alu, MathTest, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
