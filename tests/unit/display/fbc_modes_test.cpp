// When GM965's compressor works: single and periodic passes, the modification counter, disabling, and CPU sleep.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/fbc_bench.h"

namespace halogen::display::fbc_test {
namespace {

bool compressing(FbcBench& bench) {
  return (bench.status() & FbcBench::kCompressing) != 0;
}

// Returns the number of vertical blanks until a pass starts, and waits for its end. 0: no pass started.
unsigned blanks_until_pass(FbcBench& bench, unsigned most) {
  for (unsigned count = 1; count <= most; ++count) {
    bench.next_vblank();
    if (compressing(bench)) {
      bench.device->advance(FbcBench::kQuarterFrame);
      return count;
    }
  }
  return 0;
}

constexpr uint32_t interval(uint32_t refreshes) {
  return FbcBench::kPeriodic | refreshes << 16;
}

TEST(FbcModes, SingleModeCompressesOnceForEachRequest) {
  COVERS("G45-6.3-02");
  FbcBench bench;
  bench.fill_desktop(3);
  bench.enable();
  EXPECT_EQ(blanks_until_pass(bench, 5), 0u) << "no request";
  bench.request();
  EXPECT_EQ(blanks_until_pass(bench, 5), 1u);
  EXPECT_EQ(blanks_until_pass(bench, 5), 0u);
  // The results are used until something is written; written lines are read from the surface.
  bench.vblanks(20);
  EXPECT_FALSE(bench.compressed_line(44).empty());
  bench.cpu_write(1, 44, 0);
  EXPECT_EQ(blanks_until_pass(bench, 5), 0u) << "a modification is not a request";
  EXPECT_TRUE(bench.compressed_line(44).empty());
  EXPECT_TRUE(bench.compressed_line(45).empty());
  EXPECT_FALSE(bench.compressed_line(46).empty());
  bench.request();
  EXPECT_EQ(blanks_until_pass(bench, 5), 1u);
  EXPECT_FALSE(bench.compressed_line(44).empty());
  // Disabling the compressor ends the use of the results.
  bench.write(FbcBench::kControl, 0);
  EXPECT_TRUE(bench.compressed_line(44).empty());
  EXPECT_EQ(bench.status() & FbcBench::kCompressed, 0u);
}

// Software must wait until the function is off before it changes registers or the display mode, or enables again.
TEST(FbcModes, ChangesBeforeTheFunctionIsOffAreReported) {
  COVERS("G45-6.3-01");
  for (const bool waits : {false, true}) {
    SCOPED_TRACE(waits);
    for (const uint32_t change : {0x70188u, 0x70180u, 0x60000u}) {
      SCOPED_TRACE(change);
      FbcBench bench;
      bench.fill_desktop(3);
      bench.enable();
      bench.request();
      bench.next_vblank();
      EXPECT_TRUE(compressing(bench));
      bench.write(FbcBench::kControl, bench.control(1024) & ~FbcBench::kEnable);
      EXPECT_TRUE(compressing(bench)) << "the enable bit only requests it";
      if (waits) {
        bench.device->advance(FbcBench::kQuarterFrame);
        EXPECT_FALSE(compressing(bench));
      }
      bench.host.log.clear();
      // Stride, pixel format, active pixels.
      const uint32_t old = bench.read(change);
      const uint32_t value = change == 0x70188 ? 8192 : change == 0x70180 ? old ^ 3u << 26 : old - 16;
      if (!waits) bench.enable();  // again, during the pass
      EXPECT_EQ(bench.host.log.count(EventKind::undefined_behaviour), waits ? 0u : 1u);
      bench.host.log.clear();
      bench.vblanks(1);
      bench.write(change, value);
      bench.write(0x7019c, static_cast<uint32_t>(bench.surface));
      bench.vblanks(2);
      EXPECT_EQ(bench.host.log.count(EventKind::undefined_behaviour), waits ? 0u : 1u) << "the display mode";
    }
  }
}

TEST(FbcModes, PeriodicModeChecksOncePerInterval) {
  COVERS("G45-6.3-03");
  COVERS("G45-6.8.2-05");
  FbcBench bench;
  bench.enable(1024, interval(7));
  EXPECT_EQ(blanks_until_pass(bench, 20), 7u);
  // Nothing is modified: no pass starts.
  EXPECT_EQ(blanks_until_pass(bench, 30), 0u);
  // The interval continues: 30 blanks are four intervals and two more.
  bench.cpu_write(0, 9, 1);
  EXPECT_EQ(blanks_until_pass(bench, 20), 5u);
  bench.cpu_write(0, 9, 2);
  EXPECT_EQ(blanks_until_pass(bench, 20), 7u) << "counted from the end of the pass";
  // The longest interval that the field can hold, in one step of time.
  bench.write(FbcBench::kControl, 0);
  bench.enable(1024, interval(0x3fff));
  bench.device->advance(uint64_t{0x3ffe} * 1'000'000'000 / 60);
  EXPECT_EQ(bench.status() & FbcBench::kCompressed, 0u);
  bench.device->advance(100'000'000);
  EXPECT_EQ(bench.status() & FbcBench::kCompressed, FbcBench::kCompressed);
}

TEST(FbcModes, IntervalsOfZeroAndOneMeanEveryRefresh) {
  for (const uint32_t refreshes : {0u, 1u}) {
    FbcBench bench;
    bench.enable(1024, interval(refreshes));
    EXPECT_EQ(blanks_until_pass(bench, 5), 1u);
    for (uint32_t i = 0; i < 3; ++i) {
      bench.cpu_write(0, 2, i);
      EXPECT_EQ(blanks_until_pass(bench, 5), 1u);
    }
  }
}

TEST(FbcModes, ModificationCounterDelaysPeriodicPasses) {
  COVERS("G45-6.3-05");
  FbcBench bench;
  bench.write(FbcBench::kModifications, 5 << 1 | 1);
  bench.enable(1024, interval(3));
  EXPECT_EQ(blanks_until_pass(bench, 20), 3u) << "everything counts as modified";
  for (uint32_t line = 0; line < 4; ++line) {
    bench.cpu_write(0, 10 * line, line);
    bench.cpu_write(1, 10 * line + 1, line);  // the same pair: one tag
  }
  EXPECT_EQ(blanks_until_pass(bench, 20), 0u) << "four pairs";
  bench.engine_write(bench.surface, 400, 1);  // the count continued during the sleep
  EXPECT_EQ(blanks_until_pass(bench, 20), 1u) << "20 blanks are two short of seven intervals";
  EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
  // Not valid: any modification starts a pass.
  bench.write(FbcBench::kControl, 0);
  bench.write(FbcBench::kModifications, 5 << 1);
  bench.enable(1024, interval(3));
  EXPECT_EQ(blanks_until_pass(bench, 20), 3u);
  bench.cpu_write(0, 0, 1);
  EXPECT_EQ(blanks_until_pass(bench, 20), 3u);
}

TEST(FbcModes, DisablingWaitsForThePass) {
  FbcBench bench;
  bench.enable();
  bench.request();
  bench.next_vblank();
  bench.device->advance(100'000);
  bench.write(FbcBench::kControl, bench.control(1024) & ~FbcBench::kEnable);
  EXPECT_TRUE(compressing(bench)) << "requested, but not done";
  EXPECT_EQ(bench.tag(239), kTagUncompressed);
  bench.device->advance(FbcBench::kQuarterFrame);
  EXPECT_FALSE(compressing(bench));
  EXPECT_EQ(bench.status() & FbcBench::kCompressed, 0u);
  EXPECT_EQ(bench.events(), 0u);
  // Disabled: changing the registers is allowed and has no effect.
  for (const uint32_t offset : {0x3200u, 0x3204u, 0x3214u, 0x3218u, 0x3220u}) {
    const uint32_t bit = offset == 0x3214 ? 4 : 0x1000;
    bench.write(offset, bench.read(offset) ^ bit);
    bench.write(offset, bench.read(offset) ^ bit);
  }
  bench.request();
  EXPECT_EQ(blanks_until_pass(bench, 3), 0u);
  EXPECT_EQ(bench.events(), 0u);
  // Enabled: each change of a listed register is reported.
  bench.enable();
  size_t mistakes = 0;
  for (const uint32_t offset : {0x3200u, 0x3204u, 0x3214u, 0x3218u, 0x3220u}) {
    const uint32_t bit = offset == 0x3214 ? 4 : 0x1000;
    bench.write(offset, bench.read(offset) ^ bit);
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), ++mistakes) << std::hex << offset;
  }
  for (const uint32_t bit : {1u << 30, 1u << 16, 1u << 15, 1u << 14, 1u << 5, 1u}) {
    bench.write(FbcBench::kControl, bench.read(FbcBench::kControl) ^ bit);
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), ++mistakes) << std::hex << bit;
  }
  // Enabling again before the pass has ended is reported too.
  FbcBench hasty;
  hasty.enable();
  hasty.request();
  hasty.next_vblank();
  hasty.write(FbcBench::kControl, hasty.control(1024) & ~FbcBench::kEnable);
  hasty.enable();
  EXPECT_EQ(hasty.events(EventKind::undefined_behaviour), 1u);
}

TEST(FbcModes, EnablingMarksEverythingModified) {
  COVERS("G45-6.8.1-03");
  COVERS("G45-6.8.1-05");
  COVERS("G45-6.8.4-04");
  FbcBench bench;
  bench.enable();
  bench.pass();
  EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
  // One pair in each other state.
  bench.write(FbcBench::kTag, bench.read(FbcBench::kTag) & ~0xfu);
  bench.write(FbcBench::kTag, bench.read(FbcBench::kTag) | 0x9);  // uncompressed, uncompressible
  bench.write(FbcBench::kControl, 0);
  EXPECT_EQ(bench.count_tags(kTagCompressed), 238u);
  bench.enable();
  EXPECT_EQ(bench.count_tags(kTagModified), 240u);
  for (unsigned i = 0; i < 49; ++i) {
    EXPECT_EQ(bench.read(FbcBench::kTag + 4 * i), 0u);
  }
  // A write and a new base address mark lines in every state as modified.
  bench.pass();
  bench.write(FbcBench::kTag, 0x9);
  bench.cpu_write(0, 0, 1);
  bench.cpu_write(0, 2, 1);
  bench.cpu_write(0, 480 - 1, 1);
  EXPECT_EQ(bench.tag(0), kTagModified);
  EXPECT_EQ(bench.tag(1), kTagModified);
  EXPECT_EQ(bench.tag(239), kTagModified);
  bench.write(FbcBench::kTag, 0x9);
  bench.write_plane(bench.control_bits(), static_cast<uint32_t>(bench.surface) + 0x10'0000);
  bench.next_vblank();
  EXPECT_EQ(bench.count_tags(kTagModified), 240u);
  // A reset marks all lines as modified too.
  bench.write_plane(bench.control_bits(), static_cast<uint32_t>(bench.surface));
  bench.next_vblank();
  bench.pass();
  EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
  bench.device->reset(device::ResetKind::function_level);
  bench.device->config_write(4, 2, 7);
  EXPECT_EQ(bench.count_tags(kTagModified), 240u);
  EXPECT_EQ(bench.status(), 0u);
}

TEST(FbcModes, CpuSleepModeDecidesWhatHappensToThePass) {
  COVERS("G45-6.5-01");
  const auto start = [](FbcBench& bench, uint32_t mode) {
    bench.fill_desktop(4);
    bench.write(FbcBench::kControl2, 2 | mode << 2);
    bench.enable();
    bench.request();
    bench.next_vblank();
    bench.device->advance(101'000);  // 25 pairs are done, the next has begun
    EXPECT_TRUE(bench.compressor().busy_until().has_value());
    bench.compressor().set_processor_idle(true);
  };
  {
    FbcBench bench;  // immediate: no more requests; resumes where it stopped
    start(bench, 0);
    EXPECT_FALSE(bench.compressor().busy_until().has_value());
    bench.device->advance(FbcBench::kQuarterFrame);
    EXPECT_TRUE(compressing(bench));
    EXPECT_EQ(bench.count_tags(kTagCompressed), 26u);
    bench.compressor().set_processor_idle(false);
    bench.device->advance(2999);
    EXPECT_EQ(bench.count_tags(kTagCompressed), 26u);
    bench.device->advance(1);
    EXPECT_EQ(bench.count_tags(kTagCompressed), 27u);
    bench.device->advance(FbcBench::kQuarterFrame);
    EXPECT_FALSE(compressing(bench));
    EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
    EXPECT_FALSE(bench.compressed_line(300).empty());
  }
  {
    FbcBench bench;  // normal: the pass is completed first
    start(bench, 1);
    EXPECT_TRUE(bench.compressor().busy_until().has_value());
    bench.device->advance(FbcBench::kQuarterFrame);
    EXPECT_FALSE(bench.compressor().busy_until().has_value());
    EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
    // No other pass begins.
    bench.cpu_write(0, 0, 1);
    bench.request();
    EXPECT_EQ(blanks_until_pass(bench, 3), 0u);
    bench.compressor().set_processor_idle(false);
    EXPECT_EQ(blanks_until_pass(bench, 3), 1u);
  }
  {
    FbcBench bench;  // scan line: the pair is completed, the rest is skipped, and the buffer is used
    start(bench, 2);
    EXPECT_TRUE(bench.compressor().busy_until().has_value());
    bench.device->advance(4000);
    EXPECT_FALSE(bench.compressor().busy_until().has_value());
    EXPECT_EQ(bench.status() & ~0x7ffu, FbcBench::kCompressed);
    EXPECT_EQ(bench.count_tags(kTagCompressed), 26u);
    EXPECT_EQ(bench.count_tags(kTagUncompressed), 214u);
    EXPECT_FALSE(bench.compressed_line(51).empty());
    EXPECT_TRUE(bench.compressed_line(52).empty());
  }
  {
    FbcBench bench;  // debug: idle immediately, while the pass continues
    start(bench, 3);
    EXPECT_FALSE(bench.compressor().busy_until().has_value());
    bench.device->advance(FbcBench::kQuarterFrame);
    EXPECT_FALSE(compressing(bench));
    EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
  }
}

// A pass that is paused at a vertical blank is at work: a request does not start it again from the first pair.
TEST(FbcModes, PassThatIsAtWorkAtAVerticalBlankIsNotStartedAgain) {
  COVERS("G45-6.8.2-01");  // with FbcPass.StartsAtAVerticalBlankIfSomethingIsModified and the periodic mode's tests
  FbcBench bench;
  bench.fill_desktop(4);
  bench.write(FbcBench::kControl2, 2);  // the processor's sleep pauses a pass
  bench.enable();
  bench.request();
  bench.next_vblank();
  bench.device->advance(101'000);  // 25 pairs are done, the next has begun
  bench.compressor().set_processor_idle(true);
  bench.cpu_write(0, 0, 1);
  EXPECT_EQ(bench.tag(0), kTagModified);
  bench.request();
  constexpr uint64_t kBefore = 100'000;  // 25 pairs more
  bench.device->advance(bench.device->display().next_vblank(0).value() - bench.device->clock().nanoseconds - kBefore);
  bench.compressor().set_processor_idle(false);
  bench.next_vblank();
  EXPECT_TRUE(compressing(bench));
  bench.device->advance(FbcBench::kQuarterFrame);
  EXPECT_FALSE(compressing(bench));
  EXPECT_EQ(bench.count_tags(kTagCompressed), 239u);
  EXPECT_EQ(bench.tag(0), kTagModified) << "the pass continued behind it";
  bench.next_vblank();
  EXPECT_TRUE(compressing(bench)) << "the request is still set";
  bench.device->advance(FbcBench::kQuarterFrame);
  EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
}

}  // namespace
}  // namespace halogen::display::fbc_test
