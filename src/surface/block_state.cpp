#include "surface/block_state.h"

#include <algorithm>

#include "base/bits.h"
#include "surface/tiling.h"

namespace halogen::surface {
namespace {

constexpr uint64_t kTile_B = 4096;

uint64_t blocks_of(uint32_t size, uint32_t level, uint32_t block, uint32_t pad) {
  const uint32_t small = level < 32 ? size >> level : 0;
  const uint64_t blocks = ((small != 0 ? small : 1) + uint64_t{block} - 1) / block;
  return align_up(blocks, pad);
}

// Returns the origin of a level: the second level is below the first, the others are to the right of the second.
SurfacePoint level_origin(const StateMap& map, uint32_t level) {
  SurfacePoint at;
  for (uint32_t i = 0; i < level && !map.level_base; ++i) {
    if (i == 1) {
      at.x_B += blocks_of(map.width, i, map.block_width, map.pad_x);
    } else {
      at.y += blocks_of(map.height, i, map.block_height, map.pad_y);
    }
  }
  return at;
}

uint64_t rows_of_tile(StateForm form) {
  return form == StateForm::hierarchical ? 16 : form == StateForm::one_bit ? 256 : 128;
}

}  // namespace

uint64_t state_tiles(const StateMap& map, uint32_t layers, uint32_t levels) {
  uint64_t rows = 0;
  for (uint32_t level = 0; level < levels; ++level) {
    rows = std::max(rows, level_origin(map, level).y + blocks_of(map.height, level, map.block_height, 1));
  }
  rows += map.layer_rows * (std::max(layers, 1u) - 1);
  const uint64_t of_tile = rows_of_tile(map.form);
  return (rows + of_tile - 1) / of_tile * map.pitch_tiles;
}

StatePlace state_place(const StateMap& map, const BlockIndex& block) {
  const SurfacePoint origin = level_origin(map, block.level);
  const uint64_t x = origin.x_B + block.x;
  const uint64_t y = origin.y + block.y + block.layer * map.layer_rows;
  if (map.form == StateForm::hierarchical) {
    // A tile has 16x16 blocks of 16 bytes; a column of a Y tile holds two columns of them.
    const uint64_t tile = (y / 16 * map.pitch_tiles + x / 16) * kTile_B;
    return {.offset = tile + x % 16 / 2 * 512 + y % 16 * 32 + x % 2 * 16};
  }
  // A tile has 8x8 cache lines in the order of Y tiles. A line has rows of 16 blocks.
  const uint32_t bits = map.form == StateForm::one_bit ? 1 : 2;
  const uint32_t line_rows = 32 / bits;
  const uint64_t tile_rows = rows_of_tile(map.form);
  const uint64_t tile = (y / tile_rows * map.pitch_tiles + x / 128) * kTile_B;
  const uint64_t line = x % 128 / 16 * 512 + y % tile_rows / line_rows * 64;
  const uint64_t bit = (y % line_rows * 16 + x % 16) * bits;
  return {.offset = tile + line + bit / 8, .shift = static_cast<uint8_t>(bit % 8)};
}

std::optional<StateGrid> state_grid(StateForm form, const StatePlace& first, unsigned columns, unsigned rows) {
  if (form == StateForm::hierarchical) {
    const uint64_t at = first.offset % kTile_B;
    const bool inside = at % 32 == 0 && at / 512 * 2 + columns <= 16 && at % 512 / 32 + rows <= 16;
    return inside ? std::optional(StateGrid{}) : std::nullopt;
  }
  const unsigned bits = state_bits(form);
  if (form == StateForm::four_bits) {
    const bool tile = first.offset % 16 == 0 && first.shift == 0 && columns <= 4 && rows <= 8;
    return tile ? std::optional(StateGrid{.bits = bits, .row_bits = 4 * bits}) : std::nullopt;
  }
  const auto bit = static_cast<unsigned>(first.offset % 64 * 8 + first.shift);
  const unsigned row_bits = 16 * bits;
  const bool inside = bit % row_bits / bits + columns <= 16 && bit / row_bits + rows <= 32 / bits;
  return inside ? std::optional(StateGrid{.first_shift = first.shift, .bits = bits, .row_bits = row_bits})
                : std::nullopt;
}

}  // namespace halogen::surface
