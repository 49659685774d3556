// The display plane compressor of GM45 through the device: registers, frames, and the source of each fetched line.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/dpfc_bench.h"

namespace halogen::display::fbc_test {
namespace {

TEST(DpfcRegisters, RegistersAreAtTheManualsOffsets) {
  COVERS("G45-7.0-01");
  COVERS("G45-7.2.5-01");
  COVERS("G45-7.2.1-01");
  COVERS("G45-7.2.6-01");
  device::MemoryBench bench("gm45", {.stolen_base = CompressionBench::kStolen});
  struct Row {
    uint32_t offset, writable;
  };
  constexpr uint32_t kControlBits = 0xefff'86ff;
  const Row rows[] = {{0x3200, 0x0fff'f000}, {0x3208, kControlBits & ~DpfcBench::kEnable},
                      {0x320c, 0x0fff'003f}, {0x3210, 0},
                      {0x3214, 0},           {0x3218, 0x003f'ffff},
                      {0x3220, 0},           {0x3224, 0x8000'0000}};
  for (const Row& row : rows) {
    EXPECT_EQ(bench.read(row.offset), 0u) << std::hex << row.offset;
    bench.write(row.offset, ~DpfcBench::kEnable | (row.offset == 0x3208 ? 0 : DpfcBench::kEnable));
    EXPECT_EQ(bench.read(row.offset), row.writable) << std::hex << row.offset;
    bench.write(row.offset, 0);
    EXPECT_EQ(bench.read(row.offset), 0u) << std::hex << row.offset;
  }
  // Reserved offsets are unclaimed.
  for (const uint32_t offset : {0x3204u, 0x3300u, 0x33c0u}) {
    bench.host.log.clear();
    bench.write(offset, 0xffff'ffff);
    EXPECT_EQ(bench.read(offset), 0u);
    EXPECT_EQ(bench.events(EventKind::unclaimed_register), 2u) << std::hex << offset;
  }
  // While it is enabled, base, fence offset and most control bits do not change.
  bench.write(0x3200, 0x5000);
  bench.write(0x3218, 77);
  bench.write(0x3208, 0x8000'0040);
  bench.host.log.clear();
  bench.write(0x3200, 0x6000);
  bench.write(0x3218, 78);
  bench.write(0x3208, 0x8000'0080);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 3u);
  EXPECT_EQ(bench.read(0x3200), 0x5000u);
  EXPECT_EQ(bench.read(0x3218), 77u);
  EXPECT_EQ(bench.read(0x3208), 0x8000'0040u);
  bench.write(0x3208, 0x0000'0040);
  bench.write(0x3200, 0x6000);
  EXPECT_EQ(bench.read(0x3200), 0x6000u);
}

// Only bit 31 and the fence may change (7.1.2.3).
TEST(DpfcRegisters, ControlKeepsItsModesWhileEnabled) {
  COVERS("G45-7.2.2-08");
  device::MemoryBench bench("gm45");
  bench.write(0x3208, 0x8000'0000);
  for (unsigned bit = 0; bit < 31; ++bit) {
    bench.write(0x3208, 0x8000'0000 | 1u << bit);
    const bool free = bit == 29 || bit < 4;
    EXPECT_EQ(bench.read(0x3208), 0x8000'0000 | (free ? 1u << bit : 0)) << bit;
    bench.write(0x3208, 0x8000'0000);
  }
  bench.write(0x3208, 0);
  EXPECT_EQ(bench.read(0x3208), 0u);
}

// The watermark changes only when compressed data are written, never which.
TEST(DpfcRegisters, WatermarkAndFenceNumberAreTwoFields) {
  COVERS("G45-7.2.2-07");
  std::vector<std::vector<uint32_t>> lengths;
  for (const uint32_t watermark : {0u, 1u, 2u, 3u}) {
    DpfcBench bench;
    bench.fill_desktop(9);
    bench.enable(watermark << 4);
    EXPECT_EQ(bench.read(0x3208) >> 4 & 3, watermark);
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), watermark < 2 ? 0u : 1u) << "reserved codes";
    lengths.push_back(bench.slb());
    EXPECT_EQ(bench.compressed_line(100), bench.pixels(100));
  }
  EXPECT_EQ(lengths[0], lengths[1]);
  // Writes through the fence of that number, and through no other, make lines modified.
  for (const uint32_t number : {0u, 3u, 15u}) {
    DpfcBench bench;
    bench.write(0x3000 + 8 * DpfcBench::kFenceNumber, 0);
    bench.set_fence(number, DpfcBench::kFence, (DpfcBench::kFence >> 12) + DpfcBench::kRegionPages - 1,
                    bench.screen.pitch_B, false);
    bench.fill_desktop(9);
    bench.enable(number ^ DpfcBench::kFenceNumber);
    ASSERT_EQ(bench.read(0x3208) & 15, DpfcBench::kFenceNumber | (number ^ DpfcBench::kFenceNumber));
    bench.write(0x3208, (bench.read(0x3208) & ~15u) | number);
    EXPECT_EQ(bench.compressed_lines(), 480u);
    bench.cpu_write(0, 31, 7);
    EXPECT_EQ(bench.compressed_lines(), 479u) << number;
    bench.write(0x3208, (bench.read(0x3208) & ~15u) | (number ^ 1));
    bench.cpu_write(0, 32, 7);
    EXPECT_EQ(bench.compressed_lines(), 479u) << "another fence";
  }
}

struct Shape {
  Screen screen;
  uint32_t limit;
  uint32_t stride_B;  // stride of the compressed buffer
};
const std::vector<Shape> kShapes = {
    {{}, 0, 4096},
    {{}, DpfcBench::kHalf, 2048},
    {{}, DpfcBench::kQuarter, 1024},
    {{.width = 1400, .lines = 1050, .pitch_B = 6144, .x = 5, .y = 9, .plane = 1}, DpfcBench::kQuarter, 1536},
    // 16-bit pixels count double, so half the size equals the surface.
    {{.pitch_B = 2048, .format = 5}, DpfcBench::kHalf, 2048},
    {{.pitch_B = 2048, .format = 4, .y = 3}, DpfcBench::kQuarter, 1024},
};
class DpfcShapes : public testing::TestWithParam<Shape> {};
std::string shape_name(const testing::TestParamInfo<Shape>& info) {
  return "shape" + std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(All, DpfcShapes, testing::ValuesIn(kShapes), shape_name);

TEST_P(DpfcShapes, ScreensAreCompressedAndShown) {
  COVERS("G45-7.2.2-05");
  const auto& [screen, limit, stride] = GetParam();
  DpfcBench bench(screen);
  bench.fill_desktop(21);
  for (uint32_t line = 100; line < 110; ++line) {
    bench.fill_noise(line, line);
  }
  const uint32_t lines = bench.screen.lines;
  bench.write(DpfcBench::kControl, bench.control(limit));
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.compressed_lines(), 0u) << "nothing before the vertical blank";
  bench.next_vblank();
  EXPECT_EQ(bench.compressed_lines(), 0u);
  bench.next_vblank();
  const std::vector<uint32_t> slb = bench.slb();
  EXPECT_EQ(bench.fetched(), 0u) << "the first frame came from the surface";
  unsigned good = 0;
  for (uint32_t line = 0; line < lines; ++line) {
    if (slb[line] == 0) {
      EXPECT_TRUE(line >= 100 && line < 110) << line;
      EXPECT_TRUE(bench.compressed_line(line).empty());
      continue;
    }
    ++good;
    EXPECT_LE(slb[line] * 64, stride);
    const std::vector<std::byte> code =
        bench.stolen(DpfcBench::kStolen + DpfcBench::kOffset + uint64_t{line} * stride, size_t{slb[line]} * 64);
    const SlowLine slow = slow_decode(code, bench.screen.width, bench.screen.bytes());
    ASSERT_TRUE(slow.ok) << line;
    ASSERT_EQ(slow.pixels, bench.pixels(line)) << line;
    ASSERT_EQ(bench.compressed_line(line), slow.pixels) << line;
  }
  EXPECT_EQ(good, limit == DpfcBench::kQuarter ? lines - 10 : good);
  bench.next_vblank();
  EXPECT_EQ(bench.fetched(), good);
  EXPECT_EQ(bench.invalidated(), 0u);
  EXPECT_EQ(bench.events(), 0u);
}

// The buffer holds the active lines. 16-bit pixels count as 32 bits, so half the size equals the surface.
TEST(Dpfc, CompressionLimitGivesTheSizeOfTheBuffer) {
  COVERS("G45-7.1.1-03");
  COVERS("G45-7.2.2-06");
  const uint64_t stolen = 0x200'0000;
  struct Row {
    uint32_t format, limit, divisor;
  };
  constexpr Row kRows[] = {{6, 0, 1},
                           {6, DpfcBench::kHalf, 2},
                           {6, DpfcBench::kQuarter, 4},
                           {5, DpfcBench::kHalf, 1},
                           {5, DpfcBench::kQuarter, 2}};
  for (const auto& [format, limit, divisor] : kRows) {
    const uint64_t bytes = uint64_t{4096} / divisor * 480;
    const uint64_t last = (stolen - bytes) & ~uint64_t{0xfff};
    for (const bool fits : {true, false}) {
      DpfcBench bench({.format = format});
      bench.write(DpfcBench::kBase, static_cast<uint32_t>(last + (fits ? 0 : 0x1000)));
      bench.enable(limit);
      EXPECT_EQ(bench.compressed_lines(), fits ? 480u : 0u);
      EXPECT_EQ(bench.events(EventKind::undefined_behaviour), fits ? 0u : 1u);
    }
  }
}

TEST(Dpfc, EnableAndDisableTakeEffectAtVerticalBlanks) {
  COVERS("G45-7.2.2-01");
  DpfcBench bench;
  bench.enable();
  bench.next_vblank();
  EXPECT_EQ(bench.fetched(), 480u);
  bench.device->advance(1'000'000);
  bench.write(DpfcBench::kControl, bench.control(0) & ~DpfcBench::kEnable);
  EXPECT_FALSE(bench.compressed_line(5).empty()) << "still enabled until the vertical blank";
  bench.next_vblank();
  EXPECT_TRUE(bench.compressed_line(5).empty());
  EXPECT_EQ(bench.read(DpfcBench::kStatus), 0u);
  bench.vblanks(2);
  EXPECT_EQ(bench.read(DpfcBench::kStatus), 0u);
  // Plane B can be compressed too.
  DpfcBench second({.plane = 1});
  second.enable();
  EXPECT_EQ(second.compressed_lines(), 480u);
  second.engine_write(second.surface, 3, 1);
  EXPECT_EQ(second.compressed_lines(), 479u);
  // Without the fence CPU writes are not tracked.
  second.cpu_write(0, 9, 1);
  EXPECT_EQ(second.compressed_lines(), 478u);
  second.write(DpfcBench::kControl, second.control(0) & ~DpfcBench::kFenceEnable);
  second.cpu_write(0, 19, 1);
  EXPECT_EQ(second.compressed_lines(), 478u);
  // Test bits: if only raw pixels are allowed, no line gets shorter.
  DpfcBench raw;
  raw.fill_desktop(1);
  raw.enable(0x1ffu << 16);
  EXPECT_EQ(raw.compressed_lines(), 480u) << "the buffer has room after the pixels";
  DpfcBench tight({.pitch_B = 2560});
  tight.enable(0x1ffu << 16);
  EXPECT_EQ(tight.compressed_lines(), 0u);
}

TEST(Dpfc, LineDataIsReadTwoLinesAtATime) {
  COVERS("G45-7.2.7-01");
  DpfcBench bench;
  bench.fill_noise(1, 1);
  bench.fill_noise(4, 2);
  bench.enable(DpfcBench::kQuarter);
  bench.write(DpfcBench::kSlbData, 0xffff'ffff);
  const uint32_t first = bench.read(DpfcBench::kSlbData);
  const uint32_t second = bench.read(DpfcBench::kSlbData);
  const uint32_t third = bench.read(DpfcBench::kSlbData);
  EXPECT_NE(first & 0x3ff, 0u);
  EXPECT_EQ(first >> 16, 0u) << "line 1";
  EXPECT_NE(second & 0x3ff, 0u);
  EXPECT_NE(second >> 16 & 0x3ff, 0u);
  EXPECT_EQ(third & 0xffff, 0u) << "line 4";
  EXPECT_NE(third >> 16 & 0x3ff, 0u);
  bench.write(DpfcBench::kSlbData, 0);
  EXPECT_EQ(bench.read(DpfcBench::kSlbData), first);
  // The read pointer is part of a snapshot.
  const device::DeviceState state = bench.device->snapshot();
  EXPECT_EQ(bench.read(DpfcBench::kSlbData), second);
  bench.device->restore(state);
  EXPECT_EQ(bench.read(DpfcBench::kSlbData), second);
}

TEST(Dpfc, LineDataIsClearedWhenItStarts) {
  COVERS("G45-7.2.2-04");
  for (const bool keep : {false, true}) {
    DpfcBench bench;
    bench.fill_line(7, 0x111111);
    bench.enable();
    bench.write(DpfcBench::kControl, 0);
    bench.next_vblank();
    bench.write(DpfcBench::kControl, bench.control(keep ? DpfcBench::kKeepSlb : 0));
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), keep ? 480u : 0u);
    bench.next_vblank();
    EXPECT_EQ(bench.fetched(), keep ? 480u : 0u);
    // The self refresh bits are stored and have no visible effect.
    bench.write(DpfcBench::kControl, 0);
    bench.next_vblank();
    bench.write(DpfcBench::kControl, 0x600);
    EXPECT_EQ(bench.read(DpfcBench::kControl) & 0x600u, 0x600u);
    bench.enable(0x600);
    EXPECT_EQ(bench.compressed_lines(), 480u);
  }
}

TEST(Dpfc, StatusCountsThePreviousFrame) {
  COVERS("G45-7.2.4-01");
  COVERS("G45-7.2.9-02");
  DpfcBench bench;
  bench.fill_noise(30, 1);
  bench.enable(DpfcBench::kQuarter);
  bench.next_vblank();
  EXPECT_EQ(bench.read(DpfcBench::kStatus), 479u);
  bench.engine_write(bench.surface, 100, 7);
  bench.cpu_write(0, 103, 5);
  bench.cpu_write(0, 200, 5);
  EXPECT_EQ(bench.read(DpfcBench::kStatus), 479u) << "not before the vertical blank";
  bench.next_vblank();
  EXPECT_EQ(bench.read(DpfcBench::kStatus), 8u << 16 | 471u);
  bench.next_vblank();
  EXPECT_EQ(bench.read(DpfcBench::kStatus), 479u);
  bench.write(DpfcBench::kStatus, 0xffff'ffff);
  EXPECT_EQ(bench.read(DpfcBench::kStatus), 479u) << "read only";
}

// Lines that the beam has passed are compressed with the next frame.
TEST(Dpfc, WrittenLinesAreNeverShownFromTheBuffer) {
  DpfcBench bench;
  bench.fill_desktop(1);
  bench.enable();
  bench.device->advance(1'500'000 + 16'666'667 / 2);  // the blank, and half the screen
  const unsigned line = bench.device->display().line(0);
  ASSERT_GT(line, 100u);
  ASSERT_LT(line, 400u);
  bench.cpu_write(0, 50, 0x111);
  bench.cpu_write(0, 450, 0x222);
  EXPECT_EQ(bench.slb()[50], 0u);
  EXPECT_EQ(bench.slb()[450], 0u);
  const device::DeviceState middle = bench.device->snapshot();
  bench.next_vblank();
  EXPECT_EQ(bench.slb()[50], 0u) << "the beam was past the line";
  EXPECT_NE(bench.slb()[450], 0u);
  EXPECT_EQ(bench.compressed_line(450)[0], 0x222u);
  bench.next_vblank();
  EXPECT_EQ(bench.compressed_line(50)[0], 0x111u);
  const device::DeviceState end = bench.device->snapshot();
  bench.device->restore(middle);
  bench.vblanks(2);
  bench.slb();
  device::DeviceState again = bench.device->snapshot();
  again.display.dpfc.slb_line = end.display.dpfc.slb_line;
  EXPECT_EQ(again, end);
}

TEST(Dpfc, StallsWhileTooManyLinesChange) {
  COVERS("G45-7.2.3-01");
  for (const uint32_t timer : {0u, 3u}) {
    SCOPED_TRACE(timer);
    DpfcBench bench;
    bench.write(DpfcBench::kRecompression, 1u << 27 | 10u << 16 | timer);
    bench.enable();
    bench.engine_write(bench.surface, 0, 9);
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), 480u) << "below the watermark: recompressed in the same frame";
    EXPECT_EQ(bench.read(DpfcBench::kDebug), 0u);
    bench.engine_write(bench.surface, 0, 10);
    bench.next_vblank();
    EXPECT_EQ(bench.read(DpfcBench::kDebug), 1u << 6) << "tripped";
    bench.engine_write(bench.surface, 20, 30);
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), 450u) << "stopped; existing compressed lines are still used";
    EXPECT_EQ(bench.fetched(), 450u);
    bench.next_vblank();  // a frame below the watermark
    EXPECT_EQ(bench.compressed_lines(), 450u);
    for (uint32_t frame = 0; frame < timer; ++frame) {
      bench.next_vblank();
      EXPECT_EQ(bench.compressed_lines(), 450u) << "frame " << frame;
    }
    bench.next_vblank();
    EXPECT_EQ(bench.compressed_lines(), 480u);
  }
  // Stall disabled: it does not stop.
  DpfcBench bench;
  bench.write(DpfcBench::kRecompression, 1u << 16);
  bench.enable();
  bench.engine_write(bench.surface, 0, 480);
  bench.next_vblank();
  EXPECT_EQ(bench.compressed_lines(), 480u);
  EXPECT_EQ(bench.read(DpfcBench::kDebug), 0u);
}

TEST(Dpfc, DoesNotCompressForbiddenConfigurations) {
  COVERS("G45-7.1.1-04");
  struct Case {
    Screen screen;
    uint32_t flags;
    bool taken;
  };
  const Case cases[] = {
      {{.format = 6}, 0, true},
      {{.format = 6}, DpfcBench::kHalf, true},
      {{.format = 6}, DpfcBench::kQuarter, true},
      {{.format = 5}, 0, false},
      {{.format = 5}, DpfcBench::kHalf, true},
      {{.format = 5}, DpfcBench::kQuarter, true},
      {{.format = 4}, 0, false},
      {{.format = 4}, DpfcBench::kHalf, true},
      {{.format = 6}, 3u << 6, false},
      {{.format = 2}, DpfcBench::kHalf, false},
      {{.format = 12}, DpfcBench::kHalf, false},
      {{.lines = 2048}, 0, true},
      {{.lines = 2050}, 0, false},
      {{.width = 4096, .pitch_B = 16384}, 0, true},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(testing::Message() << one.screen.format << " " << one.flags << " " << one.screen.lines);
    DpfcBench bench(one.screen);
    bench.enable(one.flags);
    bench.vblanks(2);
    EXPECT_EQ(bench.compressed_lines(), one.taken ? one.screen.lines : 0u);
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), one.taken ? 0u : 1u);
  }
  DpfcBench linear;
  linear.write_plane(linear.control_bits() & ~DpfcBench::kTiled, static_cast<uint32_t>(linear.surface));
  linear.next_vblank();
  linear.enable();
  EXPECT_EQ(linear.compressed_lines(), 0u);
  // Rotation is allowed: the surface is read backwards from its start.
  DpfcBench rotated({.x = 639, .y = 479});
  rotated.screen.x = 0;
  rotated.screen.y = 0;
  rotated.fill_desktop(5);
  rotated.screen.x = 639;
  rotated.screen.y = 479;
  rotated.write_plane(rotated.control_bits() | 1u << 15, static_cast<uint32_t>(rotated.surface));
  rotated.next_vblank();
  rotated.enable();
  EXPECT_EQ(rotated.compressed_lines(), 480u);
  rotated.screen.x = 0;
  rotated.screen.y = 0;
  EXPECT_EQ(rotated.compressed_line(3), rotated.pixels(476));
  rotated.cpu_write(0, 476, 1);
  EXPECT_EQ(rotated.slb()[3], 0u);
}

}  // namespace
}  // namespace halogen::display::fbc_test
