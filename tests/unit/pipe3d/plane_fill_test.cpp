// Filling a rectangle writes the same bytes as storing its pixels one by one, for all tilings, sizes, positions and
// masks.
#include "pixel_world.h"

namespace halogen::pipe3d {
namespace {

TEST(PlaneFill, FillEqualsSinglePixelWrites) {
  PixelWorld filled;
  PixelWorld stored;
  std::mt19937 random(1);
  const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
  constexpr std::array kFormats{hw::SurfaceFormat::R8_UNORM, hw::SurfaceFormat::R16_UNORM,
                                hw::SurfaceFormat::R8G8B8A8_UNORM, hw::SurfaceFormat::R32G32_FLOAT,
                                hw::SurfaceFormat::R32G32B32A32_FLOAT};
  const std::array<const surface::TilePattern*, 3> patterns{&surface::kTileY, &surface::kTileX, nullptr};
  for (unsigned round = 0; round < 300; ++round) {
    if (round % 50 == 0) {
      filled.scramble(round);
      stored.scramble(round);
    }
    message::Surface surface = filled.target(kFormats[below(kFormats.size())], 1 + below(300), 1 + below(150));
    const uint32_t bytes = surface.format->bytes();
    surface.layout.pattern = patterns[below(patterns.size())];
    if (surface.layout.pattern != nullptr) {
      const uint32_t tile = surface.layout.pattern->width_B;
      surface.layout.pitch_B = (surface.width * bytes + 128 * bytes + tile - 1) / tile * tile;
    }
    if (below(3) == 0) {
      surface.x_offset = below(4) * 4;
      surface.y_offset = below(4) * 4;
    }
    const Rectangle rectangle{.x_min = below(2) == 0 ? 0 : static_cast<int32_t>(below(200)) - 20,
                              .y_min = below(2) == 0 ? 0 : static_cast<int32_t>(below(100)) - 20,
                              .x_max = static_cast<int32_t>(below(320)),
                              .y_max = static_cast<int32_t>(below(170))};
    std::array<std::byte, 16> element{};
    std::array<std::byte, 16> mask{};
    for (size_t i = 0; i < bytes; ++i) {
      element[i] = static_cast<std::byte>(random());
      mask[i] = round % 8 == 7 ? static_cast<std::byte>(random()) : std::byte{0xff};
    }
    PixelPlane plane;
    plane.begin(surface, 0, 1, bytes, filled.space());
    plane.fill(rectangle, 0, std::span(element).first(bytes), std::span(mask).first(bytes));
    PixelPlane single;
    single.begin(surface, 0, 1, bytes, stored.space());
    for (int32_t y = std::max(rectangle.y_min, 0); y <= rectangle.y_max; ++y) {
      for (int32_t x = std::max(rectangle.x_min, 0); x <= rectangle.x_max; ++x) {
        if (!single.contains(x, y, 0)) {
          continue;
        }
        const uint64_t at = single.address(static_cast<uint32_t>(x), static_cast<uint32_t>(y), 0, 0);
        std::array<std::byte, 16> pixel{};
        single.load(at, std::span(pixel).first(bytes));
        for (size_t i = 0; i < bytes; ++i) {
          pixel[i] = (pixel[i] & ~mask[i]) | (element[i] & mask[i]);
        }
        single.store(at, std::span<const std::byte>(pixel).first(bytes));
      }
    }
    ASSERT_FALSE(plane.stopped() || single.stopped()) << "round " << round;
    ASSERT_EQ(std::memcmp(filled.at(PixelWorld::kVa), stored.at(PixelWorld::kVa), PixelWorld::kMapped), 0)
        << "round " << round;
  }
}

// Tiles for bytes (W) with elements of four bytes: the bytes of elements overlap, so the order of stores decides.
TEST(PlaneFill, ElementsWiderThanARunOfTheTilingAreStoredOneByOne) {
  PixelWorld filled;
  PixelWorld stored;
  message::Surface surface = filled.target(hw::SurfaceFormat::R8G8B8A8_UNORM, 64, 64);
  surface.layout.pattern = &surface::kTileW;
  surface.layout.pitch_B = 256;
  constexpr std::array element{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  constexpr std::array mask{std::byte{0xff}, std::byte{0xff}, std::byte{0xff}, std::byte{0xff}};
  PixelPlane plane;
  plane.begin(surface, 0, 1, 4, filled.space());
  plane.fill({.x_min = 0, .y_min = 0, .x_max = 63, .y_max = 63}, 0, element, mask);
  PixelPlane single;
  single.begin(surface, 0, 1, 4, stored.space());
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) single.store(single.address(x, y, 0, 0), std::span<const std::byte>(element));
  }
  EXPECT_EQ(std::memcmp(filled.at(PixelWorld::kVa), stored.at(PixelWorld::kVa), PixelWorld::kMapped), 0);
}

}  // namespace
}  // namespace halogen::pipe3d
