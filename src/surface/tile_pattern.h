// The byte layout of one tile as data: for each address bit within the tile, most significant first, the coordinate
// that supplies it. Within one coordinate the bits keep their order, so one letter per bit is enough. X, Y: G45 PRM
// vol. 1b 4.5.2 and 4.5.3 (seed 003). W, Yf, Ys: Mesa isl (docs/isl/tiling.rst, isl.c); the Yf and Ys patterns of Gen9
// agree with Intel gmmlib. Tile4 and Tile64 belong to later chips and are not here.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "gen/tiling_rules.h"

namespace halogen::surface {

// Move bit n of `value` to the n-th set bit of `mask`, counted from the least significant, and back.
constexpr uint32_t deposit_bits(uint32_t value, uint32_t mask) {
  uint32_t out = 0;
  for (; mask != 0; mask &= mask - 1, value >>= 1) {
    out |= (value & 1) != 0 ? mask & (~mask + 1) : 0;
  }
  return out;
}
constexpr uint32_t extract_bits(uint32_t value, uint32_t mask) {
  uint32_t out = 0;
  for (unsigned bit = 0; mask != 0; mask &= mask - 1, ++bit) {
    out |= (value & (mask & (~mask + 1))) != 0 ? 1u << bit : 0;
  }
  return out;
}

struct TilePattern {
  std::string_view name;
  std::string_view sources;  // x, y, z; z is a slice of a volume or a sample of a pixel
  Tiling tiling{};
  uint32_t x_mask = 0;  // address bits from x
  uint32_t y_mask = 0;
  uint32_t z_mask = 0;
  uint32_t bytes = 0;
  uint32_t width_B = 0;
  uint32_t height = 0;
  uint32_t depth = 0;
  uint32_t pitch_width_B =
      0;                    // what the surface pitch counts for one tile: the width, but 128 for W (64 wide, 64 high)
  uint32_t run_B = 0;       // length of a contiguous run of a row
  uint8_t bytes_shift = 0;  // log2 of bytes, width and height
  uint8_t width_shift = 0;
  uint8_t height_shift = 0;

  constexpr uint32_t x_in_tile(uint64_t x_B) const { return static_cast<uint32_t>(x_B) & (width_B - 1); }
  constexpr uint32_t y_in_tile(uint64_t y) const { return static_cast<uint32_t>(y) & (height - 1); }

  // Returns the offset of a byte. x in bytes; coordinates within the tile.
  constexpr uint32_t offset(uint32_t x_B, uint32_t y, uint32_t z) const {
    return deposit_bits(x_B, x_mask) | deposit_bits(y, y_mask) | deposit_bits(z, z_mask);
  }
};

constexpr TilePattern make_pattern(std::string_view name, Tiling tiling, std::string_view sources,
                                   uint32_t pitch_width_B = 0) {
  TilePattern pattern{.name = name, .sources = sources, .tiling = tiling};
  for (size_t i = 0; i < sources.size(); ++i) {
    const uint32_t bit = 1u << (sources.size() - 1 - i);
    (sources[i] == 'x' ? pattern.x_mask : sources[i] == 'y' ? pattern.y_mask : pattern.z_mask) |= bit;
  }
  pattern.bytes = 1u << sources.size();
  pattern.width_B = 1u << std::popcount(pattern.x_mask);
  pattern.height = 1u << std::popcount(pattern.y_mask);
  pattern.depth = 1u << std::popcount(pattern.z_mask);
  pattern.pitch_width_B = pitch_width_B != 0 ? pitch_width_B : pattern.width_B;
  pattern.bytes_shift = static_cast<uint8_t>(sources.size());
  pattern.width_shift = static_cast<uint8_t>(std::popcount(pattern.x_mask));
  pattern.height_shift = static_cast<uint8_t>(std::popcount(pattern.y_mask));
  pattern.run_B = 1u << std::countr_one(pattern.x_mask);
  return pattern;
}

inline constexpr TilePattern kTileX = make_pattern("X", Tiling::x, "yyyxxxxxxxxx");
inline constexpr TilePattern kTileY = make_pattern("Y", Tiling::y, "xxxyyyyyxxxx");
inline constexpr TilePattern kTileW = make_pattern("W", Tiling::w, "xxxyyyyxyxyx", 128);

// The layout of volumes in Yf and Ys tiles: that of Gen9, or the later one that the surface state of Gen11 and Gen12
// can select (Tile Address Mapping Mode). It also decides whether the samples of a pixel share a Yf tile.
enum class TileAddressMapping : uint8_t { gfx9, gfx10 };

struct TileShape {
  Tiling tiling{};
  uint32_t element_bits = 32;  // used for Yf and Ys only: 8, 16, 32, 64 or 128
  uint32_t samples = 1;        // stored sample by sample; 1 also if samples are interleaved like pixels
  bool volume = false;
  TileAddressMapping mapping = TileAddressMapping::gfx9;
};

// Null: linear, or no known pattern.
const TilePattern* find_pattern(const TileShape& shape);

// Returns all patterns, for tests and tables.
std::span<const TilePattern* const> tile_patterns();

}  // namespace halogen::surface
