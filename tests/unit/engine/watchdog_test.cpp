// The watchdog: counts while a context is on the engine, interrupts at its threshold.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kControl = 0x178;
constexpr uint32_t kThreshold = 0x17c;
constexpr uint32_t kCounter = 0x190;
constexpr uint32_t kTimestampToggles = 0;
constexpr uint32_t kGpuClocks = 1u << 31;
constexpr uint32_t kDisable = 1;

class WatchdogTest : public ::testing::TestWithParam<const char*> {
 protected:
  // A context of the first video engine that waits for a dword which nobody writes.
  static ContextBench::Context waiting(ContextBench& bench, uint64_t data) {
    ContextBench::Context context = bench.create("vcs0", 3);
    bench.emit(context, bench.wait_for(data, 1));
    return context;
  }
};

TEST_P(WatchdogTest, CountsTimestampTogglesOnlyWhileAContextIsThere) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.set_reg("vcs0", kThreshold, 0xffff'ffff);
  bench.set_reg("vcs0", kControl, kTimestampToggles);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.reg("vcs0", kCounter), 0u) << "no context";
  const ContextBench::Context context = waiting(bench, data);
  bench.submit({&context});
  bench.device->advance(10'000);
  const uint32_t before = bench.reg("vcs0", kCounter);
  bench.device->advance(8'000'000);
  const auto ticks = static_cast<uint32_t>(8'000'000 * bench.model.timestamp_hz / 1'000'000'000);
  EXPECT_NEAR(bench.reg("vcs0", kCounter) - before, ticks, 1);
  bench.poke(data, 1);  // the context ends
  EXPECT_TRUE(bench.device->settle());
  const uint32_t after = bench.reg("vcs0", kCounter);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.reg("vcs0", kCounter), after);
  // Another context, which never ran, brings no count of its own: nothing is saved or restored.
  const ContextBench::Context other = waiting(bench, data + 4);
  bench.submit({&other});
  bench.device->advance(1'000'000);
  EXPECT_GT(bench.reg("vcs0", kCounter), after);
  EXPECT_LE(bench.reg("vcs0", kCounter) - after, ticks / 8 + 1);
}

TEST_P(WatchdogTest, ControlEnablesDisablesAndChoosesTheClock) {
  ContextBench bench(GetParam());
  const ContextBench::Context context = waiting(bench, bench.allocate(1));
  bench.set_reg("vcs0", kThreshold, 0xffff'ffff);
  bench.set_reg("vcs0", kControl, kGpuClocks);
  bench.submit({&context});
  bench.device->advance(10'000);
  const uint32_t before = bench.reg("vcs0", kCounter);
  bench.device->advance(1'000'000);
  const uint32_t clocks = bench.reg("vcs0", kCounter) - before;
  EXPECT_GT(clocks, 1'000'000 * bench.model.timestamp_hz / 1'000'000'000) << "clocks are faster than the timestamp";
  bench.set_reg("vcs0", kControl, kDisable | kGpuClocks);
  EXPECT_EQ(bench.reg("vcs0", kCounter), 0u);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.reg("vcs0", kCounter), 0u);
  bench.set_reg("vcs0", kControl, kGpuClocks);
  bench.device->advance(1'000'000);
  EXPECT_NEAR(bench.reg("vcs0", kCounter), clocks, 2);
}

TEST_P(WatchdogTest, TheThresholdInterruptsAndClears) {
  ContextBench bench(GetParam());
  const ContextBench::Context context = waiting(bench, bench.allocate(1));
  // Interrupts of the video engine: bit 6 reaches the identity of its bank, or of the engine.
  if (bench.has_queue()) {
    bench.write(0x190034, 0xffff'ffff);
    bench.write(0x1900a8, 0);
  } else {
    bench.set_reg("vcs0", 0xa8, 0);
    bench.write(0x44314, 0);
    bench.write(0x4431c, 0xffff'ffff);
  }
  const auto fired = [&bench] {
    if (!bench.has_queue()) return (bench.read(0x44318) & 0x40) != 0;
    bench.write(0x190074, 1);
    const uint32_t identity = bench.read(0x190064);
    bench.write(0x190064, 1u << 31);
    bench.write(0x19001c, 1);
    return (identity & 0x8000'0040) == 0x8000'0040;
  };
  constexpr uint32_t kTicks = 1000;
  const uint64_t tick_ns = 1'000'000'000 / bench.model.timestamp_hz;
  bench.set_reg("vcs0", kThreshold, kTicks);
  bench.set_reg("vcs0", kControl, kTimestampToggles);
  bench.submit({&context});
  bench.device->advance(kTicks / 2 * tick_ns);
  EXPECT_FALSE(fired());
  bench.device->advance(kTicks * tick_ns);
  EXPECT_TRUE(fired());
  EXPECT_LT(bench.reg("vcs0", kCounter), kTicks);
}

INSTANTIATE_TEST_SUITE_P(Chips, WatchdogTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
