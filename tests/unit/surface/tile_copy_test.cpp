// Block copies compared with a byte-by-byte reference that uses only the generic address function.
#include "surface/tile_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "covers.h"
#include "unit/surface/random.h"

namespace halogen::surface {
namespace {

using Bytes = std::vector<std::byte>;

Bytes noise(size_t size, uint64_t seed) {
  Bytes bytes(size);
  std::mt19937_64 engine(seed);
  for (size_t at = 0; at < size; at += 8) {
    const uint64_t word = engine();
    for (size_t i = at; i < std::min(size, at + 8); ++i) {
      bytes[i] = static_cast<std::byte>(word >> (i - at) * 8);
    }
  }
  return bytes;
}

uint64_t offset_in(const SurfaceLayout& layout, const CopyRect& rect, uint64_t x, uint64_t y) {
  return generic_offset_of(layout, {rect.x_B + x, rect.y + y, rect.z});
}

void reference_to_surface(Bytes& surface, const SurfaceLayout& layout, const CopyRect& rect, const Bytes& linear,
                          uint64_t pitch_B) {
  for (uint64_t y = 0; y < rect.height; ++y) {
    for (uint64_t x = 0; x < rect.width_B; ++x) {
      surface.at(offset_in(layout, rect, x, y)) = linear.at(y * pitch_B + x);
    }
  }
}

void reference_to_linear(Bytes& linear, uint64_t pitch_B, const Bytes& surface, const SurfaceLayout& layout,
                         const CopyRect& rect) {
  for (uint64_t y = 0; y < rect.height; ++y) {
    for (uint64_t x = 0; x < rect.width_B; ++x) {
      linear.at(y * pitch_B + x) = surface.at(offset_in(layout, rect, x, y));
    }
  }
}

// Copies in both directions. Bytes that the copies must not write are compared too.
void expect_copies(const SurfaceLayout& layout, const CopyRect& rect, size_t surface_size, uint64_t linear_pitch_B,
                   size_t linear_size, uint64_t seed) {
  Bytes surface = noise(surface_size, seed);
  Bytes linear = noise(linear_size, seed + 1);
  Bytes expected = surface;
  reference_to_surface(expected, layout, rect, linear, linear_pitch_B);
  ASSERT_EQ(copy_to_surface(surface, layout, rect, linear, linear_pitch_B), CopyFault::none);
  ASSERT_TRUE(surface == expected) << "to surface";

  surface = noise(surface_size, seed + 2);
  expected = linear;
  reference_to_linear(expected, linear_pitch_B, surface, layout, rect);
  ASSERT_EQ(copy_to_linear(linear, linear_pitch_B, surface, layout, rect), CopyFault::none);
  ASSERT_TRUE(linear == expected) << "to linear";
}

testing::Message describe(const SurfaceLayout& layout, const CopyRect& rect) {
  return testing::Message() << (layout.pattern == nullptr ? "linear" : layout.pattern->name) << " pitch "
                            << layout.pitch_B << " layer " << layout.layer_rows << " swizzle "
                            << static_cast<int>(layout.swizzle) << " rect " << rect.x_B << "," << rect.y << ","
                            << rect.z << " " << rect.width_B << "x" << rect.height;
}

SurfaceLayout random_layout(Random& random) {
  SurfaceLayout layout;
  if (random.chance(8)) {
    layout.pitch_B = random.in(1, 2000);
  } else {
    // Half of the cases use X, Y and W tiles.
    const auto patterns = tile_patterns();
    const size_t last = random.chance(2) ? 2 : patterns.size() - 1;
    layout.pattern = patterns[random.in(0, static_cast<uint32_t>(last))];
    layout.pitch_B = uint64_t{random.in(1, 4)} * layout.pattern->pitch_width_B;
  }
  layout.layer_rows = random.chance(3) ? random.in(0, 70) : 0;
  layout.swizzle = random.chance(3) ? static_cast<SwizzleMode>(random.in(0, 6)) : SwizzleMode::none;
  return layout;
}

CopyRect random_rect(Random& random, const SurfaceLayout& layout) {
  const auto row_B = static_cast<uint32_t>(layout.row_B());
  CopyRect rect;
  rect.x_B = random.in(0, row_B - 1);
  rect.width_B = random.in(1, row_B - rect.x_B);
  if (random.chance(3)) {  // aligned to blocks
    rect.x_B &= ~63u;
    rect.width_B = std::max(1u, rect.width_B & ~63u);
  }
  rect.y = random.in(0, 80);
  rect.height = random.in(1, 70);
  rect.z = random.in(0, 5);
  return rect;
}

// Returns the offset after the last byte of the rectangle.
uint64_t needed(const SurfaceLayout& layout, const CopyRect& rect) {
  uint64_t last = 0;
  for (uint64_t y = 0; y < rect.height; ++y) {
    for (uint64_t x = 0; x < rect.width_B; ++x) {
      last = std::max(last, offset_in(layout, rect, x, y));
    }
  }
  return last + 1;
}

TEST(TileCopy, CopiesAnyRectangleOfAnyLayout) {
  Random random;
  SCOPED_TRACE(random.message());
  for (int i = 0; i < 400; ++i) {
    const SurfaceLayout layout = random_layout(random);
    const CopyRect rect = random_rect(random, layout);
    SCOPED_TRACE(describe(layout, rect));
    uint64_t surface_size = needed(layout, rect);
    if (layout.swizzle != SwizzleMode::none) {
      surface_size = (surface_size + 127) / 128 * 128;
    }
    const uint64_t pitch_B = rect.width_B + (random.chance(2) ? random.in(0, 100) : 0);
    const uint64_t linear_size = (rect.height - 1) * pitch_B + rect.width_B;  // exactly the required size
    ASSERT_NO_FATAL_FAILURE(expect_copies(layout, rect, surface_size, pitch_B, linear_size, random.word()));
  }
}

TEST(TileCopy, TooSmallBufferIsRefusedWithoutAnyWrite) {
  Random random;
  SCOPED_TRACE(random.message());
  for (int i = 0; i < 200; ++i) {
    SurfaceLayout layout = random_layout(random);
    layout.swizzle = SwizzleMode::none;
    const CopyRect rect = random_rect(random, layout);
    SCOPED_TRACE(describe(layout, rect));
    const uint64_t surface_size = needed(layout, rect);
    const uint64_t pitch_B = rect.width_B + random.in(0, 9);
    const uint64_t linear_size = (rect.height - 1) * pitch_B + rect.width_B;
    const bool cut_surface = random.chance(2);
    const Bytes surface_before = noise(surface_size - (cut_surface ? 1 : 0), 1);
    const Bytes linear_before = noise(linear_size - (cut_surface ? 0 : 1), 2);
    Bytes surface = surface_before;
    Bytes linear = linear_before;
    const CopyFault expected = cut_surface ? CopyFault::surface_too_small : CopyFault::linear_too_small;
    EXPECT_EQ(copy_to_surface(surface, layout, rect, linear, pitch_B), expected);
    EXPECT_EQ(copy_to_linear(linear, pitch_B, surface, layout, rect), expected);
    ASSERT_TRUE(surface == surface_before && linear == linear_before);
  }
}

// A swizzle moves bytes within pairs of lines, so the last pair must be complete.
TEST(TileCopy, ASwizzledSurfaceEndsWithAPairOfLines) {
  for (const TilePattern* pattern : {&kTileX, &kTileY, &kTileW}) {
    const SurfaceLayout layout{.pattern = pattern, .pitch_B = pattern->pitch_width_B, .swizzle = SwizzleMode::bit9};
    const CopyRect rect{.width_B = 1, .height = 1};
    Bytes surface(128);
    Bytes linear(1);
    EXPECT_EQ(copy_to_linear(linear, 1, surface, layout, rect), CopyFault::none);
    surface.resize(127);
    EXPECT_EQ(copy_to_linear(linear, 1, surface, layout, rect), CopyFault::surface_too_small);
    EXPECT_EQ(copy_to_surface(surface, layout, rect, linear, 1), CopyFault::surface_too_small);
  }
}

// Copies that are large enough to bypass the caches, at every alignment that selects a path.
TEST(TileCopy, LargeCopiesBypassTheCachesWithTheSameResult) {
  struct Case {
    const TilePattern* pattern;
    CopyRect rect;
    size_t shift;  // of the linear buffer
    uint64_t linear_pitch_B;
    SwizzleMode swizzle;
  };
  const TilePattern* yf = find_pattern({.tiling = Tiling::yf});
  const TilePattern* ys = find_pattern({.tiling = Tiling::ys, .element_bits = 128});
  const Case cases[] = {
      {&kTileX, {0, 0, 8192, 640}, 0, 8192, SwizzleMode::none},
      {&kTileX, {37, 5, 8000, 640}, 16, 8011, SwizzleMode::none},
      {&kTileX, {64, 5, 8000, 640}, 0, 8064, SwizzleMode::bit9_10},
      {&kTileY, {0, 0, 8192, 640}, 0, 8192, SwizzleMode::none},
      {&kTileY, {0, 0, 8192, 640}, 16, 8192, SwizzleMode::none},
      {&kTileY, {0, 0, 8192, 640}, 0, 8200, SwizzleMode::none},  // rows that do not start at a cache line
      {&kTileY, {35, 3, 8100, 600}, 0, 8256, SwizzleMode::none},
      {&kTileY, {35, 3, 8100, 600}, 35, 8256, SwizzleMode::bit9},
      {yf, {5, 2, 8180, 600}, 5, 8192, SwizzleMode::none},
      {ys, {0, 0, 8192, 640}, 0, 8192, SwizzleMode::none},
      {&kTileW, {1, 1, 8000, 600}, 0, 8000, SwizzleMode::none},
  };
  for (const Case& c : cases) {
    SurfaceLayout layout{.pattern = c.pattern, .swizzle = c.swizzle};
    layout.pitch_B = 8192 / c.pattern->width_B * c.pattern->pitch_width_B;
    SCOPED_TRACE(describe(layout, c.rect));
    const size_t surface_size = 8192 * 704;
    const size_t linear_size = (c.rect.height - 1) * c.linear_pitch_B + c.rect.width_B;
    Bytes surface = noise(surface_size, 3);
    Bytes memory = noise(linear_size + 128, 4);
    const size_t start = (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64 + c.shift;
    const Bytes source(memory.begin() + static_cast<ptrdiff_t>(start),
                       memory.begin() + static_cast<ptrdiff_t>(start + linear_size));
    const std::span linear(memory.data() + start, linear_size);

    Bytes expected = surface;
    reference_to_surface(expected, layout, c.rect, source, c.linear_pitch_B);
    ASSERT_EQ(copy_to_surface(surface, layout, c.rect, linear, c.linear_pitch_B), CopyFault::none);
    ASSERT_TRUE(surface == expected);

    surface = noise(surface_size, 5);
    Bytes expected_memory = memory;
    Bytes expected_linear = source;
    reference_to_linear(expected_linear, c.linear_pitch_B, surface, layout, c.rect);
    std::copy(expected_linear.begin(), expected_linear.end(), expected_memory.begin() + static_cast<ptrdiff_t>(start));
    ASSERT_EQ(copy_to_linear(linear, c.linear_pitch_B, surface, layout, c.rect), CopyFault::none);
    ASSERT_TRUE(memory == expected_memory);
  }
}

TEST(TileCopy, EmptyRectanglesCopyNothing) {
  EXPECT_EQ(copy_to_linear({}, 0, {}, {}, {}), CopyFault::none);
  EXPECT_EQ(copy_to_surface({}, {.pattern = &kTileX}, {.x_B = 9, .width_B = 7}, {}, 0), CopyFault::none);
}

// Rule for software: the pitch of a tiled surface is a whole number of tiles. Other pitches have no layout and are
// refused.
TEST(TileCopy, PitchBetweenTilesIsRefused) {
  COVERS("G45-4.5.1-02");
  Bytes surface(64 * 4096);
  Bytes linear(4096);
  const CopyRect rect{.width_B = 64, .height = 4};
  for (const TilePattern* pattern : {&kTileX, &kTileY, &kTileW}) {
    for (const uint64_t pitch_B : {uint64_t{0}, uint64_t{1}, uint64_t{pattern->pitch_width_B} + 64}) {
      const SurfaceLayout layout{.pattern = pattern, .pitch_B = pitch_B};
      EXPECT_EQ(copy_to_linear(linear, 64, surface, layout, rect), CopyFault::bad_pitch);
      EXPECT_EQ(copy_to_surface(surface, layout, rect, linear, 64), CopyFault::bad_pitch);
    }
    // Whole tiles, stored row by row.
    const SurfaceLayout layout{.pattern = pattern, .pitch_B = 3u * pattern->pitch_width_B};
    for (uint32_t tile = 0; tile < 9; ++tile) {
      surface[tile * 4096] = static_cast<std::byte>(tile + 1);
      const CopyRect first{tile % 3 * pattern->width_B, tile / 3 * pattern->height, 1, 1};
      ASSERT_EQ(copy_to_linear(linear, 1, surface, layout, first), CopyFault::none);
      EXPECT_EQ(linear[0], static_cast<std::byte>(tile + 1));
    }
  }
}

TEST(TileCopy, HostileNumbersAreRefused) {
  Bytes surface(1 << 16);
  Bytes linear(1 << 12);
  const SurfaceLayout y{.pattern = &kTileY, .pitch_B = 512};
  const auto both = [&](const SurfaceLayout& layout, const CopyRect& rect, uint64_t pitch_B) {
    const CopyFault fault = copy_to_linear(linear, pitch_B, surface, layout, rect);
    EXPECT_EQ(copy_to_surface(surface, layout, rect, linear, pitch_B), fault);
    return fault;
  };
  EXPECT_EQ(both(y, {0xffffffff, 0, 0xffffffff, 1}, 0), CopyFault::beyond_pitch);
  EXPECT_EQ(both(y, {0, 0xffffffff, 1, 0xffffffff}, 1), CopyFault::surface_too_small);
  EXPECT_EQ(both({.pattern = &kTileY, .pitch_B = 512, .layer_rows = ~uint64_t{0}}, {0, 0, 1, 1, 7}, 1),
            CopyFault::bad_pitch);
  EXPECT_EQ(both({.pattern = &kTileY, .pitch_B = 512, .layer_rows = 1 << 30}, {0, 0, 1, 1, 0xffffffff}, 1),
            CopyFault::surface_too_small);
  EXPECT_EQ(both({.pitch_B = ~uint64_t{0}}, {0, 1, 1, 1}, 1), CopyFault::bad_pitch);
  EXPECT_EQ(both(y, {0, 0, 16, 3}, ~uint64_t{0}), CopyFault::linear_too_small);
  EXPECT_EQ(both(y, {0, 0, 16, 3}, uint64_t{1} << 63), CopyFault::linear_too_small);
  EXPECT_EQ(both(y, {0, 0, 16, 3}, 15), CopyFault::linear_too_small);
  EXPECT_EQ(both(y, {0, 0, 16, 1}, 0), CopyFault::none);  // a single row needs no pitch
}

}  // namespace
}  // namespace halogen::surface
