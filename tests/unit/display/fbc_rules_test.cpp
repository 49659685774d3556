// Configurations that GM965's compressor does not support, the location of its buffers, and hostile guests.
#include <gtest/gtest.h>

#include <functional>

#include "covers.h"
#include "unit/display/fbc_bench.h"

namespace halogen::display::fbc_test {
namespace {

// Checks that the picture is not compressed or read from the buffer, and that one Event reports it.
void expect_refused(Screen screen, const std::function<void(FbcBench&)>& change = {}, uint32_t stride = 1024) {
  FbcBench bench(screen);
  if (change) {
    change(bench);
  }
  bench.next_vblank();
  bench.host.log.clear();
  bench.enable(stride);
  bench.pass();
  bench.vblanks(3);
  EXPECT_EQ(bench.status() & (FbcBench::kCompressing | FbcBench::kCompressed), 0u);
  EXPECT_EQ(bench.count_tags(kTagCompressed), 0u);
  EXPECT_TRUE(bench.compressed_line(0).empty());
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
}

void expect_taken(Screen screen, uint32_t stride = 1024) {
  FbcBench bench(screen);
  bench.host.log.clear();
  bench.enable(stride);
  bench.pass();
  EXPECT_EQ(bench.count_tags(kTagCompressed), bench.tags());
  EXPECT_EQ(bench.events(), 0u);
}

TEST(FbcRules, DoubledLinesAreNotCompressed) {
  expect_refused({}, [](FbcBench& bench) {
    bench.write_plane(bench.control_bits() | 1u << 20, static_cast<uint32_t>(bench.surface));
  });
}

TEST(FbcRules, Only15And16And32BitFormatsWithoutAlphaAreCompressed) {
  COVERS("G45-6.4-04");
  for (const uint32_t format : {4u, 5u, 6u}) {
    expect_taken({.format = format});
  }
  for (const uint32_t format : {2u, 8u, 10u, 12u, 14u}) {
    SCOPED_TRACE(format);
    expect_refused({.format = format});
  }
}

TEST(FbcRules, OnlyTiledSurfacesWithAPitchOf2To16KBAreCompressed) {
  COVERS("G45-6.4-05");
  expect_taken({.pitch_B = 2048, .format = 5});
  expect_taken({.pitch_B = 2560});
  expect_taken({.pitch_B = 16384});
  const auto pitch = [](uint32_t bytes) {
    return [bytes](FbcBench& bench) {
      bench.write(0x70188, bytes);
      bench.write(0x7019c, static_cast<uint32_t>(bench.surface));
    };
  };
  for (const uint32_t bytes : {1536u, 2048u + 256, 4096u + 64, 16384u + 512, 0u, 0xffff'fe00u}) {
    SCOPED_TRACE(bytes);
    expect_refused({}, pitch(bytes), 64);
  }
  expect_refused({}, [](FbcBench& bench) {
    bench.write_plane(bench.control_bits() & ~FbcBench::kTiled, static_cast<uint32_t>(bench.surface));
  });
}

TEST(FbcRules, WidthAndHeightAreLimited) {
  COVERS("G45-6.4-06");
  expect_taken({.width = 640, .lines = 480});
  expect_taken({.width = 2048, .lines = 1536, .pitch_B = 8192});
  for (const uint32_t width : {632u, 644u, 2056u, 4096u}) {
    SCOPED_TRACE(width);
    expect_refused({.width = width, .pitch_B = 16384});
  }
  for (const uint32_t lines : {478u, 481u, 1538u, 4000u}) {
    SCOPED_TRACE(lines);
    expect_refused({.lines = lines});
  }
}

TEST(FbcRules, OnlyProgressiveUprightScreensWithoutAsynchronousFlipsAreCompressed) {
  COVERS("G45-6.4-07");
  expect_refused({}, [](FbcBench& bench) { bench.write(0x70008, 0x8000'0000 | 6u << 21); });
  expect_refused({}, [](FbcBench& bench) {
    bench.write_plane(bench.control_bits() | 1u << 15, static_cast<uint32_t>(bench.surface));
  });
  FbcBench bench;
  bench.enable();
  bench.pass();
  bench.host.log.clear();
  bench.device->display().flip({.plane = 0, .async = true, .base = static_cast<uint32_t>(bench.surface) + 0x40'0000});
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u);
  EXPECT_EQ(bench.count_tags(kTagModified), 240u) << "no line of the old picture is shown";
  // There is no mode of double width: bit 30 of the pipe's configuration, which had it on earlier chips, is its state.
  FbcBench wide;
  const uint32_t configuration = wide.read(0x70008);
  wide.write(0x70008, configuration ^ 1u << 30);
  EXPECT_EQ(wide.read(0x70008), configuration);
}

TEST(FbcRules, CompressedLinesMustNotExceedTheStride) {
  COVERS("G45-6.4-08");
  expect_taken({.pitch_B = 2560}, 2560);
  expect_refused({.pitch_B = 2560}, {}, 2624);
}

TEST(FbcRules, BuffersMustBeInStolenMemory) {
  COVERS("G45-6.4-10");
  COVERS("G45-6.6-05");
  struct Place {
    uint64_t buffer, lengths;
    bool fits;
  };
  const uint64_t end = FbcBench::kStolen + 0x80'0000;
  const Place places[] = {
      {FbcBench::kStolen, FbcBench::kStolen + 0x10'0000, true},
      {end - 480 * 1024, end - 0x10'0000, true},
      {end - 480 * 1024 + 4096, FbcBench::kStolen, false},
      {FbcBench::kStolen - 4096, FbcBench::kStolen + 0x10'0000, false},
      {FbcBench::kBuffers, FbcBench::kStolen, false},
      {FbcBench::kStolen, FbcBench::kBuffers, false},
      {FbcBench::kStolen, end, false},
      {0xffff'f000, FbcBench::kStolen, false},
  };
  for (const Place& place : places) {
    SCOPED_TRACE(testing::Message() << std::hex << place.buffer << " " << place.lengths);
    FbcBench bench;
    bench.fill_noise(479, 3);
    bench.fill_noise(478, 3);
    bench.write(FbcBench::kCfbBase, static_cast<uint32_t>(place.buffer));
    bench.write(FbcBench::kLlBase, static_cast<uint32_t>(place.lengths));
    // Noise does not fit into 1024 bytes, so the last pair stays uncompressed. Then the stride is long enough.
    bench.enable(place.fits ? 1024 : 4096);
    bench.pass();
    EXPECT_EQ(bench.status() & ~0x7ffu, place.fits ? FbcBench::kCompressed : FbcBench::kModified);
    EXPECT_EQ(bench.count_tags(kTagModified), place.fits ? 0u : 240u) << "invalid as a whole";
    EXPECT_EQ(bench.compressed_line(0).empty(), !place.fits);
    EXPECT_EQ(bench.host.value_at<uint32_t>(FbcBench::kBuffers), 0u) << "nothing is written elsewhere";
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), place.fits ? 0u : 1u);
  }
  // Without stolen memory there is no valid location.
  device::MemoryBench bare("gm965");
  bare.write(FbcBench::kControl, 0xc000'0000);
  bare.device->advance(100'000'000);
  EXPECT_EQ(bare.read(FbcBench::kStatus) & 0xc000'0000, 0u);
}

// The scan-out side checks too, here after the buffer has moved while it was in use.
TEST(FbcRules, LengthsOutsideStolenMemoryInvalidateTheFrame) {
  FbcBench bench;
  const uint64_t end = FbcBench::kStolen + 0x80'0000;
  bench.write(FbcBench::kCfbBase, static_cast<uint32_t>(end - 480 * 1024));
  bench.enable();
  bench.pass();
  ASSERT_FALSE(bench.compressed_line(479).empty());
  const auto longest = std::byte{255};
  ASSERT_TRUE(bench.device->memory().write_physical(PhysAddr(FbcBench::kLengths + 479), {&longest, 1}));
  EXPECT_TRUE(bench.compressed_line(479).empty());
  EXPECT_EQ(bench.status() & FbcBench::kCompressed, 0u);
  EXPECT_EQ(bench.count_tags(kTagModified), 240u);
}

class FbcGuests : public testing::TestWithParam<std::string_view> {};
std::string guest_name(const testing::TestParamInfo<std::string_view>& info) {
  return std::string(info.param);
}
INSTANTIATE_TEST_SUITE_P(Mobile, FbcGuests, testing::Values("gm965", "gm45"), guest_name);

// Random register writes, steps of time, writes by CPU and engines, and snapshots.
TEST_P(FbcGuests, RandomRegisterWritesDoNotCrash) {
  for (uint32_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(seed);
    CompressionBench bench(GetParam());
    std::mt19937 random(seed);
    const auto value = [&random] {
      return static_cast<uint32_t>(random()) & static_cast<uint32_t>(random() | random());
    };
    const uint32_t plane_registers[] = {0x70180, 0x70188, 0x701a4, 0x7019c, 0x60000, 0x6000c, 0x70008, 0x3028, 0x302c};
    for (int i = 0; i < 600; ++i) {
      switch (random() % 9) {
        case 0:
        case 1:
          bench.write(0x3200 + 4 * (value() % 10), value());
          break;
        case 2:
          bench.write(0x3208, 0xc000'0000 | (value() & 0x1fffu) | 1u << 16);
          break;
        case 3:
          bench.write(0x3300 + 4 * (value() % 49), value());
          break;
        case 4:
          bench.write(plane_registers[random() % std::size(plane_registers)], value());
          break;
        case 5:
          bench.set_mode();
          bench.write_plane(bench.control_bits(), static_cast<uint32_t>(bench.surface));
          bench.write(0x3200, random() % 2 == 0 ? 0x1000 : static_cast<uint32_t>(CompressionBench::kStolen));
          bench.write(0x3204, static_cast<uint32_t>(CompressionBench::kStolen) + 0x70'0000);
          bench.write(0x3208, GetParam() == "gm45" ? 0xa000'0045 : 0xc001'0145);
          break;
        case 6:
          bench.cpu_write(value() % 640, value() % 480, value());
          bench.device->display().on_target_write(GpuVa(random() % 2 == 0 ? bench.surface : value()), value(), value());
          break;
        case 7:
          bench.device->advance(random() % 8 == 0 ? uint64_t{value()} * 100 : random() % 20'000'000);
          break;
        case 8: {
          const device::DeviceState state = bench.device->snapshot();
          bench.device->advance(random() % 3'000'000);
          const device::DeviceState later = bench.device->snapshot();
          const uint64_t passed = later.clock.nanoseconds - state.clock.nanoseconds;
          bench.device->restore(state);
          bench.device->advance(passed);
          ASSERT_EQ(bench.device->snapshot(), later);
          break;
        }
      }
      std::vector<std::byte> line(value() % 20'000);
      bench.compressor().read_line(value() % 3, value() % 3000, line);
      bench.host.log.clear();
    }
  }
}

}  // namespace
}  // namespace halogen::display::fbc_test
