#include "pipe3d/output/block_guard.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

namespace halogen::pipe3d {
namespace {

using surface::BlockState;
using surface::StateForm;

constexpr uint64_t kTile_B = 4096;

}  // namespace

bool BlockGuard::begin(const message::Surface& surface, uint32_t level, uint32_t element_B,
                       memory::AddressSpace& space) {
  begin();
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
  tiles_.resize(kTiles);
  level_ = level;
  element_B_ = element_B;
  layer_ = 0;
  width_ = surface.level_width(level);
  height_ = surface.level_height(level);
  if (surface.samples_beside) {
    width_ *= surface.samples > 4 ? 4 : surface.samples > 1 ? 2 : 1;
    height_ *= surface.samples > 8 ? 4 : surface.samples > 2 ? 2 : 1;
  }
  forget();
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
  store();
  if (!states_.write(block.index, surface_.base + block.offset, state)) {
    return false;
  }
  // A block may have several granules.
  if (block_width() * element_B_ != granules_.width_B() || block_height() != granules_.height()) {
    forget();
    return true;
  }
  Tile& known = tiles_[block.offset / kTile_B % kTiles];
  if (known.number == block.offset / kTile_B && known.layer == layer_ && known.epoch == epoch_) {
    const uint64_t bit = uint64_t{1} << granules_.number(block.offset);
    known.clear = state == BlockState::clear ? known.clear | bit : known.clear & ~bit;
    known.pending = is_pending(state) ? known.pending | bit : known.pending & ~bit;
    last_number_ = kNone;
  }
  return true;
}

void BlockGuard::note(unsigned granule, BlockState state, Tile& tile) const {
  const uint64_t bit = uint64_t{1} << granule;
  tile.clear |= state == BlockState::clear ? bit : 0;
  tile.pending |= is_pending(state) ? bit : 0;
}

// Returns the blocks of a row of a tile that are clear and those that are resolved, one bit for each.
BlockGuard::RowStates BlockGuard::states_of_row(const Tile& tile, unsigned row, unsigned columns) const {
  const StateForm form = surface_.states.form;
  // Other host threads may change other blocks of a byte.
  const auto load = [&](uint64_t offset) {
    auto& byte = *reinterpret_cast<uint8_t*>(const_cast<std::byte*>(tile.states + offset));
    return std::atomic_ref(byte).load(std::memory_order_relaxed);
  };
  RowStates out;
  const uint64_t all = low_mask(columns);
  if (form == StateForm::hierarchical) {
    for (unsigned column = 0; column < columns; ++column) {
      const BlockState state = decode_state(form, load(tile.grid.place(column, row).offset));
      out.clear |= state == BlockState::clear ? uint64_t{1} << column : 0;
    }
    out.resolved = all & ~out.clear;
    return out;
  }
  const unsigned bits = surface::state_bits(form);
  const surface::StatePlace first = tile.grid.place(0, row);
  uint64_t word = 0;
  for (unsigned at = 0; at < first.shift + columns * bits; at += 8) {
    word |= uint64_t{load(first.offset + at / 8)} << at;
  }
  word = word >> first.shift & low_mask(columns * bits);
  if (word == 0) {
    out.resolved = all;
    return out;
  }
  for (unsigned column = 0; column < columns; ++column) {
    const BlockState state =
        decode_state(form, static_cast<uint8_t>(word >> column * bits & surface::state_mask(form)));
    out.clear |= state == BlockState::clear ? uint64_t{1} << column : 0;
    out.resolved |= state == BlockState::resolved ? uint64_t{1} << column : 0;
  }
  return out;
}

// Finds the states of a tile whose granules are blocks, and whose first block belongs to the level.
bool BlockGuard::find_grid(Tile& tile) {
  const uint64_t offset = tile.number * kTile_B;
  const std::optional<Block> first = block_at(offset);
  if (!first || block_width() * element_B_ != granules_.width_B() || block_height() != granules_.height()) {
    return false;
  }
  const std::optional<message::BlockStates::Rows> there =
      states_.rows(first->index, surface_.base + offset, granules_.columns(), granules_.rows());
  if (!there) {
    return false;
  }
  const uint32_t width = width_ - first->index.x * block_width();
  const uint32_t height = height_ - first->index.y * block_height();
  const unsigned columns = std::min(granules_.columns(), (width + block_width() - 1) / block_width());
  const unsigned rows = std::min(granules_.rows(), (height + block_height() - 1) / block_height());
  tile.columns = static_cast<uint8_t>(std::min(columns, width / block_width()));
  tile.rows = static_cast<uint8_t>(std::min(rows, height / block_height()));
  tile.all_columns = static_cast<uint8_t>(columns);
  tile.all_rows = static_cast<uint8_t>(rows);
  tile.states = there->first;
  tile.writable = nullptr;
  tile.grid = there->grid;
  tile.address = there->address;
  tile.bytes = there->bytes;
  return true;
}

void BlockGuard::read_grid(Tile& tile) const {
  for (unsigned row = 0; row < tile.all_rows; ++row) {
    const RowStates of_row = states_of_row(tile, row, tile.all_columns);
    tile.clear |= of_row.clear << row * granules_.columns();
    tile.pending |= (compresses() ? of_row.clear | of_row.resolved : of_row.clear) << row * granules_.columns();
  }
}

void BlockGuard::find_tile(uint64_t number) {
  Tile& tile = tiles_[number % kTiles];
  if (tile.number != number || tile.layer != layer_ || tile.epoch != epoch_) {
    look_at(number, tile);
  }
  last_number_ = number;
  last_ = number % kTiles;
  last_clear_ = tile.clear;
  last_pending_ = tile.pending;
}

void BlockGuard::look_at(uint64_t number, Tile& tile) {
  if (tile.changed != 0) {
    store(tile);
  }
  tile = {.number = number, .layer = layer_, .epoch = epoch_};
  if (find_grid(tile)) {
    read_grid(tile);
    return;
  }
  for (uint64_t row = 0; row < granules_.rows(); ++row) {
    for (uint64_t column = 0; column < granules_.columns(); ++column) {
      const uint64_t offset = number * kTile_B + granules_.offset(column, row);
      if (const std::optional<Block> block = block_at(offset)) {
        note(granules_.number(offset), read(*block), tile);
      }
    }
  }
}

// Returns the host address of a tile's states for writing. Null: the states do not lie together, or are not directly
// accessible.
std::byte* BlockGuard::writable(Tile& tile) {
  if (tile.states != nullptr && tile.writable == nullptr) {
    tile.writable =
        states_.writable({.grid = tile.grid, .address = tile.address, .bytes = tile.bytes, .first = tile.states});
  }
  return tile.writable;
}

// Stores the states of granules, those of a byte at once.
void BlockGuard::store_bytes(Tile& tile, uint64_t granules, BlockState state) {
  const surface::StateForm form = surface_.states.form;
  const uint8_t code = encode_state(form, state);
  uint64_t at = 0;  // offset of the byte
  unsigned mask = 0;
  unsigned bits = 0;
  const auto put = [&] {
    if (mask != 0) {
      message::change_states(tile.writable + at, static_cast<uint8_t>(mask), static_cast<uint8_t>(bits));
    }
  };
  for (; granules != 0; granules &= granules - 1) {
    const auto granule = static_cast<unsigned>(std::countr_zero(granules));
    const surface::StatePlace place = tile.grid.place(granules_.column_of(granule), granules_.row_of(granule));
    if (place.offset != at) {
      put();
      at = place.offset;
      mask = 0;
      bits = 0;
    }
    mask |= static_cast<unsigned>(surface::state_mask(form)) << place.shift;
    bits |= static_cast<unsigned>(code) << place.shift;
  }
  put();
}

void BlockGuard::store(Tile& tile) {
  store_bytes(tile, std::exchange(tile.changed, 0), compresses() ? BlockState::compressed : BlockState::resolved);
}

void BlockGuard::store() {
  for (const uint16_t index : changed_) {
    store(tiles_[index]);
  }
  changed_.clear();
}

std::optional<uint64_t> BlockGuard::clear_of_tile(uint64_t offset) {
  const Tile& at = tile(offset);
  return at.states != nullptr ? std::optional(at.clear) : std::nullopt;
}

bool BlockGuard::write_tile(uint64_t offset, BlockState state) {
  store();
  Tile at{.number = offset / kTile_B, .layer = layer_, .epoch = 0};
  if (!find_grid(at) || writable(at) == nullptr) {
    return false;
  }
  uint64_t granules = 0;
  for (unsigned row = 0; row < at.all_rows; ++row) {
    granules |= low_mask(at.all_columns) << (row * granules_.columns());
  }
  store_bytes(at, granules, state);
  Tile& known = tiles_[at.number % kTiles];
  known.epoch = known.number == at.number ? 0 : known.epoch;
  last_number_ = kNone;
  return true;
}

bool BlockGuard::has_tiles() const {
  const uint64_t width_B = granules_.columns() * granules_.width_B();
  return origin_x_ * element_B_ % width_B == 0 && origin_row_ % (granules_.rows() * granules_.height()) == 0 &&
         block_width() * element_B_ == granules_.width_B() && block_height() == granules_.height();
}

}  // namespace halogen::pipe3d
