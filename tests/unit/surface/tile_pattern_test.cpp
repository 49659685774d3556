// Tile patterns compared with their published shapes and with independent descriptions.
#include "surface/tile_pattern.h"

#include <gtest/gtest.h>

#include <vector>

#include "covers.h"

namespace halogen::surface {
namespace {

TEST(TilePattern, DepositAndExtractAreInverse) {
  EXPECT_EQ(deposit_bits(0b1011, 0b1'0110'1000), 0b1'0010'1000u);
  EXPECT_EQ(extract_bits(0b1'0010'1000, 0b1'0110'1000), 0b1011u);
  EXPECT_EQ(deposit_bits(0xffffffff, 0x0f0), 0x0f0u);
}

TEST(TilePattern, EveryPatternIsABijectionOfItsTile) {
  for (const TilePattern* pattern : tile_patterns()) {
    SCOPED_TRACE(pattern->name);
    ASSERT_EQ(pattern->x_mask ^ pattern->y_mask ^ pattern->z_mask, pattern->bytes - 1);
    ASSERT_EQ(uint64_t{pattern->width_B} * pattern->height * pattern->depth, pattern->bytes);
    std::vector<bool> seen(pattern->bytes);
    for (uint32_t z = 0; z < pattern->depth; ++z) {
      for (uint32_t y = 0; y < pattern->height; ++y) {
        for (uint32_t x = 0; x < pattern->width_B; ++x) {
          const uint32_t offset = pattern->offset(x, y, z);
          ASSERT_LT(offset, pattern->bytes);
          ASSERT_FALSE(seen[offset]);
          seen[offset] = true;
          ASSERT_EQ(extract_bits(offset, pattern->x_mask), x);
          ASSERT_EQ(extract_bits(offset, pattern->y_mask), y);
          ASSERT_EQ(extract_bits(offset, pattern->z_mask), z);
        }
      }
    }
  }
}

TEST(TilePattern, XAndYTilesAreOnePageForEveryPixelSize) {
  COVERS("G45-4.5.1-01");
  EXPECT_EQ(kTileX.bytes, 4096u);
  EXPECT_EQ(kTileX.width_B, 512u);
  EXPECT_EQ(kTileX.height, 8u);
  EXPECT_EQ(kTileY.bytes, 4096u);
  EXPECT_EQ(kTileY.width_B, 128u);
  EXPECT_EQ(kTileY.height, 32u);
  for (const uint32_t bits : {8u, 16u, 24u, 32u, 64u, 96u, 128u}) {
    EXPECT_EQ(find_pattern({.tiling = Tiling::x, .element_bits = bits}), &kTileX);
    EXPECT_EQ(find_pattern({.tiling = Tiling::y, .element_bits = bits}), &kTileY);
  }
}

TEST(TilePattern, OwordsOfXTilesLieRowByRowAndOfYTilesColumnByColumn) {
  COVERS("G45-4.5.2-01");
  uint32_t next = 0;
  for (uint32_t row = 0; row < 8; ++row) {
    for (uint32_t oword = 0; oword < 32; ++oword, next += 16) {
      ASSERT_EQ(kTileX.offset(oword * 16, row, 0), next);
      ASSERT_EQ(kTileX.offset(oword * 16 + 15, row, 0), next + 15);
    }
  }
  next = 0;
  for (uint32_t oword = 0; oword < 8; ++oword) {
    for (uint32_t row = 0; row < 32; ++row, next += 16) {
      ASSERT_EQ(kTileY.offset(oword * 16, row, 0), next);
      ASSERT_EQ(kTileY.offset(oword * 16 + 15, row, 0), next + 15);
    }
  }
}

// W tiles by the driver documentation: blocks of 8 x 8 bytes, stored column by column, eight blocks per column.
TEST(TilePattern, WTilesMatchTheDriverDocumentation) {
  constexpr uint8_t kLine[8][8] = {
      {0x00, 0x01, 0x04, 0x05, 0x10, 0x11, 0x14, 0x15}, {0x02, 0x03, 0x06, 0x07, 0x12, 0x13, 0x16, 0x17},
      {0x08, 0x09, 0x0c, 0x0d, 0x18, 0x19, 0x1c, 0x1d}, {0x0a, 0x0b, 0x0e, 0x0f, 0x1a, 0x1b, 0x1e, 0x1f},
      {0x20, 0x21, 0x24, 0x25, 0x30, 0x31, 0x34, 0x35}, {0x22, 0x23, 0x26, 0x27, 0x32, 0x33, 0x36, 0x37},
      {0x28, 0x29, 0x2c, 0x2d, 0x38, 0x39, 0x3c, 0x3d}, {0x2a, 0x2b, 0x2e, 0x2f, 0x3a, 0x3b, 0x3e, 0x3f},
  };
  EXPECT_EQ(kTileW.width_B, 64u);
  EXPECT_EQ(kTileW.height, 64u);
  EXPECT_EQ(kTileW.pitch_width_B, 128u);
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) {
      ASSERT_EQ(kTileW.offset(x, y, 0), x / 8 * 512 + y / 8 * 64 + kLine[y % 8][x % 8]);
    }
  }
}

// Yf tiles as the format modifiers of Linux describe them: 256-byte units, two by two in columns, in groups that are
// again two by two in columns; a unit is four blocks of 16 bytes by 4 rows that make it square, or twice as wide as
// high.
TEST(TilePattern, YfTilesConsistOfNestedUnits) {
  struct Unit {
    uint32_t bits;
    uint32_t width_B;
    uint32_t height;
  };
  for (const Unit unit : {Unit{8, 16, 16}, {16, 32, 8}, {32, 32, 8}, {64, 64, 4}, {128, 64, 4}}) {
    SCOPED_TRACE(unit.bits);
    const TilePattern* pattern = find_pattern({.tiling = Tiling::yf, .element_bits = unit.bits});
    ASSERT_NE(pattern, nullptr);
    ASSERT_EQ(pattern->width_B, unit.width_B * 4);
    ASSERT_EQ(pattern->height, unit.height * 4);
    const uint32_t blocks_high = unit.height / 4;
    for (uint32_t y = 0; y < pattern->height; ++y) {
      for (uint32_t x = 0; x < pattern->width_B; ++x) {
        const uint32_t ux = x / unit.width_B;
        const uint32_t uy = y / unit.height;
        const uint32_t group = ux / 2 * 2 + uy / 2;
        const uint32_t in_group = ux % 2 * 2 + uy % 2;
        const uint32_t block = x % unit.width_B / 16 * blocks_high + y % unit.height / 4;
        ASSERT_EQ(pattern->offset(x, y, 0), group * 1024 + in_group * 256 + block * 64 + y % 4 * 16 + x % 16);
      }
    }
  }
}

struct Extent {
  uint32_t bits;
  uint32_t width;  // in elements
  uint32_t height;
  uint32_t depth;
};

void expect_extent(const TilePattern* pattern, const Extent& extent) {
  ASSERT_NE(pattern, nullptr);
  EXPECT_EQ(pattern->width_B * 8 / extent.bits, extent.width);
  EXPECT_EQ(pattern->height, extent.height);
  EXPECT_EQ(pattern->depth, extent.depth);
}

// Tile sizes in elements, from the test of the public driver.
TEST(TilePattern, StandardTilesHaveTheirPublishedSize) {
  constexpr Extent kYs[] = {{128, 64, 64, 1}, {64, 128, 64, 1}, {32, 128, 128, 1}, {16, 256, 128, 1}, {8, 256, 256, 1}};
  constexpr Extent kYf[] = {{128, 16, 16, 1}, {64, 32, 16, 1}, {32, 32, 32, 1}, {16, 64, 32, 1}, {8, 64, 64, 1}};
  constexpr Extent kYsVolume[] = {
      {128, 16, 16, 16}, {64, 32, 16, 16}, {32, 32, 32, 16}, {16, 32, 32, 32}, {8, 64, 32, 32}};
  constexpr Extent kYfVolume[] = {{128, 4, 8, 8}, {64, 8, 8, 8}, {32, 8, 16, 8}, {16, 8, 16, 16}, {8, 16, 16, 16}};
  constexpr uint32_t kDivide[][2] = {{1, 1}, {2, 1}, {2, 2}, {4, 2}, {4, 4}};  // of width and height, by log2(samples)
  for (const TileAddressMapping mapping : {TileAddressMapping::gfx9, TileAddressMapping::gfx10}) {
    for (size_t i = 0; i < 5; ++i) {
      const uint32_t bits = kYs[i].bits;
      for (uint32_t log2 = 0; log2 < 5; ++log2) {
        SCOPED_TRACE(testing::Message() << bits << " bits, samples 2^" << log2);
        Extent extent{bits, kYs[i].width / kDivide[log2][0], kYs[i].height / kDivide[log2][1], 1u << log2};
        expect_extent(find_pattern({Tiling::ys, bits, 1u << log2, false, mapping}), extent);
        extent = mapping == TileAddressMapping::gfx9
                     ? kYf[i]  // two samples never share a tile
                     : Extent{bits, kYf[i].width / kDivide[log2][0], kYf[i].height / kDivide[log2][1], 1u << log2};
        expect_extent(find_pattern({Tiling::yf, bits, 1u << log2, false, mapping}), extent);
      }
      expect_extent(find_pattern({Tiling::ys, bits, 1, true, mapping}), kYsVolume[i]);
      expect_extent(find_pattern({Tiling::yf, bits, 1, true, mapping}), kYfVolume[i]);
    }
  }
}

TEST(TilePattern, YfIsTheLowerPageOfYs) {
  for (const bool volume : {false, true}) {
    for (const TileAddressMapping mapping : {TileAddressMapping::gfx9, TileAddressMapping::gfx10}) {
      for (const uint32_t bits : {8u, 16u, 32u, 64u, 128u}) {
        const TilePattern* yf = find_pattern({Tiling::yf, bits, 1, volume, mapping});
        const TilePattern* ys = find_pattern({Tiling::ys, bits, 1, volume, mapping});
        ASSERT_NE(yf, nullptr);
        ASSERT_NE(ys, nullptr);
        EXPECT_EQ(ys->sources.substr(4), yf->sources) << ys->name;
        EXPECT_EQ(ys->bytes, 65536u);
      }
    }
  }
}

TEST(TilePattern, UnknownPatternsAreNull) {
  EXPECT_EQ(find_pattern({.tiling = Tiling::linear}), nullptr);
  EXPECT_EQ(find_pattern({.tiling = Tiling::yf, .element_bits = 96}), nullptr);
  EXPECT_EQ(find_pattern({.tiling = Tiling::ys, .element_bits = 0}), nullptr);
  EXPECT_EQ(find_pattern({.tiling = Tiling::ys, .element_bits = 32, .samples = 3}), nullptr);
  EXPECT_EQ(find_pattern({.tiling = Tiling::ys, .element_bits = 32, .samples = 4, .volume = true}), nullptr);
}

}  // namespace
}  // namespace halogen::surface
