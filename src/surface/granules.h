// Granules: the parts of a 4 KB tile that belong to one block of compression state each. Bits of an offset in the
// surface give the number of a granule in its tile.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bits.h"
#include "surface/tiling.h"

namespace halogen::surface {

class Granules {
  struct Field {
    uint8_t shift = 0;
    uint8_t bits = 0;
  };
  static constexpr Field kWide{10, 2};  // columns of 32 bytes in Y tiles

 public:
  static constexpr uint64_t kTile_B = 4096;

  // Returns the granules of a tiling. `block_B`: width of a block. No value: a surface with this tiling has no blocks.
  static std::optional<Granules> of(Tiling tiling, uint64_t block_B) {
    if (tiling == Tiling::x) {
      return Granules({.shift = 6, .bits = 3}, {.shift = 10, .bits = 2}, 64, 2);
    }
    if (tiling == Tiling::y) {
      // Columns of 16 bytes: one is as wide as a block of 16-bit depth, two are as wide as other blocks.
      return block_B < 32 ? Granules({.shift = 9, .bits = 3}, {.shift = 6, .bits = 3}, 16, 4)
                          : Granules(kWide, {.shift = 6, .bits = 3}, 32, 4);
    }
    return std::nullopt;
  }
  Granules() = default;

  // Returns the number of the granule that holds an offset, less than 64.
  unsigned number(uint64_t offset) const {
    if (column_.shift == kWide.shift) [[likely]] {
      return static_cast<unsigned>((offset >> 10 & 3) | (offset >> 6 & 7) << 2);
    }
    return static_cast<unsigned>((offset >> column_.shift & low_mask(column_.bits)) |
                                 (offset >> row_.shift & low_mask(row_.bits)) << column_.bits);
  }
  unsigned column_of(unsigned number) const { return number & (columns() - 1); }
  unsigned row_of(unsigned number) const { return number >> column_.bits; }
  // Returns the first offset of a granule of the first tile.
  uint64_t offset(uint64_t column, uint64_t row) const { return column << column_.shift | row << row_.shift; }
  unsigned columns() const { return 1u << column_.bits; }
  unsigned rows() const { return 1u << row_.bits; }
  uint64_t width_B() const { return width_B_; }
  uint64_t height() const { return height_; }

 private:
  Granules(Field column, Field row, uint64_t width_B, uint64_t height)
      : column_(column), row_(row), width_B_(width_B), height_(height) {}

  Field column_;
  Field row_;
  uint64_t width_B_ = 1;
  uint64_t height_ = 1;
};

}  // namespace halogen::surface
