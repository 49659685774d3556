// Address formulas compared with the manual's arithmetic (written with divisions, with the corrections of the ledger),
// its check values, and the inverse.
#include "surface/tiling.h"

#include <gtest/gtest.h>

#include <vector>

#include "covers.h"
#include "unit/surface/random.h"

namespace halogen::surface {
namespace {

// The formula of G45 PRM vol. 1b 4.5.3 (seed 003) with the values of TileH and TileW.
uint64_t manual_x(uint64_t x, uint64_t y, uint64_t pitch_tiles) {
  const uint64_t row_size = pitch_tiles * 4096;
  return row_size * (y / 8) + 4096 * (x / 512) + 512 * (y % 8) + x % 512;
}
uint64_t manual_y(uint64_t x, uint64_t y, uint64_t pitch_tiles) {
  const uint64_t row_size = pitch_tiles * 4096;
  return row_size * (y / 32) + 4096 * (x / 128) + 512 * (x % 128 / 16) + 16 * (y % 32) + x % 16;
}
// The Y formula as printed: counts x within the tile twice.
uint64_t printed_y(uint64_t x, uint64_t y, uint64_t pitch_tiles) {
  const uint64_t row_size = pitch_tiles * 4096;
  return row_size * (y / 32) + 4096 * (x / 128) + 32 * (x % 128) + y % 32 * 16 + x % 128 % 16;
}

SurfaceLayout tiled(const TilePattern& pattern, uint64_t tiles) {
  return {.pattern = &pattern, .pitch_B = tiles * pattern.pitch_width_B};
}

TEST(Tiling, XTilesFollowTheManualsFormula) {
  COVERS("G45-4.5.3-01");
  const SurfaceLayout layout = tiled(kTileX, 2);
  EXPECT_EQ(offset_of(layout, {0, 1}), 0x200u);
  EXPECT_EQ(offset_of(layout, {512, 0}), 0x1000u);
  EXPECT_EQ(offset_of(layout, {0, 8}), 0x2000u);
  EXPECT_EQ(offset_of(layout, {511, 7}), 0xfffu);
  for (const uint64_t pitch : {1u, 2u, 3u, 8u, 256u}) {
    for (uint64_t y = 0; y < 24; ++y) {
      for (uint64_t x = 0; x < pitch * 512; x += 1 + (pitch > 8 ? 36 : 0)) {
        ASSERT_EQ(offset_of(tiled(kTileX, pitch), {x, y}), manual_x(x, y, pitch)) << x << "," << y << " " << pitch;
      }
    }
  }
}

TEST(Tiling, YTilesFollowTheCorrectedFormula) {
  COVERS("G45-4.5.3-02");
  const SurfaceLayout layout = tiled(kTileY, 2);
  EXPECT_EQ(offset_of(layout, {16, 0}), 0x200u);
  EXPECT_EQ(offset_of(layout, {0, 1}), 0x10u);
  EXPECT_EQ(offset_of(layout, {127, 31}), 0xfffu);
  EXPECT_EQ(offset_of(layout, {128, 0}), 0x1000u);
  EXPECT_EQ(offset_of(layout, {0, 32}), 0x2000u);
  // The printed formula cannot be right: two by two tiles have 4000h bytes.
  uint64_t highest = 0;
  uint64_t highest_printed = 0;
  for (uint64_t y = 0; y < 64; ++y) {
    for (uint64_t x = 0; x < 256; ++x) {
      highest = std::max(highest, offset_of(layout, {x, y}));
      highest_printed = std::max(highest_printed, printed_y(x, y, 2));
    }
  }
  EXPECT_EQ(highest, 0x3fffu);
  EXPECT_EQ(highest_printed, 0x41dfu);
  for (const uint64_t pitch : {1u, 2u, 3u, 9u, 1024u}) {
    for (uint64_t y = 0; y < 96; ++y) {
      for (uint64_t x = 0; x < pitch * 128; x += 1 + (pitch > 9 ? 36 : 0)) {
        ASSERT_EQ(offset_of(tiled(kTileY, pitch), {x, y}), manual_y(x, y, pitch)) << x << "," << y << " " << pitch;
      }
    }
  }
}

TEST(Tiling, TilesOfARegionAreNumberedRowByRow) {
  COVERS("G45-4.5.1-03");
  // Figure 4-5: eight X tiles of 512 bytes per row. Tile 19 is the fourth tile of the third row.
  const SurfaceLayout eight = tiled(kTileX, 8);
  EXPECT_EQ(offset_of(eight, {3 * 512, 2 * 8}) / 4096, 19u);
  EXPECT_EQ(offset_of(eight, {7 * 512 + 511, 7 * 8 + 7}) / 4096, 63u);
  for (const TilePattern* pattern : {&kTileX, &kTileY}) {
    for (const uint64_t pitch : {1u, 5u, 8u}) {
      // Surfaces may start and end anywhere in the region, so every byte is checked, not only tile boundaries.
      for (uint64_t y = 0; y < 3 * pattern->height; y += 3) {
        for (uint64_t x = 0; x < pitch * pattern->width_B; x += 13) {
          const uint64_t tile = y / pattern->height * pitch + x / pattern->width_B;
          ASSERT_EQ(offset_of(tiled(*pattern, pitch), {x, y}) / 4096, tile);
        }
      }
    }
  }
}

TEST(Tiling, XTilesOfOneTilePitchAreLinear) {
  COVERS("G45-4.5.2-02");
  for (uint64_t y = 0; y < 40; ++y) {
    for (uint64_t x = 0; x < 512; ++x) {
      ASSERT_EQ(offset_of(tiled(kTileX, 1), {x, y}), y * 512 + x);
    }
  }
}

TEST(Tiling, LinearOffsetsArePitchTimesRow) {
  COVERS("G45-4.5.3-04");
  for (const uint64_t pitch : {1u, 64u, 100u, 16384u}) {
    const SurfaceLayout layout{.pitch_B = pitch};
    EXPECT_EQ(offset_of(layout, {0, 0}), 0u);
    EXPECT_EQ(offset_of(layout, {pitch - 1, 7}), pitch * 8 - 1);
    EXPECT_EQ(offset_of(layout, {pitch / 2, 1000}), 1000 * pitch + pitch / 2);
    EXPECT_EQ(point_at(layout, 1000 * pitch + pitch / 2), (SurfacePoint{pitch / 2, 1000}));
  }
}

TEST(Tiling, YTilesKeepAnEvenRowAndTheNextInOneLine) {
  COVERS("G45-4.5.3-05");
  const SurfaceLayout layout = tiled(kTileY, 3);
  for (uint64_t y = 0; y < 128; y += 2) {
    for (uint64_t x = 0; x < 3 * 128; ++x) {
      ASSERT_EQ(offset_of(layout, {x, y}) / 64, offset_of(layout, {x, y + 1}) / 64);
    }
  }
}

// Ledger row: the manual does not mention a swizzle for these chips, and flat memory needs none.
TEST(Tiling, AddressesAreSwizzledOnlyOnRequest) {
  EXPECT_EQ(SurfaceLayout{}.swizzle, SwizzleMode::none);
  for (uint64_t address = 0; address < 0x80000; address += 61) {
    ASSERT_EQ(swizzle_bit6(SwizzleMode::none, address), address);
  }
}

TEST(Tiling, SwizzleFoldsTheNamedBitsIntoBit6) {
  struct Row {
    SwizzleMode mode;
    std::vector<unsigned> bits;
  };
  const std::vector<Row> rows = {{SwizzleMode::bit9, {9}},        {SwizzleMode::bit9_10, {9, 10}},
                                 {SwizzleMode::bit9_11, {9, 11}}, {SwizzleMode::bit9_10_11, {9, 10, 11}},
                                 {SwizzleMode::bit9_17, {9, 17}}, {SwizzleMode::bit9_10_17, {9, 10, 17}}};
  for (const Row& row : rows) {
    for (uint64_t address = 0; address < 0x80000; address += 29) {
      uint64_t bit6 = address >> 6 & 1;
      for (const unsigned bit : row.bits) {
        bit6 ^= address >> bit & 1;
      }
      const uint64_t expected = (address & ~uint64_t{0x40}) | bit6 << 6;
      ASSERT_EQ(swizzle_bit6(row.mode, address), expected);
      ASSERT_EQ(swizzle_bit6(row.mode, expected), address);
    }
  }
}

// The swizzles that Linux i915 reports for each arrangement of memory channels.
TEST(Tiling, ChannelsDecideTheSwizzle) {
  using enum ChannelMode;
  EXPECT_EQ(swizzle_of(single, Tiling::x), SwizzleMode::none);
  EXPECT_EQ(swizzle_of(interleaved, Tiling::x), SwizzleMode::bit9_10);
  EXPECT_EQ(swizzle_of(interleaved, Tiling::y), SwizzleMode::bit9);
  EXPECT_EQ(swizzle_of(interleaved, Tiling::w), SwizzleMode::bit9);
  EXPECT_EQ(swizzle_of(interleaved_bit_11, Tiling::x), SwizzleMode::bit9_10_11);
  EXPECT_EQ(swizzle_of(interleaved_bit_11, Tiling::y), SwizzleMode::bit9_11);
  EXPECT_EQ(swizzle_of(interleaved_bit_17, Tiling::x), SwizzleMode::bit9_10_17);
  EXPECT_EQ(swizzle_of(interleaved_bit_17, Tiling::y), SwizzleMode::bit9_17);
  EXPECT_EQ(swizzle_of(interleaved, Tiling::linear), SwizzleMode::none);
  EXPECT_EQ(swizzle_of(interleaved, Tiling::yf), SwizzleMode::none);
}

// A surface of three by three tiles: each byte has one address, and the inverse returns its position.
TEST(Tiling, WholeSurfacesAreBijections) {
  for (const TilePattern* pattern : tile_patterns()) {
    SCOPED_TRACE(pattern->name);
    for (const SwizzleMode swizzle : {SwizzleMode::none, SwizzleMode::bit9_10, SwizzleMode::bit9_17}) {
      const bool swizzles =
          pattern->tiling == Tiling::x || pattern->tiling == Tiling::y || pattern->tiling == Tiling::w;
      if (swizzle != SwizzleMode::none && !swizzles) {
        continue;
      }
      const uint64_t tiles = pattern->bytes > 4096 ? 2 : 3;
      SurfaceLayout layout = tiled(*pattern, tiles);
      layout.swizzle = swizzle;
      layout.layer_rows = pattern->depth > 1 ? tiles * pattern->height : 0;
      const uint64_t layers = pattern->depth > 1 ? 2 : 1;
      const uint64_t size = tiles * tiles * layers * pattern->bytes;
      std::vector<bool> seen(size);
      for (uint64_t z = 0; z < layers * pattern->depth; ++z) {
        for (uint64_t y = 0; y < tiles * pattern->height; ++y) {
          for (uint64_t x = 0; x < layout.row_B(); ++x) {
            const uint64_t offset = generic_offset_of(layout, {x, y, z});
            ASSERT_LT(offset, size);
            ASSERT_FALSE(seen[offset]);
            seen[offset] = true;
            ASSERT_EQ(point_at(layout, offset), (SurfacePoint{x, y, z}));
          }
        }
      }
    }
  }
}

TEST(Tiling, ClosedFormsAgreeWithTheGenericFunction) {
  Random random;
  SCOPED_TRACE(random.message());
  for (int i = 0; i < 200000; ++i) {
    const TilePattern* patterns[] = {&kTileX, &kTileY, &kTileW, nullptr};
    SurfaceLayout layout{.pattern = patterns[random.in(0, 3)], .pitch_B = random.in(0, 0x40000)};
    layout.layer_rows = random.chance(2) ? random.in(0, 4096) : 0;
    layout.swizzle = static_cast<SwizzleMode>(random.in(0, 6));
    const SurfacePoint point{random.in(0, 0x50000), random.in(0, 0x10000), random.in(0, 9)};
    ASSERT_EQ(offset_of(layout, point), generic_offset_of(layout, point));
  }
}

TEST(Tiling, WTilesFollowTheFormulaOfTheStencilBuffer) {
  // Tests each bit of x and y. Rows of tiles are pitch / 2 * 64 bytes apart, because the pitch counts twice the width.
  const uint64_t pitch_B = 3 * 128;
  for (uint64_t y = 0; y < 130; ++y) {
    for (uint64_t x = 0; x < pitch_B / 2; ++x) {
      const uint64_t x0 = x & 1, x1 = x >> 1 & 1, x2 = x >> 2 & 1, y0 = y & 1, y1 = y >> 1 & 1, y2 = y >> 2 & 1;
      const uint64_t inside =
          512 * (x % 64 / 8) + 64 * (y % 64 / 8) + 32 * y2 + 16 * x2 + 8 * y1 + 4 * x1 + 2 * y0 + x0;
      ASSERT_EQ(offset_of({.pattern = &kTileW, .pitch_B = pitch_B}, {x, y}),
                y / 64 * (pitch_B / 2 * 64) + x / 64 * 4096 + inside);
    }
  }
}

TEST(Tiling, LayersAreTheGivenNumberOfRowsApart) {
  SurfaceLayout layout = tiled(kTileY, 4);
  layout.layer_rows = 20;  // not necessarily whole tiles
  EXPECT_EQ(offset_of(layout, {5, 3, 7}), manual_y(5, 3 + 7 * 20, 4));
  EXPECT_EQ(point_at(layout, manual_y(5, 3 + 7 * 20, 4)), (SurfacePoint{5, 3, 7}));
  SurfaceLayout flat{.pitch_B = 256, .layer_rows = 16};
  EXPECT_EQ(offset_of(flat, {1, 2, 3}), (3 * 16 + 2) * 256 + 1u);
}

// Rule for software: the pitch is a whole number of tiles. Other pitches are rounded down.
TEST(Tiling, PitchIsRoundedDownToWholeTiles) {
  const SurfaceLayout odd{.pattern = &kTileX, .pitch_B = 2 * 512 + 100};
  for (uint64_t x = 0; x < 1024; x += 7) {
    ASSERT_EQ(offset_of(odd, {x, 9}), manual_x(x, 9, 2));
  }
  const SurfaceLayout none{.pattern = &kTileY, .pitch_B = 0};
  EXPECT_EQ(offset_of(none, {0, 32}), 4096u);
  EXPECT_EQ(point_at(none, 4096), (SurfacePoint{0, 32}));
  const SurfaceLayout no_linear{};
  EXPECT_EQ(point_at(no_linear, 77), (SurfacePoint{77, 0}));
}

}  // namespace
}  // namespace halogen::surface
