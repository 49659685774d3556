// Writes that GM965's compressor tracks. A written line is never shown from the compressed buffer.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/fbc_bench.h"

namespace halogen::display::fbc_test {
namespace {

void compress(FbcBench& bench, uint32_t flags = 0) {
  bench.enable(1024, flags);
  bench.pass();
  ASSERT_EQ(bench.count_tags(kTagCompressed), bench.tags());
}

TEST(FbcTracking, CpuWritesThroughTheFenceAreTracked) {
  COVERS("G45-6.8.4-02");
  for (const uint32_t start : {0u, 21u}) {
    FbcBench bench({.y = start});
    compress(bench);
    bench.cpu_write(0, 0, 1);
    bench.cpu_write(639, 100, 1);
    EXPECT_EQ(bench.count_tags(kTagModified), 2u);
    EXPECT_EQ(bench.tag_of_line(0), kTagModified);
    EXPECT_EQ(bench.tag_of_line(100), kTagModified);
    // Lines above and below the screen, and the start of the fence.
    const uint64_t pitch = bench.screen.pitch_B;
    const uint64_t first = FbcBench::kFence + (FbcBench::kLinesBefore + start) * pitch;
    bench.pass();
    bench.device->bar_write(2, first - 1, 1, 5);
    bench.device->bar_write(2, FbcBench::kFence, 4, 5);
    bench.device->bar_write(2, first + 480 * pitch, 4, 5);
    EXPECT_EQ(bench.count_tags(kTagModified), 0u);
    // A block over three lines, from the middle of one to the middle of another.
    const std::vector<std::byte> block(2 * pitch, std::byte{7});
    ASSERT_TRUE(bench.device->bar_write_block(2, first + 200 * pitch + 2048, block));
    EXPECT_EQ(bench.tag_of_line(200), kTagModified);
    EXPECT_EQ(bench.tag_of_line(201), kTagModified);
    EXPECT_EQ(bench.tag_of_line(202), kTagModified);
    EXPECT_EQ(bench.count_tags(kTagModified), 2u);
  }
}

TEST(FbcTracking, TrackingNeedsTheFence) {
  {
    FbcBench bench;  // not enabled
    bench.write(FbcBench::kControl2, 0);
    compress(bench);
    bench.cpu_write(0, 7, 1);
    EXPECT_EQ(bench.count_tags(kTagModified), 0u);
  }
  {
    FbcBench bench;  // another fence number
    bench.enable(1024);
    bench.write(FbcBench::kControl, 0);
    bench.write(FbcBench::kControl, (bench.control(1024) & ~15u) | 6);
    bench.pass();
    bench.cpu_write(0, 7, 1);
    EXPECT_EQ(bench.count_tags(kTagModified), 0u);
  }
  {
    FbcBench bench;  // another offset: other lines
    bench.write(FbcBench::kFenceOffset, FbcBench::kLinesBefore + 100);
    compress(bench);
    bench.cpu_write(0, 150, 1);
    EXPECT_EQ(bench.tag_of_line(50), kTagModified);
    EXPECT_EQ(bench.count_tags(kTagModified), 1u);
    bench.cpu_write(0, 50, 1);
    EXPECT_EQ(bench.count_tags(kTagModified), 1u) << "before the display buffer";
  }
  {
    FbcBench bench;  // not through the fence: another mapping of the same pages
    bench.map(0x8000, FbcBench::kBuffers + FbcBench::kLinesBefore * 4096);
    compress(bench);
    bench.put_aperture(0x800'0000, 1);
    EXPECT_EQ(bench.peek(0, 0), 1u);
    EXPECT_EQ(bench.count_tags(kTagModified), 0u);
  }
}

TEST(FbcTracking, EngineWritesToTheSurfaceAreTracked) {
  COVERS("G45-6.8.4-03");
  for (const uint32_t start : {0u, 5u}) {
    FbcBench bench({.y = start});
    bench.write(FbcBench::kControl2, 0);  // no register is needed
    compress(bench);
    bench.engine_write(bench.surface, 10, 1);
    EXPECT_EQ(bench.tag_of_line(10), kTagModified);
    EXPECT_EQ(bench.count_tags(kTagModified), 1u);
    bench.engine_write(bench.surface + 4096, 20, 1);
    bench.engine_write(0, 20, 1);
    EXPECT_EQ(bench.count_tags(kTagModified), 1u) << "another render target";
    bench.device->display().on_target_write(GpuVa(bench.surface), start + 480, 1000);
    bench.device->display().on_target_write(GpuVa(bench.surface), 0, start);
    bench.device->display().on_target_write(GpuVa(bench.surface), 0xffff'ffff, 0xffff'ffff);
    EXPECT_EQ(bench.count_tags(kTagModified), 1u) << "not displayed";
    bench.device->display().on_target_write(GpuVa(bench.surface), 0, 0xffff'ffff);
    EXPECT_EQ(bench.count_tags(kTagModified), bench.tags());
  }
}

TEST(FbcTracking, FlipsAndPanningInvalidateTheBuffer) {
  COVERS("G45-6.4-02");
  COVERS("G45-6.4-03");
  COVERS("G45-6.8.4-05");
  for (const unsigned way : {0u, 1u, 2u}) {
    SCOPED_TRACE(way);
    FbcBench bench;
    bench.fill_desktop(1);
    compress(bench, FbcBench::kPeriodic | 1u << 16);
    const uint64_t other = bench.surface + 0x40'0000;
    if (way == 0) {  // by register
      bench.write_plane(bench.control_bits(), static_cast<uint32_t>(other));
      bench.surface = other;
    } else if (way == 1) {  // by command
      bench.device->display().flip(
          {.plane = 0, .base = static_cast<uint32_t>(other), .pitch = bench.screen.pitch_B, .tiled = 1});
      bench.surface = other;
    } else {  // panning: the offsets take effect at any vertical blank
      bench.write(0x701a4, 3u << 16 | 8);
      bench.screen.x = 8;
      bench.screen.y = 3;
    }
    bench.fill_desktop(2);
    EXPECT_EQ(bench.status() & FbcBench::kCompressed, FbcBench::kCompressed) << "not before the flip is performed";
    bench.next_vblank();
    EXPECT_EQ(bench.status() & FbcBench::kCompressed, 0u);
    bench.device->advance(FbcBench::kQuarterFrame);
    EXPECT_EQ(bench.status() & FbcBench::kCompressed, FbcBench::kCompressed) << "compressed again";
    EXPECT_EQ(bench.count_tags(kTagCompressed), bench.tags());
    for (uint32_t line = 0; line < 480; line += 37) {
      std::vector<uint32_t> expected = bench.pixels(line);
      for (uint32_t& pixel : expected) {
        pixel &= 0xff'ffff;
      }
      EXPECT_EQ(bench.compressed_line(line), expected) << line;
    }
    EXPECT_EQ(bench.events(), 0u);
  }
}

TEST(FbcTracking, WriteDuringThePassIsNotLost) {
  FbcBench bench;
  bench.fill_desktop(5);
  bench.enable();
  bench.request();
  bench.next_vblank();
  bench.device->advance(402'000);  // in the middle of pair 100
  ASSERT_EQ(bench.status(), FbcBench::kCompressing | 200u);
  EXPECT_TRUE(bench.compressed_line(0).empty()) << "never shown during a pass";
  bench.cpu_write(0, 10, 1);   // already compressed
  bench.cpu_write(0, 201, 1);  // being compressed
  bench.cpu_write(0, 300, 1);  // not compressed yet
  EXPECT_EQ(bench.tag_of_line(10), kTagModified);
  EXPECT_EQ(bench.tag_of_line(200), kTagModified);
  EXPECT_EQ(bench.tag_of_line(300), kTagModified);
  bench.device->advance(FbcBench::kQuarterFrame);
  EXPECT_EQ(bench.status() & ~0x7ffu, FbcBench::kCompressed | FbcBench::kModified);
  EXPECT_EQ(bench.tag_of_line(10), kTagModified);
  EXPECT_EQ(bench.tag_of_line(200), kTagModified);
  EXPECT_EQ(bench.tag_of_line(300), kTagModified) << "only uncompressed pairs are compressed";
  EXPECT_EQ(bench.count_tags(kTagCompressed), 237u);
  EXPECT_TRUE(bench.compressed_line(200).empty());
  bench.pass();
  EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
  EXPECT_EQ(bench.compressed_line(201)[0], 1u);
  // The compressor reads what the CPU wrote just before.
  bench.cpu_write(5, 60, 0x12'3456);
  bench.request();
  bench.next_vblank();
  bench.device->advance(4000);
  EXPECT_EQ(bench.compressed_line(60)[5], 0x12'3456u);
}

TEST(FbcTracking, StopOnModificationEndsThePass) {
  COVERS("G45-6.8.4-06");
  FbcBench bench;
  bench.enable(1024, FbcBench::kStopOnModification);
  bench.request();
  bench.next_vblank();
  bench.device->advance(402'000);
  bench.cpu_write(0, 400, 1);
  EXPECT_EQ(bench.status() & ~0x7ffu, FbcBench::kModified);
  EXPECT_EQ(bench.tag_of_line(200), kTagModified) << "the current pair";
  EXPECT_EQ(bench.tag_of_line(400), kTagModified) << "the pair that was written";
  EXPECT_EQ(bench.count_tags(kTagCompressed), 100u);
  EXPECT_EQ(bench.count_tags(kTagUncompressed), 138u);
  EXPECT_TRUE(bench.compressed_line(0).empty());
  bench.vblanks(3);
  EXPECT_EQ(bench.status() & ~0x7ffu, FbcBench::kModified) << "only after a new request";
  bench.pass();
  EXPECT_EQ(bench.count_tags(kTagCompressed), 240u);
  // Periodic mode: with the next interval.
  bench.write(FbcBench::kControl, 0);
  bench.enable(1024, FbcBench::kStopOnModification | FbcBench::kPeriodic | 2u << 16);
  bench.vblanks(2);
  bench.device->advance(100'000);
  bench.engine_write(bench.surface, 0, 1);
  EXPECT_EQ(bench.status() & FbcBench::kCompressing, 0u);
  bench.vblanks(2);
  EXPECT_EQ(bench.status() & FbcBench::kCompressing, FbcBench::kCompressing);
}

TEST(FbcTracking, LinesAreUsedOnlyIfAllConditionsHold) {
  COVERS("G45-6.8.3-01");
  COVERS("G45-6.1-01");
  FbcBench bench;
  bench.fill_line(2, 0x77);
  compress(bench);
  EXPECT_EQ(bench.compressed_line(2), std::vector<uint32_t>(640, 0x77));
  bench.write(FbcBench::kStatus, 0);  // not compressed
  EXPECT_TRUE(bench.compressed_line(2).empty());
  bench.write(FbcBench::kStatus, FbcBench::kCompressed);
  EXPECT_FALSE(bench.compressed_line(2).empty());
  bench.cpu_write(0, 100, 1);
  bench.request();
  bench.next_vblank();  // compressing
  EXPECT_TRUE(bench.compressed_line(2).empty());
  bench.device->advance(FbcBench::kQuarterFrame);
  EXPECT_FALSE(bench.compressed_line(2).empty());
  bench.write(FbcBench::kTag, 0x5555'5555);  // not marked
  EXPECT_TRUE(bench.compressed_line(2).empty());
  bench.write(FbcBench::kTag, 0xffff'ffff);
  EXPECT_FALSE(bench.compressed_line(2).empty());
  bench.write(FbcBench::kControl, 0);  // not enabled
  bench.write(FbcBench::kStatus, FbcBench::kCompressed);
  EXPECT_TRUE(bench.compressed_line(2).empty());
}

}  // namespace
}  // namespace halogen::display::fbc_test
