// A batch that waits: a loop that reads the timestamp, computes with MI_MATH how long it has run, and jumps back with a
// predicated MI_BATCH_BUFFER_START. Linux's i915 has such a loop in the global table (i915_perf.c); it starts it after
// the registers of a metric set and before anything is counted.
#include <gtest/gtest.h>

#include "mi_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kTimestamp = 0x358, kJumpPredicate = 0x41c;
constexpr uint32_t kLoad = 0x080, kAdd = 0x100, kSub = 0x101, kStore = 0x180, kStoreInverted = 0x580;
constexpr uint32_t kSourceA = 0x20, kSourceB = 0x21, kAccumulator = 0x31, kCarry = 0x33;
constexpr uint32_t kArbCheck = 0x0280'0000;
constexpr unsigned kStart = 0, kNow = 1, kElapsed = 2, kJump = 3, kTarget = 4, kUsed = 5;

uint32_t op(uint32_t opcode, uint32_t first = 0, uint32_t second = 0) {
  return opcode << 20 | first << 10 | second;
}
Dwords math(const Dwords& program) {
  return Dwords{0x0d00'0000 | static_cast<uint32_t>(program.size() - 1)} + program;
}

class WaitLoop : public ::testing::TestWithParam<const char*> {
 protected:
  WaitLoop() : bench(GetParam()), code(bench.allocate(1)), kept(bench.allocate(1)) {}

  Dwords copy(uint32_t from, uint32_t to) const { return {0x1500'0001, from, to}; }  // MI_LOAD_REGISTER_REG
  Dwords read_time(unsigned into) const {
    return bench.load(bench.gpr(into) + 4, 0) + copy(bench.base() + kTimestamp, bench.gpr(into));
  }
  Dwords jump_if(uint64_t to) const {
    return copy(bench.gpr(kJump), bench.base() + kJumpPredicate) + Dwords{0x1880'0001 | 1u << 15, low(to), high(to)};
  }
  // Returns the registers that the loop changes.
  std::vector<uint32_t> changed() const {
    std::vector<uint32_t> all;
    for (unsigned i = 0; i < kUsed; ++i) {
      all.push_back(bench.gpr(i));
      all.push_back(bench.gpr(i) + 4);
    }
    all.push_back(bench.base() + kJumpPredicate);
    return all;
  }
  void place_loop(uint64_t ticks) {
    Dwords words;
    const std::vector<uint32_t> registers = changed();
    for (size_t i = 0; i < registers.size(); ++i) words = words + bench.save(registers[i], kept + 4 * i);
    const uint64_t restart = code + 4 * words.size();
    words = words + read_time(kStart);
    const uint64_t again = code + 4 * words.size();
    words = words + read_time(kNow);
    words = words + math({op(kLoad, kSourceA, kNow), op(kLoad, kSourceB, kStart), op(kSub),
                          op(kStore, kElapsed, kAccumulator), op(kStore, kJump, kCarry)});
    words = words + jump_if(restart);  // the 32 bits of the timestamp have wrapped
    words = words + bench.load64(bench.gpr(kTarget), ~uint64_t{0} - ticks);
    words = words + math({op(kLoad, kSourceA, kElapsed), op(kLoad, kSourceB, kTarget), op(kAdd),
                          op(kStoreInverted, kJump, kCarry)});
    words = words + Dwords{kArbCheck} + jump_if(again);
    for (size_t i = 0; i < registers.size(); ++i) {
      words = words + Dwords{0x14c0'0002, registers[i], low(kept + 4 * i), high(kept + 4 * i)};
    }
    words = words + MiBench::end();
    ASSERT_LE(words.size() * 4, EngineBench::kPage);
    bench.poke(code, std::span<const uint32_t>(words));
  }

  MiBench bench;
  const uint64_t code;
  const uint64_t kept;
};

TEST_P(WaitLoop, EndsAfterItsTimeAndRestoresTheRegisters) {
  const uint64_t times = bench.allocate(1);
  const std::vector<uint32_t> registers = changed();
  for (const uint64_t microseconds : {uint64_t{50}, uint64_t{500}}) {
    place_loop(microseconds * bench.model.timestamp_hz / 1'000'000);
    for (size_t i = 0; i < registers.size(); ++i) bench.write(registers[i], static_cast<uint32_t>(100 + i));
    const uint64_t before = bench.device->clock().nanoseconds;
    bench.go(bench.save(bench.base() + kTimestamp, times) + bench.batch(code, true) +
             bench.save(bench.base() + kTimestamp, times + 4));
    const uint64_t ticks = bench.peek(times + 4) - bench.peek(times);
    EXPECT_GE(ticks * 1'000'000, microseconds * bench.model.timestamp_hz);
    EXPECT_LE(ticks * 1'000'000, microseconds * bench.model.timestamp_hz * 5 / 4);
    EXPECT_GE(bench.device->clock().nanoseconds - before, microseconds * 1000);
    for (size_t i = 0; i + 1 < registers.size(); ++i) EXPECT_EQ(bench.read(registers[i]), 100 + i) << i;
    EXPECT_EQ(bench.read(registers.back()) & 1, (100 + registers.size() - 1) & 1);
  }
  EXPECT_TRUE(bench.host.log.events().empty());
}

INSTANTIATE_TEST_SUITE_P(Chips, WaitLoop, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
