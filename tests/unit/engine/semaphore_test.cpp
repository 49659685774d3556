// Semaphores in memory and in registers, and the conditional batch end.
#include <gtest/gtest.h>

#include "covers.h"
#include "mi_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kMicrosecond = 1000;
constexpr uint32_t kPollInterval = 0x24c;

class WaitTest : public ::testing::TestWithParam<const char*> {};

// MI_SEMAPHORE_WAIT through the global table; compare in bits 14:12, polling in bit 15, register in bit 16.
Dwords wait(uint32_t compare, bool poll, uint32_t data, uint64_t address, bool is_register = false) {
  return Dwords{0x0e40'0002 | compare << 12 | (poll ? 1u << 15 : 0) | (is_register ? 1u << 16 : 0), data, low(address),
                high(address)};
}

void start(MiBench& bench, const Dwords& dwords) {
  bench.emit(bench.engine_name, dwords);
  bench.submit(bench.engine_name);
}

TEST_P(WaitTest, EveryComparisonEndsTheWait) {
  struct Relation {
    uint32_t code;
    bool less, equal, greater;  // does memory that is less than, equal to or greater than the data end the wait?
  };
  constexpr Relation kRelations[] = {{0, false, false, true}, {1, false, true, true},  {2, true, false, false},
                                     {3, true, true, false},  {4, false, true, false}, {5, true, false, true}};
  constexpr uint32_t kData = 0x8000'0000;  // values are unsigned
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  for (const Relation& relation : kRelations) {
    const std::pair<uint32_t, bool> values[] = {
        {kData - 1, relation.less}, {kData, relation.equal}, {kData + 1, relation.greater}};
    for (const auto& [value, ends] : values) {
      bench.poke(data, value);
      bench.poke(data + 8, 0);
      start(bench, wait(relation.code, true, kData, data) + bench.store(data + 8, 1));
      bench.device->advance(20 * kMicrosecond);
      EXPECT_EQ(bench.peek(data + 8), ends ? 1u : 0u) << relation.code << ' ' << std::hex << value;
      for (const auto& [other, other_ends] : values) {  // ends the wait
        bench.poke(data, other_ends ? other : bench.peek(data));
      }
      bench.device->advance(20 * kMicrosecond);
      EXPECT_EQ(bench.peek(data + 8), 1u) << relation.code;
    }
  }
}

TEST_P(WaitTest, PollsAtItsInterval) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.set_reg("rcs0", kPollInterval, 100);
  start(bench, wait(4, true, 7, data) + bench.store(data + 8, 1));
  bench.device->advance(10 * kMicrosecond);
  bench.poke(data, 7);
  bench.device->advance(80 * kMicrosecond);
  EXPECT_EQ(bench.peek(data + 8), 0u);
  bench.device->advance(20 * kMicrosecond);
  EXPECT_EQ(bench.peek(data + 8), 1u);
}

// The wait compares again only after a signal. The signalling engine continues.
TEST_P(WaitTest, SignalModeComparesAgainAfterASignal) {
  MiBench bench(GetParam());
  bench.start_ring("bcs0");
  const uint64_t data = bench.allocate(1);
  start(bench, wait(4, false, 7, data) + bench.store(data + 8, 1));
  bench.device->advance(20 * kMicrosecond);
  bench.poke(data, 7);
  bench.device->advance(1000 * kMicrosecond);
  EXPECT_EQ(bench.peek(data + 8), 0u);
  bench.run("bcs0", {0x0d80'0000 | 1u << 15, 0});  // to another engine: VCS0
  EXPECT_EQ(bench.peek(data + 8), 0u);
  bench.run("bcs0", {0x0d80'0000 | 0u << 15, 0});  // RCS
  EXPECT_EQ(bench.peek(data + 8), 1u);
}

// One interrupt per wait, not per comparison.
TEST_P(WaitTest, UnsatisfiedWaitRaisesOneInterrupt) {
  constexpr uint32_t kSemaphoreWait = 1u << 11;
  MiBench bench(GetParam());
  const bool collapsed = bench.model.gen == spec::GenId::gen11 || bench.model.gen == spec::GenId::gen12;
  if (collapsed) {
    bench.write(0x190030, kSemaphoreWait << 16);  // render is the upper half
    bench.write(0x190090, 0);
  } else {
    bench.set_reg("rcs0", 0xa8, 0);
    bench.write(0x44304, 0);
  }
  const auto take = [&] {  // the cause, cleared
    if (!collapsed) {
      const uint32_t identity = bench.read(0x44308);
      bench.write(0x44308, identity);
      return (identity & kSemaphoreWait) != 0;
    }
    const bool pending = (bench.read(0x190018) & 1) != 0;
    if (pending) {
      bench.write(0x190070, 1);
      EXPECT_EQ(bench.read(0x190060) & 0xffff, kSemaphoreWait);
      bench.write(0x190060, 1u << 31);
      bench.write(0x190018, 1);
    }
    return pending;
  };
  const uint64_t data = bench.allocate(1);
  bench.poke(data, 7);
  bench.go(wait(4, true, 7, data));
  EXPECT_FALSE(take()) << "the wait is satisfied immediately";
  start(bench, wait(4, true, 8, data) + wait(4, true, 9, data));
  bench.device->advance(20 * kMicrosecond);
  EXPECT_TRUE(take());
  bench.device->advance(100 * kMicrosecond);
  EXPECT_FALSE(take());
  bench.poke(data, 8);
  bench.device->advance(20 * kMicrosecond);
  EXPECT_TRUE(take()) << "the next wait is unsatisfied too";
}

TEST_P(WaitTest, OtherEnginesContinue) {
  MiBench bench(GetParam());
  bench.start_ring("bcs0");
  const uint64_t data = bench.allocate(1);
  start(bench, wait(4, true, 7, data) + bench.store(data + 8, 1));
  bench.emit("bcs0", bench.store(data + 16, 1) + bench.store(data, 7));
  bench.submit("bcs0");
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data + 16), 1u);
  EXPECT_EQ(bench.peek(data + 8), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, WaitTest, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"));

TEST(RegisterPoll, WaitsForARegister) {
  for (const char* name : {"skl", "icl", "tgl", "dg1"}) {
    MiBench bench(name);
    const uint64_t data = bench.allocate(1);
    start(bench, wait(1, true, 9, bench.gpr(2), true) + bench.store(data, 1));
    bench.device->advance(20 * kMicrosecond);
    EXPECT_EQ(bench.peek(data), 0u) << name;
    bench.write(bench.gpr(2), 9);
    bench.device->advance(20 * kMicrosecond);
    EXPECT_EQ(bench.peek(data), 1u) << name;
  }
}

// The fifth dword holds a token that only context status reports use (csb_reasons_test.cpp); a signal has no token.
TEST(Token, Gen12WaitsHaveFiveDwords) {
  for (const char* name : {"tgl", "dg1"}) {
    MiBench bench(name);
    bench.start_ring("bcs0");
    const uint64_t data = bench.allocate(1);
    Dwords command = wait(4, false, 1, data) + Dwords{3u << 5};
    command[0] += 1;
    start(bench, command + bench.store(data + 8, 1));
    bench.device->advance(20 * kMicrosecond);
    bench.poke(data, 1);
    bench.device->advance(20 * kMicrosecond);
    EXPECT_EQ(bench.peek(data + 8), 0u) << name;
    bench.run("bcs0", {0x0d80'0000, 0});
    EXPECT_EQ(bench.peek(data + 8), 1u) << name;
  }
}

TEST(SemaphoreTargets, EveryEngineOfTheChipCanBeSignalled) {
  const std::pair<const char*, uint32_t> kTargets[] = {
      {"rcs0", 0}, {"vcs0", 1}, {"bcs0", 2}, {"vecs0", 3}, {"vcs2", 6}};
  for (const auto& [name, code] : kTargets) {
    const char* sender = std::string_view(name) == "rcs0" ? "bcs0" : "rcs0";
    MiBench bench("dg1", sender);
    bench.start_ring(name);
    const uint64_t data = bench.allocate(1);
    bench.emit(name, wait(4, false, 1, data) + bench.store(data + 8, 1));
    bench.submit(name);
    bench.device->advance(20 * kMicrosecond);
    EXPECT_EQ(bench.peek(data + 8), 0u) << name;
    bench.go(bench.store(data, 1) + Dwords{0x0d80'0000 | 1u << 21 | code << 15, 0});
    EXPECT_EQ(bench.peek(data + 8), 1u) << name;
  }
}

class MailboxTest : public ::testing::TestWithParam<const char*> {};

constexpr uint32_t kMailbox = 0x0b40'0001, kUpdate = 1u << 21, kCompare = 1u << 20, kRegister = 1u << 18;

// An update without compare writes; a compare waits. Gen6 requires a greater value, Gen4.5 accepts an equal value.
TEST_P(MailboxTest, UpdateInMemoryEndsTheWait) {
  COVERS("G45-3.4-01");
  COVERS("G45-3.4-02");
  COVERS("G45-3.4-03");
  COVERS("G45-3.4-09");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.poke(data, 7);
  bench.go({kMailbox | kUpdate, 1, low(data)});
  EXPECT_EQ(bench.peek(data), 1u) << "the data are written, not added";
  bench.go({kMailbox | kUpdate, 1, low(data)});
  EXPECT_EQ(bench.peek(data), 1u) << "a signal does not increment";
  bench.go({kMailbox | kUpdate, 0, low(data)});
  EXPECT_EQ(bench.peek(data), 0u);
  const uint32_t limit = bench.is_gen4() ? 5 : 4;
  bench.poke(data, 4);
  start(bench, Dwords{kMailbox | kCompare, limit, low(data)} + bench.store(data + 8, 1));
  bench.device->advance(50 * kMicrosecond);
  EXPECT_EQ(bench.peek(data + 8), 0u);
  bench.poke(data, 5);
  bench.device->advance(50 * kMicrosecond);
  EXPECT_EQ(bench.peek(data + 8), 1u);
  EXPECT_EQ(bench.peek(data), 5u);
}

TEST_P(MailboxTest, CommandWithNeitherUpdateNorCompareIsReported) {
  COVERS("G45-3.4-05");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.go({kMailbox, 1, low(data)});
  EXPECT_EQ(bench.undefined(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, MailboxTest, ::testing::Values("g45", "gm45", "snb"));

// Updates write one bit; an update that also compares can only clear it.
TEST(Mailbox, UpdateDataIsLimitedOnG45) {
  COVERS("G45-3.4-06");
  MiBench bench("g45");
  const uint64_t data = bench.allocate(1);
  const auto reported = [&](uint32_t bits, uint32_t value) {
    bench.host.log.clear();
    bench.poke(data, 5);
    bench.go({kMailbox | bits, value, low(data)});
    return bench.undefined() != 0;
  };
  EXPECT_FALSE(reported(kUpdate, 0));
  EXPECT_FALSE(reported(kUpdate, 1));
  EXPECT_TRUE(reported(kUpdate, 2));
  EXPECT_FALSE(reported(kUpdate | kCompare, 0));
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_TRUE(reported(kUpdate | kCompare, 1));
  EXPECT_FALSE(reported(kCompare, 3));
}

TEST(Mailbox, EqualValueEndsTheWaitOnG45) {
  COVERS("G45-3.4-04");
  MiBench bench("g45");
  const uint64_t data = bench.allocate(1);
  bench.poke(data, 1);
  bench.go(Dwords{kMailbox | kCompare, 1, low(data)} + bench.store(data + 8, 1));
  EXPECT_EQ(bench.peek(data + 8), 1u);
}

// As Linux uses it: each ring has two registers that the other rings write, and waits until one of them is greater.
TEST(MailboxRegisters, SandyBridgeRingsSignalEachOther) {
  struct Pair {
    const char* waiter;
    uint32_t select, offset;
    const char* signaller;
  };
  constexpr Pair kPairs[] = {{"rcs0", 0, 0x2040, "vcs0"},  {"rcs0", 2, 0x2044, "bcs0"},  {"vcs0", 0, 0x12040, "bcs0"},
                             {"vcs0", 2, 0x12044, "rcs0"}, {"bcs0", 0, 0x22040, "rcs0"}, {"bcs0", 2, 0x22044, "vcs0"}};
  for (const Pair& pair : kPairs) {
    MiBench bench("snb", pair.waiter);
    bench.start_ring(pair.signaller);
    const uint64_t data = bench.allocate(1);
    start(bench, Dwords{0x0b00'0001 | kRegister | kCompare | pair.select << 16, 10, 0, 0} + bench.store(data, 1));
    EXPECT_TRUE(bench.device->settle());
    EXPECT_EQ(bench.peek(data), 0u) << pair.waiter;
    bench.run(pair.signaller, {0x1100'0001, pair.offset, 10});
    EXPECT_EQ(bench.peek(data), 0u) << pair.waiter;
    bench.run(pair.signaller, {0x0b40'0001 | kRegister | kUpdate, 11, pair.offset});
    EXPECT_EQ(bench.peek(data), 1u) << pair.waiter;
  }
}

// Any register by its offset. The streamer is not notified of writes to it, so it polls.
TEST(MailboxRegisters, OtherRegistersArePolled) {
  MiBench bench("snb");
  const uint64_t data = bench.allocate(1);
  constexpr uint32_t kOther = 0x12040;  // a mailbox of the video ring
  start(bench, Dwords{0x0b00'0001 | kRegister | kCompare | 3u << 16, 10, kOther} + bench.store(data, 1));
  bench.device->advance(20 * kMicrosecond);
  bench.write(kOther, 10);
  bench.device->advance(20 * kMicrosecond);
  EXPECT_EQ(bench.peek(data), 0u) << "not greater";
  bench.write(kOther, 11);
  bench.device->advance(20 * kMicrosecond);
  EXPECT_EQ(bench.peek(data), 1u);
}

class ConditionalEndTest : public ::testing::TestWithParam<const char*> {};

Dwords conditional(const MiBench& bench, uint32_t bits, uint32_t data, uint64_t address) {
  return Dwords{0x1b40'0000 | 1u << 21 | bits | (bench.wide() ? 2u : 1u), data} + bench.at(address);
}

TEST_P(ConditionalEndTest, GreaterValueContinuesTheBatch) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const auto goes_on = [&](uint32_t memory, uint32_t compared, bool compares) {
    bench.poke(data, memory);
    bench.poke(data + 16, 0);
    Dwords command = conditional(bench, 0, compared, data);
    command[0] &= compares ? ~0u : ~(1u << 21);
    bench.go_in_batch(command + bench.store(data + 16, 1), true);
    return bench.peek(data + 16) == 1;
  };
  EXPECT_TRUE(goes_on(0x8000'0001, 0x8000'0000, true));
  EXPECT_FALSE(goes_on(0x8000'0000, 0x8000'0000, true));
  EXPECT_FALSE(goes_on(5, 0x8000'0000, true));
  EXPECT_TRUE(goes_on(5, 0x8000'0000, false));
}

INSTANTIATE_TEST_SUITE_P(Chips, ConditionalEndTest, ::testing::Values("snb", "bdw", "skl", "icl", "tgl", "dg1"));

// Memory holds a mask followed by the data.
TEST(ConditionalEnd, MaskModeComparesMaskedData) {
  for (const char* name : {"skl", "icl", "tgl", "dg1"}) {
    MiBench bench(name);
    const uint64_t data = bench.allocate(1);
    const auto goes_on = [&](uint32_t mask, uint32_t value) {
      bench.poke64(data, mask | uint64_t{value} << 32);
      bench.poke(data + 16, 0);
      bench.go_in_batch(conditional(bench, 1u << 19, 0x10, data) + bench.store(data + 16, 1), true);
      return bench.peek(data + 16) == 1;
    };
    EXPECT_FALSE(goes_on(0x0f, 0xff)) << name;
    EXPECT_FALSE(goes_on(0x1f, 0xf0)) << name;
    EXPECT_TRUE(goes_on(0x3f, 0xf0)) << name;
  }
}

TEST(ConditionalEnd, Gen12HasAllComparisonsAndLevels) {
  for (const char* name : {"tgl", "dg1"}) {
    MiBench bench(name);
    const uint64_t data = bench.allocate(1);
    const auto goes_on = [&](uint32_t code, uint32_t memory) {
      bench.poke(data, memory);
      bench.poke(data + 16, 0);
      bench.go_in_batch(conditional(bench, code << 12, 10, data) + bench.store(data + 16, 1), true);
      return bench.peek(data + 16) == 1;
    };
    constexpr bool kExpected[6][3] = {{false, false, true}, {false, true, true},  {true, false, false},
                                      {true, true, false},  {false, true, false}, {true, false, true}};
    for (uint32_t code = 0; code < 6; ++code) {
      for (uint32_t value = 0; value < 3; ++value) {
        EXPECT_EQ(goes_on(code, 9 + value), kExpected[code][value]) << code << ' ' << value;
      }
    }
    // In a second level batch, bit 18 ends that level only.
    for (const bool one_level : {false, true}) {
      const uint64_t inner = bench.allocate(1);
      bench.poke(data + 16, 0);
      bench.poke(data + 20, 0);
      bench.poke(data, 0);
      bench.poke(inner, std::span<const uint32_t>(conditional(bench, one_level ? 1u << 18 : 0, 10, data) +
                                                  bench.store(data + 16, 1) + MiBench::end()));
      Dwords call = bench.batch(inner, true);
      call[0] |= 1u << 22;
      bench.go_in_batch(call + bench.store(data + 20, 1), true);
      EXPECT_EQ(bench.peek(data + 16), 0u) << name;
      EXPECT_EQ(bench.peek(data + 20), one_level ? 1u : 0u) << name;
    }
  }
}

}  // namespace
}  // namespace halogen
