// Flips and back buffers under GM45's compressor: non-persistent and persistent mode.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/dpfc_bench.h"

namespace halogen::display::fbc_test {
namespace {

constexpr uint64_t kFar = 0x40'0000;

// Fills the other surface with another picture.
void fill_both(DpfcBench& bench) {
  const uint64_t front = bench.surface;
  bench.fill_desktop(1);
  bench.surface = front + kFar;
  bench.fill_desktop(2);
  bench.surface = front;
}

TEST(DpfcFlips, NonPersistentModeTracksTheFrontBufferAndInvalidatesAtFlips) {
  COVERS("G45-7.1.2-02");
  for (const bool command : {false, true}) {
    SCOPED_TRACE(command);
    DpfcBench bench;
    fill_both(bench);
    bench.enable();
    const uint64_t back = bench.surface + kFar;
    // The front buffer is tracked, the back buffer is not.
    bench.engine_write(back, 10, 20);
    EXPECT_EQ(bench.compressed_lines(), 480u);
    bench.engine_write(bench.surface, 10, 20);
    EXPECT_EQ(bench.compressed_lines(), 460u);
    bench.cpu_write(0, 300, 4);
    EXPECT_EQ(bench.compressed_lines(), 459u);
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), 480u) << "compressed again";
    EXPECT_EQ(bench.invalidated(), 21u);
    if (command) {
      bench.flip_by_command(back);
    } else {
      bench.flip_by_register(back);
    }
    EXPECT_EQ(bench.compressed_lines(), 480u) << "not before the flip is performed";
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), 0u);
    EXPECT_EQ(bench.invalidated(), 480u);
    EXPECT_EQ(bench.fetched(), 480u) << "the old picture";
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), 480u);
    EXPECT_EQ(bench.fetched(), 0u);
    EXPECT_EQ(bench.compressed_line(77), bench.pixels(77)) << "the new picture";
    EXPECT_EQ(bench.events(), 0u);
  }
  // The nuke bits must be zero in this mode and have no effect.
  DpfcBench bench;
  bench.enable(DpfcBench::kNoCommandNuke | DpfcBench::kNoRegisterNuke);
  bench.flip_by_register(bench.surface + kFar);
  bench.next_vblank();
  EXPECT_EQ(bench.compressed_lines(), 0u);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
}

TEST(DpfcFlips, AsynchronousFlipsAlwaysInvalidateCompressedLines) {
  COVERS("G45-7.1.1-02");
  COVERS("G45-7.1.2-01");
  for (const uint32_t flags : {0u, DpfcBench::kPersistent | DpfcBench::kNoCommandNuke | DpfcBench::kNoRegisterNuke}) {
    DpfcBench bench;
    fill_both(bench);
    bench.enable(flags);
    EXPECT_EQ(bench.compressed_lines(), 480u);
    bench.device->display().flip({.plane = 0, .async = true, .base = static_cast<uint32_t>(bench.surface + kFar)});
    bench.surface += kFar;
    EXPECT_EQ(bench.compressed_lines(), 0u) << "immediately";
    bench.vblanks(2);
    EXPECT_EQ(bench.compressed_line(9), bench.pixels(9));
    // The mode does not change while the compressor is enabled.
    bench.write(DpfcBench::kControl, bench.control(flags ^ DpfcBench::kPersistent));
    EXPECT_EQ(bench.read(DpfcBench::kControl), bench.control(flags));
    // One buffer is tracked: the front buffer or the back buffer.
    bench.engine_write(bench.surface, 0, 5);
    EXPECT_EQ(bench.compressed_lines(), flags == 0 ? 475u : 480u);
  }
}

TEST(DpfcFlips, PersistentModeKeepsUnwrittenLines) {
  COVERS("G45-7.1.2-03");
  for (const bool command : {false, true}) {
    for (const bool nuke : {false, true}) {
      SCOPED_TRACE(testing::Message() << command << nuke);
      DpfcBench bench;
      fill_both(bench);
      const uint32_t both = DpfcBench::kNoCommandNuke | DpfcBench::kNoRegisterNuke;
      const uint32_t other = command ? DpfcBench::kNoRegisterNuke : DpfcBench::kNoCommandNuke;
      bench.enable(DpfcBench::kPersistent | (nuke ? other : both));
      const uint64_t front = bench.surface;
      const uint64_t back = front + kFar;
      const std::vector<uint32_t> old_line = bench.pixels(200);
      bench.engine_write(front, 50, 3);  // the front buffer is not tracked
      bench.engine_write(back, 100, 5);
      bench.engine_write(back, 103, 5);
      bench.engine_write(back + 4 * kFar, 300, 50);  // a texture
      EXPECT_EQ(bench.compressed_lines(), 480u);
      bench.next_vblank();
      EXPECT_EQ(bench.compressed_lines(), 480u) << "without a flip nothing is invalidated";
      EXPECT_EQ(bench.invalidated(), 0u);
      if (command) {
        bench.flip_by_command(back);
      } else {
        bench.flip_by_register(back);
      }
      bench.next_vblank();
      EXPECT_EQ(bench.compressed_lines(), nuke ? 0u : 472u);
      EXPECT_EQ(bench.invalidated(), nuke ? 480u : 8u);
      bench.next_vblank();
      EXPECT_EQ(bench.compressed_lines(), 480u);
      EXPECT_EQ(bench.compressed_line(104), bench.pixels(104)) << "recompressed from the new surface";
      EXPECT_EQ(bench.compressed_line(200), nuke ? bench.pixels(200) : old_line)
          << "kept, whatever the surface holds now";
      // After the flip it is no longer tracked; the old front buffer is.
      bench.engine_write(back, 10, 10);
      bench.engine_write(front, 20, 4);
      EXPECT_EQ(bench.compressed_lines(), 480u);
      bench.flip_by_command(front);
      bench.next_vblank();
      EXPECT_EQ(bench.compressed_lines(), nuke && command ? 0u : 476u);
      EXPECT_EQ(bench.events(), 0u);
    }
  }
}

TEST(DpfcFlips, CpuWritesToTheBackBufferAreTrackedUntilTheFlip) {
  COVERS("G45-7.1.2-04");
  DpfcBench bench;
  bench.enable(DpfcBench::kPersistent | DpfcBench::kNoCommandNuke | DpfcBench::kNoRegisterNuke);
  const uint64_t front = bench.surface;
  const uint64_t back = front + kFar;
  // The fence is moved to the back buffer, which is allowed while enabled. The fence offset may not change, so the
  // distance to the buffer stays the same.
  const auto fence_to = [&](unsigned number, uint64_t surface) {
    const uint64_t start = surface - uint64_t{DpfcBench::kLinesBefore} * bench.screen.pitch_B;
    bench.set_fence(number, start, (start >> 12) + 0x3ff, bench.screen.pitch_B, false);
    bench.write(DpfcBench::kControl, (bench.read(DpfcBench::kControl) & ~15u) | number);
  };
  const auto write_line = [&](uint64_t surface, uint32_t line) {
    bench.device->bar_write(2, surface + uint64_t{line} * bench.screen.pitch_B, 4, line);
  };
  bench.set_fence(DpfcBench::kFenceNumber, 0, 0, 512, false);
  bench.write(0x3000 + 8 * DpfcBench::kFenceNumber, 0);
  fence_to(2, back);
  write_line(back, 7);
  bench.flip_by_register(back);
  bench.next_vblank();
  EXPECT_EQ(bench.compressed_lines(), 480u) << "tracking is not enabled";
  bench.flip_by_register(front);
  bench.next_vblank();
  for (int round = 0; round < 2; ++round) {
    fence_to(2, back);
    bench.write(DpfcBench::kExtra, 0x8000'0000);
    write_line(back, 7);
    write_line(back, 8);
    write_line(back, 470);
    bench.flip_by_register(back);
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), 477u) << round;
    EXPECT_EQ(bench.invalidated(), 3u);
    bench.next_vblank();
    // Tracking has stopped: software did not clear the bit.
    EXPECT_EQ(bench.read(DpfcBench::kExtra), 0x8000'0000u);
    write_line(back, 30);
    bench.flip_by_register(front);
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), 480u);
  }
  EXPECT_EQ(bench.events(), 0u);
}

TEST(DpfcFlips, MoreBackBuffersThanTrackedAreAnError) {
  DpfcBench bench;
  bench.enable(DpfcBench::kPersistent | DpfcBench::kNoCommandNuke | DpfcBench::kNoRegisterNuke);
  for (uint64_t i = 1; i <= 4; ++i) {
    bench.engine_write(bench.surface + i * kFar, 0, 1);
  }
  EXPECT_EQ(bench.read(DpfcBench::kDebug), 0u);
  bench.engine_write(bench.surface + 5 * kFar, 0, 1);
  EXPECT_EQ(bench.read(DpfcBench::kDebug), 1u << 5);
  bench.flip_by_register(bench.surface + 5 * kFar);
  bench.next_vblank();
  EXPECT_EQ(bench.compressed_lines(), 0u) << "the buffer was not tracked";
}

TEST(DpfcFlips, WritingOnesClearsTheDebugStatus) {
  DpfcBench bench;
  bench.write(DpfcBench::kRecompression, 1u << 27 | 1u << 16);
  bench.enable(DpfcBench::kPersistent | DpfcBench::kNoCommandNuke);
  for (uint64_t i = 1; i <= 5; ++i) {
    bench.engine_write(bench.surface + i * kFar, 0, 1);
  }
  bench.flip_by_register(bench.surface + kFar);  // invalidates everything: far above the watermark
  bench.next_vblank();
  EXPECT_EQ(bench.read(DpfcBench::kDebug), 1u << 6 | 1u << 5);
  bench.write(DpfcBench::kDebug, 1u << 5);
  EXPECT_EQ(bench.read(DpfcBench::kDebug), 1u << 6);
  bench.write(DpfcBench::kDebug, 0);
  EXPECT_EQ(bench.read(DpfcBench::kDebug), 1u << 6);
  bench.write(DpfcBench::kDebug, 0xffff'ffff);
  EXPECT_EQ(bench.read(DpfcBench::kDebug), 0u);
  // The other bits, set as if hardware had detected the errors.
  const mmio::RegisterSlot* slot = bench.device->mmio().bank().find(DpfcBench::kDebug);
  for (unsigned bit = 0; bit < 32; ++bit) {
    bench.device->mmio().bank().poke(*slot, 0x7f);
    bench.write(DpfcBench::kDebug, 1u << bit);
    EXPECT_EQ(bench.read(DpfcBench::kDebug), 0x7fu & ~(1u << bit)) << bit;
  }
}

}  // namespace
}  // namespace halogen::display::fbc_test
