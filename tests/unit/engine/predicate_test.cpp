// MI_PREDICATE with predicated commands, and MI_SET_PREDICATE.
#include <gtest/gtest.h>

#include "covers.h"
#include "mi_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kPredicate = 0x0600'0000, kSetPredicate = 0x0080'0000;
constexpr uint32_t kTrue = 0, kFalse = 1, kSourcesEqual = 2, kDeltasEqual = 3;
constexpr uint32_t kSet = 0u << 3, kAnd = 1u << 3, kOr = 2u << 3, kXor = 3u << 3;
constexpr uint32_t kKeep = 0u << 6, kLoad = 2u << 6, kLoadInverted = 3u << 6;
constexpr uint32_t kSource0 = 0x400, kSource1 = 0x408, kData = 0x410, kResult = 0x418, kResult1 = 0x41c,
                   kResult2 = 0x3bc;

class PredicateTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PredicateTest, EveryEngineHasPredicateRegisters) {
  COVERS("DG1-PRED-01");
  MiBench bench(GetParam());
  for (const spec::EngineModel& engine : bench.model.engines) {
    for (const uint32_t offset : {kSource0, kSource0 + 4, kSource1, kSource1 + 4, kData, kData + 4}) {
      bench.write(engine.mmio_base + offset, 0x8765'4321);
      EXPECT_EQ(bench.read(engine.mmio_base + offset), 0x8765'4321u) << engine.name << std::hex << offset;
    }
    for (const uint32_t offset : {kResult, kResult1, kResult2}) {
      bench.write(engine.mmio_base + offset, 1);
      EXPECT_EQ(bench.read(engine.mmio_base + offset) & 1, 1u) << engine.name << std::hex << offset;
    }
  }
}

TEST_P(PredicateTest, CompareCombineAndLoadSetTheResult) {
  COVERS("DG1-PRED-05");
  MiBench bench(GetParam());
  const uint32_t base = bench.base();
  const auto result_of = [&](bool previous, uint32_t operation) {
    bench.go(bench.load(base + kResult, previous) + Dwords{kPredicate | operation});
    return (bench.read(base + kResult) & 1) != 0;
  };
  const auto set_sources = [&](uint64_t first, uint64_t second) {
    bench.go(bench.load64(base + kSource0, first) + bench.load64(base + kSource1, second));
  };
  for (const bool previous : {false, true}) {
    for (const bool compared : {false, true}) {
      const uint32_t compare = compared ? kTrue : kFalse;
      const auto expect = [&](uint32_t combine, bool combined) {
        EXPECT_EQ(result_of(previous, compare | combine | kLoad), combined);
        EXPECT_EQ(result_of(previous, compare | combine | kLoadInverted), !combined);
        EXPECT_EQ(result_of(previous, compare | combine | kKeep), previous);
      };
      expect(kSet, compared);
      expect(kAnd, compared && previous);
      expect(kOr, compared || previous);
      expect(kXor, compared != previous);
    }
  }
  set_sources(0x1'0000'0005, 0x1'0000'0005);
  EXPECT_TRUE(result_of(false, kSourcesEqual | kSet | kLoad));
  set_sources(0x1'0000'0005, 0x2'0000'0005);  // all 64 bits are compared
  EXPECT_FALSE(result_of(true, kSourcesEqual | kSet | kLoad));
  bench.go(bench.load64(base + kData, 0x100));
  set_sources(0x500, 0x400);
  EXPECT_TRUE(result_of(false, kDeltasEqual | kSet | kLoad));
  set_sources(0x500, 0x401);
  EXPECT_FALSE(result_of(true, kDeltasEqual | kSet | kLoad));
}

// The predicate bit is in a register. Predicated stores are ignored while it is clear.
TEST_P(PredicateTest, PredicatedStoresAreIgnoredWhileTheBitIsClear) {
  COVERS("DG1-PRED-06");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  Dwords store = bench.save(bench.base() + kSource0, data);
  store[0] |= 1u << 21;
  bench.go(bench.load(bench.base() + kSource0, 9) + Dwords{kPredicate | kFalse | kSet | kLoad} + store);
  EXPECT_EQ(bench.peek(data), 0u);
  bench.go(Dwords{kPredicate | kTrue | kSet | kLoad} + store);
  EXPECT_EQ(bench.peek(data), 9u);
}

TEST_P(PredicateTest, SetPredicateTurnsFollowingCommandsIntoNoops) {
  COVERS("DG1-PRED-03");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const auto executes = [&](uint32_t enable, uint32_t result, uint32_t result2) {
    bench.poke(data, 0);
    bench.go(bench.load(bench.base() + kResult, result) + bench.load(bench.base() + kResult2, result2) +
             Dwords{kSetPredicate | enable} + bench.store(data, 1) + Dwords{kSetPredicate});
    return bench.peek(data) == 1;
  };
  for (const uint32_t other : {0u, 1u}) {
    EXPECT_TRUE(executes(0, other, other));
    EXPECT_FALSE(executes(1, other, 0));
    EXPECT_TRUE(executes(1, other, 1));
    EXPECT_TRUE(executes(2, other, 0));
    EXPECT_FALSE(executes(2, other, 1));
    EXPECT_FALSE(executes(3, 0, other));
    EXPECT_TRUE(executes(3, 1, other));
    EXPECT_TRUE(executes(4, 0, other));
    EXPECT_FALSE(executes(4, 1, other));
    EXPECT_FALSE(executes(15, other, other));
  }
  EXPECT_EQ(bench.undefined(), 0u);
}

// The listed commands are skipped. Predicating any other command is undefined: it is reported and executed.
TEST_P(PredicateTest, OnlyListedCommandsMayBePredicated) {
  COVERS("DG1-PRED-02");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.go(bench.load(bench.gpr(1), 5));
  bench.go(Dwords{kSetPredicate | 15} + bench.load(bench.gpr(1), 6) + bench.store(data, 1));
  EXPECT_EQ(bench.read(bench.gpr(1)), 5u);
  EXPECT_EQ(bench.peek(data), 0u);
  const auto skip = [&](uint32_t header, size_t dwords) {
    Dwords command(dwords);
    command[0] = header | static_cast<uint32_t>(dwords - 2);
    bench.go(command);
    EXPECT_TRUE(bench.host.log.events().empty()) << std::hex << header;
  };
  bench.host.log.clear();
  for (const uint32_t urb : {0x7830'0000u, 0x7831'0000u, 0x7832'0000u, 0x7833'0000u}) {
    skip(urb, 2);
  }
  for (const uint32_t push : {0x7912'0000u, 0x7913'0000u, 0x7914'0000u, 0x7915'0000u, 0x7916'0000u}) {
    skip(push, 2);
  }
  skip(0x7852'0000, 5);   // 3DSTATE_WM_HZ_OP
  skip(0x7000'0000, 9);   // MEDIA_VFE_STATE
  skip(0x7100'0000, 6);   // MEDIA_OBJECT
  skip(0x7103'0000, 17);  // MEDIA_OBJECT_WALKER
  skip(0x7002'0000, 4);   // MEDIA_INTERFACE_DESCRIPTOR_LOAD
  bench.go(bench.save(bench.gpr(1), data));
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.peek(data), 5u);
  bench.go(Dwords{kSetPredicate} + bench.store(data, 2));
  EXPECT_EQ(bench.peek(data), 2u);
}

// A draw of three vertices is counted, or skipped. The predicate sources come from memory after a flush, as queries
// write them.
TEST_P(PredicateTest, PredicatedDrawsAreSkipped) {
  COVERS("DG1-PRED-04");
  constexpr uint32_t kPoints = 1, kVertices = 0x310, kGated = 1u << 8;
  MiBench bench(GetParam());
  const uint32_t base = bench.base();
  const uint64_t data = bench.allocate(1);
  const Dwords flush{0x7a00'0004, 1u << 7, 0, 0, 0, 0};
  const auto fetch = [&](uint32_t reg, uint64_t address) {
    return Dwords{0x14c0'0002, base + reg, low(address), high(address)};
  };
  const auto draw = [](uint32_t flags) { return Dwords{0x7b00'0005 | flags, kPoints, 3, 0, 1, 0, 0}; };
  bench.go(Dwords{0x680b'0001} + Dwords{0x784b'0000, kPoints});  // enable vertex counting; set the topology
  uint64_t counted = bench.reg64(base + kVertices);
  for (const uint64_t first : {uint64_t{5}, uint64_t{0x1'0000'0005}}) {
    for (const bool inverted : {false, true}) {
      bench.poke64(data, first);
      bench.poke64(data + 8, 5);
      bench.go(flush + fetch(kSource0, data) + fetch(kSource0 + 4, data + 4) + fetch(kSource1, data + 8) +
               fetch(kSource1 + 4, data + 12) +
               Dwords{kPredicate | kSourcesEqual | kSet | (inverted ? kLoadInverted : kLoad)} + draw(kGated));
      const bool drawn = (first == 5) != inverted;
      EXPECT_EQ((bench.read(base + kResult) & 1) != 0, drawn);
      EXPECT_EQ(bench.reg64(base + kVertices), counted + (drawn ? 3 : 0));
      bench.go(draw(0));
      counted += drawn ? 6 : 3;
      EXPECT_EQ(bench.reg64(base + kVertices), counted) << "an unpredicated draw";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, PredicateTest, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
