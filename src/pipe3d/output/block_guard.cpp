#include "pipe3d/output/block_guard.h"

namespace halogen::pipe3d {
namespace {

using surface::BlockState;

constexpr uint64_t kTile_B = 4096;

}  // namespace

bool BlockGuard::begin(const message::Surface& surface, uint32_t level, uint32_t element_B,
                       memory::AddressSpace& space) {
  on_ = false;
  const surface::TilePattern* const tile = surface.layout.pattern;
  if (surface.states.form == surface::StateForm::none || tile == nullptr ||
      surface.layout.swizzle != surface::SwizzleMode::none) {
    return false;
  }
  const auto granules = surface::Granules::of(tile->tiling, uint64_t{surface.states.block_width} * element_B);
  if (!granules) {
    return false;
  }
  granules_ = *granules;
  surface_ = surface;
  states_ = {surface.states, space};
  level_ = level;
  element_B_ = element_B;
  layer_ = 0;
  width_ = surface.level_width(level);
  height_ = surface.level_height(level);
  if (surface.samples_beside) {
    width_ *= surface.samples > 4 ? 4 : surface.samples > 1 ? 2 : 1;
    height_ *= surface.samples > 8 ? 4 : surface.samples > 2 ? 2 : 1;
  }
  tiles_.fill({});
  on_ = true;
  return true;
}

std::optional<BlockGuard::Block> BlockGuard::block_at(uint64_t offset) const {
  const bool x_tiles = surface_.layout.pattern->tiling == Tiling::x;
  const uint64_t tile = offset / kTile_B;
  const uint64_t in_tile = offset % kTile_B;
  const uint64_t pitch = surface_.layout.tiles_per_row();
  const uint64_t x_B = x_tiles ? tile % pitch * surface::kTileX.width_B + in_tile % surface::kTileX.width_B
                               : tile % pitch * surface::kTileY.width_B + in_tile / 512 * 16 + in_tile % 16;
  const uint64_t row = x_tiles ? tile / pitch * surface::kTileX.height + in_tile / surface::kTileX.width_B
                               : tile / pitch * surface::kTileY.height + in_tile / 16 % 32;
  const uint64_t x = x_B / element_B_ - origin_x_;  // very large to the left of the level
  const uint64_t y = row - origin_row_;
  if (x >= width_ || y >= height_) {
    return std::nullopt;
  }
  return block_of(static_cast<uint32_t>(x), static_cast<uint32_t>(y), offset);
}

BlockGuard::Block BlockGuard::block_of(uint32_t x, uint32_t y, uint64_t offset) const {
  return {.index = {.x = x / block_width(),
                    .y = y / block_height(),
                    .layer = surface_.first_layer + layer_,
                    .level = level_},
          .offset = offset};
}

bool BlockGuard::is_aligned() const {
  return origin_x_ * element_B_ % granules_.width_B() == 0 && origin_row_ % granules_.height() == 0 &&
         block_width() * element_B_ % granules_.width_B() == 0 && block_height() % granules_.height() == 0;
}

bool BlockGuard::write(const Block& block, BlockState state) {
  if (!states_.write(block.index, surface_.base + block.offset, state)) {
    return false;
  }
  // A block may have granules in several tiles.
  if (block_width() * element_B_ > 32 || block_height() > 4) {
    tiles_.fill({});
    return true;
  }
  Tile& known = tiles_[block.offset / kTile_B % kTiles];
  if (known.number == block.offset / kTile_B && known.layer == layer_) {
    const uint64_t bit = uint64_t{1} << granules_.number(block.offset);
    known.clear = state == BlockState::clear ? known.clear | bit : known.clear & ~bit;
    known.pending = is_pending(state) ? known.pending | bit : known.pending & ~bit;
  }
  return true;
}

bool BlockGuard::write_run(const Block& first, BlockState state) {
  tiles_.fill({});
  return states_.write_run(first.index, surface_.base + first.offset, state);
}

void BlockGuard::note(uint64_t offset, BlockState state, Tile& tile) const {
  const uint64_t bit = uint64_t{1} << granules_.number(offset);
  tile.clear |= state == BlockState::clear ? bit : 0;
  tile.pending |= is_pending(state) ? bit : 0;
}

// Looks at a row of four granules of a tile, if they are four blocks of the level.
bool BlockGuard::look_at_row(uint64_t offset, Tile& tile) {
  const std::optional<Block> first = block_at(offset);
  std::array<BlockState, 4> states{};
  if (!first || (first->index.x + 4) * block_width() > width_ || block_width() * element_B_ > 32 ||
      !states_.read_four(first->index, surface_.base + offset, states)) {
    return false;
  }
  for (uint64_t column = 0; column < states.size(); ++column) {
    note(offset + granules_.offset(column, 0), states[column], tile);
  }
  return true;
}

void BlockGuard::look_at(uint64_t number, Tile& tile) {
  tile = {.number = number, .layer = layer_};
  for (uint64_t row = 0; row < granules_.rows(); ++row) {
    const uint64_t first = number * kTile_B + granules_.offset(0, row);
    if (granules_.columns() == 4 && look_at_row(first, tile)) {
      continue;
    }
    for (uint64_t column = 0; column < granules_.columns(); ++column) {
      const uint64_t offset = first + granules_.offset(column, 0);
      if (const std::optional<Block> block = block_at(offset)) {
        note(offset, read(*block), tile);
      }
    }
  }
}

}  // namespace halogen::pipe3d
