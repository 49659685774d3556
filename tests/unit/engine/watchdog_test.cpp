// The watchdog counts while a context is on the engine and interrupts at its threshold. Counts are exact: a command
// takes 10 ns and a save or restore 500 ns of virtual time; a GPU clock is one nanosecond.
#include <gtest/gtest.h>

#include "covers.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Context = ContextBench::Context;

constexpr uint32_t kControl = 0x178;
constexpr uint32_t kThreshold = 0x17c;
constexpr uint32_t kCounter = 0x190;
constexpr uint32_t kTimestampToggles = 0;
constexpr uint32_t kGpuClocks = 1u << 31;
constexpr uint32_t kDisable = 1;

class WatchdogTest : public ::testing::TestWithParam<const char*> {
 protected:
  // A context of the first video engine that waits for a dword that is never written.
  static ContextBench::Context waiting(ContextBench& bench, uint64_t data) {
    ContextBench::Context context = bench.create("vcs0", 3);
    bench.emit(context, bench.wait_for(data, 1));
    return context;
  }

  // Command streams for the first video engine; each command takes 10 ns.
  static constexpr uint64_t kCommand = 10, kSwitch = 500;
  static void load(std::vector<uint32_t>& stream, uint32_t offset, uint32_t value) {
    stream.insert(stream.end(), {0x1100'0001, base_ + offset, value});
  }
  static void save(std::vector<uint32_t>& stream, uint32_t offset, uint64_t to) {
    stream.insert(stream.end(), {0x1240'0002, base_ + offset, static_cast<uint32_t>(to), 0});
  }
  static void noops(std::vector<uint32_t>& stream, size_t count) { stream.insert(stream.end(), count, 0); }
  void SetUp() override { base_ = ContextBench(GetParam()).engine_model("vcs0").mmio_base; }
  static uint64_t ticks(const ContextBench& bench, uint64_t nanoseconds) {
    return nanoseconds / 1000 * bench.model.timestamp_hz / 1'000'000 +
           (nanoseconds / 1000 * bench.model.timestamp_hz % 1'000'000 * 1000 +
            nanoseconds % 1000 * bench.model.timestamp_hz) /
               1'000'000'000;
  }
  // Interrupts of the video engine: bit 6 sets the identity of its bank, or of the engine.
  static void unmask(ContextBench& bench) {
    if (bench.has_queue()) {
      bench.write(0x190034, 0xffff'ffff);
      bench.write(0x1900a8, 0);
    } else {
      bench.set_reg("vcs0", 0xa8, 0);
      bench.write(0x44314, 0);
      bench.write(0x4431c, 0xffff'ffff);
    }
  }
  // Returns whether the interrupt was raised since the last call.
  static bool fired(ContextBench& bench) {
    if (!bench.has_queue()) {
      const uint32_t identity = bench.read(0x44318);
      bench.write(0x44318, identity);
      return (identity & 0x40) != 0;
    }
    if ((bench.read(0x19001c) & 1) == 0) {
      return false;
    }
    bench.write(0x190074, 1);
    const uint32_t identity = bench.read(0x190064);
    bench.write(0x190064, 1u << 31);
    bench.write(0x19001c, 1);
    return (identity & 0x8000'0040) == 0x8000'0040;
  }

 private:
  static inline uint32_t base_ = 0;
};

// The stream itself starts, stops and reads the counter in the middle of a slice.
TEST_P(WatchdogTest, CommandsStartAndStopTheWatchdogExactly) {
  COVERS("DG1-WDT-01");
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  Context context = bench.create("vcs0", 3, ContextBench::kRestoreInhibit, 8);
  std::vector<uint32_t> stream;
  load(stream, kThreshold, 0xffff'ffff);
  save(stream, kCounter, data);
  load(stream, kControl, kGpuClocks);
  noops(stream, 7);
  save(stream, kCounter, data + 4);  // 7 commands and this one
  noops(stream, 1000);               // spans several slices
  save(stream, kCounter, data + 8);
  load(stream, kControl, 0x4000'0000);  // neither clock: the counter stops
  noops(stream, 50);
  save(stream, kCounter, data + 12);
  load(stream, kControl, kGpuClocks | kDisable);
  save(stream, kCounter, data + 16);
  noops(stream, 50);
  load(stream, kControl, kTimestampToggles);  // command 1121, at 500 + 11210 ns of the context
  noops(stream, 3000);
  save(stream, kCounter, data + 20);
  bench.emit(context, stream);
  const uint64_t start = bench.device->clock().nanoseconds + kSwitch;
  bench.run(context);
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.peek(data + 4), 8 * kCommand);
  EXPECT_EQ(bench.peek(data + 8), 1009 * kCommand);
  EXPECT_EQ(bench.peek(data + 12), 1010 * kCommand);
  EXPECT_EQ(bench.peek(data + 16), 0u);
  const uint64_t enabled = start + 1117 * kCommand;
  EXPECT_EQ(bench.peek(data + 20), ticks(bench, enabled + 3001 * kCommand) - ticks(bench, enabled));
}

// Control and threshold belong to the context: values of another context are not kept.
TEST_P(WatchdogTest, ControlAndThresholdFollowTheContext) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  Context first = bench.create("vcs0", 3);
  Context second = bench.create("vcs0", 4);
  std::vector<uint32_t> stream;
  load(stream, kThreshold, 0x111);
  load(stream, kControl, kGpuClocks | kDisable);
  bench.emit(first, stream);
  stream.clear();
  load(stream, kThreshold, 0x222);
  load(stream, kControl, 0x4000'0000);
  bench.emit(second, stream);
  bench.run(first);
  bench.run(second);
  stream.clear();
  save(stream, kThreshold, data);
  save(stream, kControl, data + 4);
  bench.emit(first, stream);
  bench.set_image(first, ContextBench::kImageControl, 0xffff'0008);  // restore everything
  bench.run(first);
  EXPECT_EQ(bench.peek(data), 0x111u);
  EXPECT_EQ(bench.peek(data + 4), kGpuClocks | kDisable);
}

// A context counts as present from the start of its restore to the end of its save. The counter itself belongs to no
// context.
TEST_P(WatchdogTest, CountsRestoreRunAndSave) {
  COVERS("DG1-WDT-03");
  ContextBench bench(GetParam());
  Context context = bench.create("vcs0", 3);
  std::vector<uint32_t> stream;
  load(stream, kThreshold, 0xffff'ffff);
  load(stream, kControl, kGpuClocks);
  bench.emit(context, stream);  // six dwords
  bench.run(context);
  uint64_t expected = kSwitch;  // the save
  EXPECT_EQ(bench.reg("vcs0", kCounter), expected);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.reg("vcs0", kCounter), expected) << "no context is present";
  // The next context does not restore a count. Its image is not restored, so the watchdog stays enabled.
  Context other = bench.create("vcs0", 4);
  bench.emit(other, std::vector<uint32_t>(600, 0));
  bench.run(other);
  expected += 2 * kSwitch + 600 * kCommand;
  EXPECT_EQ(bench.reg("vcs0", kCounter), expected);
  // A queue of two contexts: a save and a restore between them. Flushes and waits count like other time.
  bench.emit(context, {0x1300'0001, 0, 0, 0});  // MI_FLUSH_DW
  const uint64_t flag = bench.allocate(1);
  bench.emit(other, bench.wait_for(flag, 1, false));
  bench.set_image(context, ContextBench::kImageControl, 0xffff'0009);
  bench.set_image(other, ContextBench::kImageControl, 0xffff'0009);
  const uint64_t start = bench.device->clock().nanoseconds;
  bench.submit({&context, &other});
  bench.device->advance(50'000);
  expected += bench.device->clock().nanoseconds - start;
  EXPECT_EQ(bench.reg("vcs0", kCounter), expected);
  bench.device->advance(50'000'000);  // nothing happens, and the clock jumps
  EXPECT_EQ(bench.reg("vcs0", kCounter), expected + 50'000'000);
  // No counting while execlists are disabled.
  bench.set_reg("vcs0", ContextBench::kMode, bench.has_queue() ? 0x8008'0000 : 0x8000'0000);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.reg("vcs0", kCounter), expected + 50'000'000);
}

// The interrupt needs equality: if the threshold is set below the counter, the counter must wrap first.
TEST_P(WatchdogTest, InterruptsWhenTheCounterEqualsTheThreshold) {
  COVERS("DG1-WDT-02");
  ContextBench bench(GetParam());
  unmask(bench);
  const uint64_t data = bench.allocate(1);
  Context context = bench.create("vcs0", 3);
  std::vector<uint32_t> stream;
  load(stream, kThreshold, 100);
  load(stream, kControl, kGpuClocks);
  for (uint32_t i = 0; i < 13; ++i) {
    save(stream, kCounter, data + 4 * i);
  }
  load(stream, kControl, kDisable);
  bench.emit(context, stream);
  bench.run(context);
  EXPECT_TRUE(fired(bench));
  for (uint32_t i = 0; i < 13; ++i) {
    EXPECT_EQ(bench.peek(data + 4 * i), 10 * (i + 1) % 100) << i;
  }
  // One count below the threshold, then equal to it.
  for (const uint32_t more : {1u, 0u}) {
    stream.clear();
    load(stream, kThreshold, 1000 + more);
    load(stream, kControl, kGpuClocks);
    noops(stream, 99);
    load(stream, kControl, 0x4000'0000);  // stops at 1000
    save(stream, kCounter, data);
    load(stream, kControl, kDisable);
    bench.emit(context, stream);
    bench.run(context);
    EXPECT_EQ(fired(bench), more == 0);
    EXPECT_EQ(bench.peek(data), more == 0 ? 0u : 1000u);
  }
  // Threshold below the counter: the counter wraps once.
  stream.clear();
  load(stream, kThreshold, 1000);
  load(stream, kControl, kGpuClocks);
  noops(stream, 49);
  load(stream, kThreshold, 400);  // the counter is at 500
  noops(stream, 99);
  save(stream, kCounter, data);
  bench.emit(context, stream);
  bench.emit(context, bench.wait_for(data, 1, false));
  bench.submit({&context});
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.peek(data), 1500u);
  EXPECT_FALSE(fired(bench));
  bench.device->advance(4'000'000'000);
  EXPECT_FALSE(fired(bench)) << "2^32 ns have not passed";
  EXPECT_GT(bench.reg("vcs0", kCounter), 4'000'000'000u);
  bench.device->advance(300'000'000);
  EXPECT_TRUE(fired(bench)) << "although no engine has executed a command";
  EXPECT_LT(bench.reg("vcs0", kCounter), 400u);
}

TEST_P(WatchdogTest, CountsTimestampTogglesOnlyWhileAContextIsPresent) {
  ContextBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.set_reg("vcs0", kThreshold, 0xffff'ffff);
  bench.set_reg("vcs0", kControl, kTimestampToggles);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.reg("vcs0", kCounter), 0u) << "no context is present";
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
  // Another context, which never ran, has no count of its own: the counter is neither saved nor restored.
  const ContextBench::Context other = waiting(bench, data + 4);
  bench.submit({&other});
  bench.device->advance(1'000'000);
  EXPECT_GT(bench.reg("vcs0", kCounter), after);
  EXPECT_LE(bench.reg("vcs0", kCounter) - after, ticks / 8 + 1);
}

TEST_P(WatchdogTest, ControlEnablesDisablesAndSelectsTheClock) {
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

TEST_P(WatchdogTest, ThresholdInterruptsAndClears) {
  ContextBench bench(GetParam());
  const ContextBench::Context context = waiting(bench, bench.allocate(1));
  unmask(bench);
  constexpr uint32_t kTicks = 1000;
  const uint64_t tick_ns = 1'000'000'000 / bench.model.timestamp_hz;
  bench.set_reg("vcs0", kThreshold, kTicks);
  bench.set_reg("vcs0", kControl, kTimestampToggles);
  bench.submit({&context});
  bench.device->advance(kTicks / 2 * tick_ns);
  EXPECT_FALSE(fired(bench));
  bench.device->advance(kTicks * tick_ns);
  EXPECT_TRUE(fired(bench));
  EXPECT_LT(bench.reg("vcs0", kCounter), kTicks);
}

INSTANTIATE_TEST_SUITE_P(Chips, WatchdogTest, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"));

}  // namespace
}  // namespace halogen
