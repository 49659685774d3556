// XY_BLOCK_COPY_BLT and XY_FAST_COLOR_BLT of Gen12: every pixel size between linear and tile Y surfaces, with offsets.
// Expected bytes come from formulas in this file.
#include <cstring>
#include <random>

#include "blit_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kPages = 96;
constexpr uint64_t kBytes = kPages * 4096;
constexpr unsigned kPixelBytes[] = {1, 2, 4, 8, 12, 16};  // by the depth field

struct Side {
  bool tiled = false;
  uint64_t base = 0;   // from the start of the area
  uint64_t pitch = 0;  // bytes

  uint64_t place(uint64_t x_B, uint64_t y) const {
    return base + (tiled ? device::y_tiled(x_B, y, pitch) : y * pitch + x_B);
  }
  // Tiling in bits 31:30, MOCS in 27:21, pitch minus one in dwords or bytes.
  uint32_t control(uint32_t mocs) const {
    return (tiled ? 1u << 30 : 0u) | mocs << 21 | static_cast<uint32_t>((tiled ? pitch / 4 : pitch) - 1);
  }
};

class Gen12Copy : public ::testing::TestWithParam<std::string> {
 protected:
  Gen12Copy() : area(bench.allocate(kPages)), expected(kBytes) {
    for (uint8_t& byte : expected) byte = static_cast<uint8_t>(random());
    for (uint64_t page = 0; page < kPages; ++page) std::memcpy(view(page).data(), &expected[page * 4096], 4096);
  }
  unsigned below(unsigned end) { return static_cast<unsigned>(random() % end); }
  std::span<std::byte> view(uint64_t page) {
    return bench.host.map_memory(PhysAddr{EngineBench::host_address(area + page * 4096)}, 4096);
  }
  // Returns whether every byte of the area has its expected value.
  ::testing::AssertionResult same() {
    for (uint64_t page = 0; page < kPages; ++page) {
      for (uint64_t i = 0; i < 4096; ++i) {
        if (static_cast<uint8_t>(view(page)[i]) != expected[page * 4096 + i]) {
          return ::testing::AssertionFailure() << "byte " << page * 4096 + i;
        }
      }
    }
    return ::testing::AssertionSuccess();
  }
  Side side(uint64_t base, bool tiled) { return {tiled, base, tiled ? 128u * (2 + below(3)) : 400 + 4 * below(40)}; }
  // Returns the header and the dwords that both commands share.
  Dwords target(const Side& to, Box box, int dx, int dy) {
    return Dwords{to.control(below(128)), pack_yx(box.y1, box.x1), pack_yx(box.y2, box.x2)} + bench.at(area + to.base) +
           Dwords{below(2) << 31 | pack_yx(dy, dx)};
  }

  BlitBench bench{GetParam()};
  std::mt19937 random{12};
  uint64_t area;
  std::vector<uint8_t> expected;
};

TEST_P(Gen12Copy, BlockCopyWorksInEveryPixelSizeAndTiling) {
  for (unsigned round = 0; round < 120; ++round) {
    const unsigned depth = round % 6;
    const uint64_t pixel = kPixelBytes[depth];
    const bool wide_pixel = pixel == 12;  // linear surfaces only
    const Side from = side(0, !wide_pixel && (round / 6 & 1) != 0);
    const Side to = side(kBytes / 2, !wide_pixel && (round / 12 & 1) != 0);
    // In bytes: a width of at most 240 at an offset of at most 120.
    const auto limit = [&](unsigned bytes) { return static_cast<int>(bytes / pixel); };
    const int width = static_cast<int>(1 + below(static_cast<unsigned>(limit(100) + 1)));
    const int height = static_cast<int>(1 + below(40));
    const int x = static_cast<int>(below(static_cast<unsigned>(limit(50) + 1)));
    const int y = static_cast<int>(below(20));
    const int sx = static_cast<int>(below(static_cast<unsigned>(limit(50) + 1)));
    const int sy = static_cast<int>(below(20));
    const int dx = static_cast<int>(below(static_cast<unsigned>(limit(60) + 1)));
    const int dy = static_cast<int>(below(30));
    const int sdx = static_cast<int>(below(static_cast<unsigned>(limit(60) + 1)));
    const int sdy = static_cast<int>(below(30));
    bench.run_commands(BlitBench::with_header(
        0x41, depth << 19,
        target(to, {x, y, x + width, y + height}, dx, dy) + Dwords{pack_yx(sy, sx), from.control(below(128))} +
            bench.at(area + from.base) + Dwords{below(2) << 31 | pack_yx(sdy, sdx)}));
    const std::vector<uint8_t> before = expected;
    for (uint64_t line = 0; line < static_cast<uint64_t>(height); ++line) {
      for (uint64_t i = 0; i < static_cast<uint64_t>(width) * pixel; ++i) {
        expected[to.place(static_cast<uint64_t>(x + dx) * pixel + i, static_cast<uint64_t>(y + dy) + line)] =
            before[from.place(static_cast<uint64_t>(sx + sdx) * pixel + i, static_cast<uint64_t>(sy + sdy) + line)];
      }
    }
    ASSERT_TRUE(same()) << "round " << round;
  }
  EXPECT_EQ(bench.host.log.events().size(), 0u);
}

// XY_FAST_COLOR_BLT has 11 dwords, or 12 with the upper half of the clear address, which is ignored.
TEST_P(Gen12Copy, FastColorWorksInEveryPixelSizeAndTiling) {
  for (unsigned round = 0; round < 96; ++round) {
    const unsigned depth = round % 6;
    const uint64_t pixel = kPixelBytes[depth];
    const Side to = side(4096 * below(20), pixel != 12 && (round / 6 & 1) != 0);
    const int width = static_cast<int>(1 + below(static_cast<unsigned>(100 / pixel + 1)));
    const int height = static_cast<int>(1 + below(40));
    const int x = static_cast<int>(below(static_cast<unsigned>(60 / pixel + 1)));
    const int y = static_cast<int>(below(30));
    const int dx = static_cast<int>(below(static_cast<unsigned>(60 / pixel + 1)));
    const int dy = static_cast<int>(below(30));
    uint8_t color[16];
    Dwords fill(4);
    for (uint32_t& dword : fill) dword = static_cast<uint32_t>(random());
    std::memcpy(color, fill.data(), sizeof color);
    if ((round / 12 & 1) != 0) fill.push_back(0);
    bench.run_commands(
        BlitBench::with_header(0x44, depth << 19, target(to, {x, y, x + width, y + height}, dx, dy) + fill));
    for (uint64_t line = 0; line < static_cast<uint64_t>(height); ++line) {
      for (uint64_t i = 0; i < static_cast<uint64_t>(width) * pixel; ++i) {
        expected[to.place(static_cast<uint64_t>(x + dx) * pixel + i, static_cast<uint64_t>(y + dy) + line)] =
            color[i % pixel];
      }
    }
    ASSERT_TRUE(same()) << "round " << round;
  }
  EXPECT_EQ(bench.host.log.events().size(), 0u);
}

// The pitch has 18 bits and is unsigned.
TEST_P(Gen12Copy, LongestPitchIsUsed) {
  const uint64_t far = bench.allocate(65);
  bench.run_commands(BlitBench::with_header(
      0x44, 2u << 19,
      Dwords{0x3'ffff, pack_yx(0, 1), pack_yx(2, 2)} + bench.at(far) + Dwords{0, 0x1234'5678, 0, 0, 0}));
  EXPECT_EQ(bench.peek(far + 4), 0x1234'5678u);
  EXPECT_EQ(bench.peek(far + 0x4'0004), 0x1234'5678u);
  EXPECT_EQ(bench.peek(far + 8), 0u);
  bench.run_commands(BlitBench::with_header(0x41, 2u << 19,
                                            Dwords{63, pack_yx(0, 0), pack_yx(2, 1)} + bench.at(far + 4096) +
                                                Dwords{0, pack_yx(0, 1), 0x3'ffff} + bench.at(far) + Dwords{0}));
  EXPECT_EQ(bench.peek(far + 4096), 0x1234'5678u);
  EXPECT_EQ(bench.peek(far + 4096 + 64), 0x1234'5678u);
}

// Reserved pixel sizes and empty rectangles draw nothing; negative coordinates draw the part that lies on the surface.
TEST_P(Gen12Copy, InvalidRectanglesAndTileModesAreHandled) {
  const Side to{false, 0x4000, 512};
  for (const uint32_t depth : {6u, 7u}) {
    bench.run_commands(BlitBench::with_header(0x44, depth << 19, target(to, {0, 0, 8, 8}, 0, 0) + Dwords{1, 2, 3, 4}));
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), depth - 5);
  }
  ASSERT_TRUE(same());
  for (const Box box : {Box{4, 4, 4, 8}, Box{4, 4, 8, 4}, Box{8, 8, 4, 4}}) {
    bench.run_commands(BlitBench::with_header(0x44, 2u << 19, target(to, box, 0, 0) + Dwords{1, 2, 3, 4}));
  }
  ASSERT_TRUE(same());
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 2u);
  bench.run_commands(BlitBench::with_header(0x44, 0, target(to, {-4, -4, 2, 2}, 0, 0) + Dwords{0x5a, 0, 0, 0}));
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 3u);
  for (uint64_t y = 0; y < 2; ++y) {
    for (uint64_t x = 0; x < 2; ++x) expected[to.place(x, y)] = 0x5a;
  }
  EXPECT_TRUE(same());
  // Tile modes 2 and 3 are reserved here: they are reported and drawn as tile Y, in both commands and for both
  // surfaces.
  const Side tiled{true, 0x8000, 512};
  const Side source{false, 0x1'0000, 512};
  size_t reported = 3;
  for (const uint32_t mode : {2u, 3u}) {
    const auto with_mode = [&](Dwords rest, size_t dword) {
      rest[dword] = (rest[dword] & 0x3fff'ffff) | mode << 30;
      return rest;
    };
    const Dwords box = target(tiled, {0, 0, 8, 8}, 0, 0);
    bench.run_commands(BlitBench::with_header(0x44, 0, with_mode(box + Dwords{0x60 + mode, 0, 0, 0}, 0)));
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), ++reported);
    for (uint64_t y = 0; y < 8; ++y) {
      for (uint64_t x = 0; x < 8; ++x) expected[tiled.place(x, y)] = static_cast<uint8_t>(0x60 + mode);
    }
    ASSERT_TRUE(same());
    const Dwords from = Dwords{0, source.control(0)} + bench.at(area + source.base) + Dwords{0};
    bench.run_commands(BlitBench::with_header(0x41, 0, with_mode(box + from, 0)));
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), ++reported);
    for (uint64_t y = 0; y < 8; ++y) {
      for (uint64_t x = 0; x < 8; ++x) expected[tiled.place(x, y)] = expected[source.place(x, y)];
    }
    ASSERT_TRUE(same());
    const Dwords from_tiles = Dwords{0, tiled.control(0)} + bench.at(area + tiled.base) + Dwords{0};
    bench.run_commands(
        BlitBench::with_header(0x41, 0, with_mode(target(to, {0, 0, 8, 8}, 0, 0) + from_tiles, box.size() + 1)));
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), ++reported);
    for (uint64_t y = 0; y < 8; ++y) {
      for (uint64_t x = 0; x < 8; ++x) expected[to.place(x, y)] = expected[tiled.place(x, y)];
    }
    ASSERT_TRUE(same());
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, Gen12Copy, ::testing::Values("tgl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen
