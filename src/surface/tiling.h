// Converts byte coordinates of a surface to byte offsets from its base, and back (G45 PRM vol. 1b 4.5.3, seed 003, with
// its formulas corrected: docs/requirements/g45.md G45-4.5.3-02 and -03). One generic function serves every tile
// pattern; X, Y and W also have closed forms that agree with it. Not modelled: mip levels and array slices with another
// layout than "a fixed number of rows below"; compression.
#pragma once

#include <cstdint>

#include "surface/swizzle.h"
#include "surface/tile_pattern.h"

namespace halogen::surface {

struct SurfaceLayout {
  const TilePattern* pattern = nullptr;  // null: linear
  uint64_t pitch_B = 0;                  // from the surface state; for W it counts 128 bytes per tile
  uint64_t layer_rows = 0;               // rows from one layer to the next; a layer is as deep as a tile
  SwizzleMode swizzle = SwizzleMode::none;

  // A pitch that is not a whole number of tiles is rounded down, but to at least one tile: the manual has no rule, and
  // every address must have a result.
  constexpr uint64_t tiles_per_row() const {
    const uint64_t tiles = pattern == nullptr ? 0 : pitch_B / pattern->pitch_width_B;
    return tiles != 0 ? tiles : 1;
  }
  // Bytes of one row of elements.
  constexpr uint64_t row_B() const { return pattern == nullptr ? pitch_B : tiles_per_row() * pattern->width_B; }
};

struct SurfacePoint {
  uint64_t x_B = 0;
  uint64_t y = 0;
  uint64_t z = 0;  // slice of a volume, sample, or layer

  constexpr bool operator==(const SurfacePoint&) const = default;
};

// Return offsets by the closed forms for X, Y and W; the pitch is in tiles, and swizzle is not applied.
constexpr uint64_t tile_x_offset(uint64_t x_B, uint64_t y, uint64_t pitch_tiles) {
  return (((y >> 3) * pitch_tiles + (x_B >> 9)) << 12) | ((y & 7) << 9) | (x_B & 511);
}
constexpr uint64_t tile_y_offset(uint64_t x_B, uint64_t y, uint64_t pitch_tiles) {
  return (((y >> 5) * pitch_tiles + (x_B >> 7)) << 12) | ((x_B & 0x70) << 5) | ((y & 31) << 4) | (x_B & 15);
}
constexpr uint64_t tile_w_offset(uint64_t x, uint64_t y, uint64_t pitch_tiles) {
  const uint64_t line = ((x & 0x38) << 6) | ((y & 0x38) << 3);
  const uint64_t quads = ((y & 4) << 3) | ((x & 4) << 2) | ((y & 2) << 2) | ((x & 2) << 1) | ((y & 1) << 1) | (x & 1);
  return (((y >> 6) * pitch_tiles + (x >> 6)) << 12) | line | quads;
}

// Works for every pattern, using its list of address bits. Arithmetic wraps at 64 bits; a point beyond the pitch lands
// in the next row of tiles, as in the manual's formula.
uint64_t generic_offset_of(const SurfaceLayout& layout, const SurfacePoint& point);

// Returns the same offset, by a closed form if there is one.
uint64_t offset_of(const SurfaceLayout& layout, const SurfacePoint& point);

// Returns the point of a byte: the inverse for points with x below row_B() and, with layers, y below layer_rows.
SurfacePoint point_at(const SurfaceLayout& layout, uint64_t offset);

}  // namespace halogen::surface
