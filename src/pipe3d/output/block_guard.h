// The blocks of a plane whose state must change before a client may use their bytes: clear blocks, and blocks that a
// write leaves compressed. They are found by the granule of an address: a part of a 4 KB tile that belongs to one
// block. Tiles are looked at when they are first used, and remembered until the next begin(). No other thread changes
// blocks that this one uses. New states of blocks reach memory with store(), because threads would otherwise compete
// for their cache lines.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "message/block_states.h"
#include "message/surface.h"
#include "surface/granules.h"

namespace halogen::pipe3d {

class BlockGuard {
 public:
  void begin() {
    store();
    on_ = false;
  }
  // Starts with a level of a surface with states. False: the plane's blocks cannot be guarded granule by granule.
  bool begin(const message::Surface& surface, uint32_t level, uint32_t element_B, memory::AddressSpace& space);

  // Stops and continues to guard, for layers whose blocks cannot be guarded.
  void pause() { begin(); }
  void resume() { on_ = true; }
  bool on() const { return on_; }
  bool failed() const { return on_ && states_.failed(); }
  // The position of the level's slice in the surface, in elements and rows. Set whenever the slice changes.
  void set_origin(uint32_t layer, uint64_t x, uint64_t row) {
    layer_ = layer;
    last_number_ = kNone;
    origin_x_ = x;
    origin_row_ = row;
  }

  // Return whether the block at an offset from the surface's base is clear, or has to change before a write.
  bool clear(uint64_t offset) {
    select(offset);
    return last_clear_ != 0 && (last_clear_ >> granules_.number(offset) & 1) != 0;
  }
  bool pending(uint64_t offset) {
    select(offset);
    return last_pending_ != 0 && (last_pending_ >> granules_.number(offset) & 1) != 0;
  }

  bool pending_in_tile(uint64_t offset) {
    select(offset);
    return last_pending_ != 0;
  }

  struct Block {
    surface::BlockIndex index;
    uint64_t offset = 0;  // of a byte inside
  };
  // Return the block at an offset, if it belongs to the level, and the block of an element of the level.
  std::optional<Block> block_at(uint64_t offset) const;
  Block block_of(uint32_t x, uint32_t y, uint64_t offset) const;
  // Returns whether every granule of the level belongs to one block.
  bool is_aligned() const;
  uint32_t width() const { return width_; }  // of the level, in elements
  uint32_t height() const { return height_; }
  uint32_t block_width() const { return surface_.states.block_width; }
  uint32_t block_height() const { return surface_.states.block_height; }
  bool compresses() const { return surface_.states.compresses; }
  surface::BlockState read(const Block& block) {
    store();
    return states_.read(block.index, surface_.base + block.offset);
  }
  // Returns whether the state was stored.
  bool write(const Block& block, surface::BlockState state);

  // The block of a granule that is pending. `whole`: it lies inside the level.
  struct Pending {
    uint64_t offset = 0;  // of the granule
    unsigned granule = 0;
    bool clear = false;
    bool whole = false;
  };
  // No value: its state cannot be changed by finish(); use block_at() and write().
  std::optional<Pending> pending_at(uint64_t offset) {
    Tile& at = tile(offset);
    if (at.writable == nullptr && writable(at) == nullptr) {
      return std::nullopt;
    }
    const unsigned granule = granules_.number(offset);
    const unsigned column = granules_.column_of(granule);
    const unsigned row = granules_.row_of(granule);
    return Pending{.offset = at.number * surface::Granules::kTile_B + granules_.offset(column, row),
                   .granule = granule,
                   .clear = (at.clear >> granule & 1) != 0,
                   .whole = column < at.columns && row < at.rows};
  }
  // Gives it the state that a write leaves, with the next store().
  void finish(const Pending& block) {
    Tile& at = tile(block.offset);
    const uint64_t bit = uint64_t{1} << block.granule;
    if (at.changed == 0) {
      changed_.push_back(static_cast<uint16_t>(last_));
    }
    last_clear_ = at.clear &= ~bit;
    last_pending_ = at.pending &= ~bit;
    at.changed |= bit;
  }
  void store();
  // Forgets all tiles. Called after another plane may have changed states.
  void forget() {
    store();
    ++epoch_;
    last_number_ = kNone;
  }
  const surface::Granules& granules() const { return granules_; }
  // Returns the clear granules of the tile that holds an offset. No value: the tile does not begin with a block of the
  // level, or its states do not lie together.
  std::optional<uint64_t> clear_of_tile(uint64_t offset);
  // Gives all blocks of such a tile a state. Returns whether they were stored.
  bool write_tile(uint64_t offset, surface::BlockState state);
  // Returns whether each tile of the level begins with a block of the level.
  bool has_tiles() const;
  uint32_t tile_width() const { return granules_.columns() * block_width(); }  // in elements
  uint32_t tile_height() const { return granules_.rows() * block_height(); }

 private:
  static constexpr uint64_t kTileBits = 12;
  static constexpr size_t kTiles = 256;
  static constexpr uint64_t kNone = ~uint64_t{0};
  struct Tile {
    uint64_t number = 0;
    uint32_t layer = 0;
    uint32_t epoch = 0;
    uint64_t clear = 0;
    uint64_t pending = 0;
    uint64_t changed = 0;               // by finish()
    const std::byte* states = nullptr;  // of its blocks, if they lie in a grid
    std::byte* writable = nullptr;      // the same; null: not looked up yet
    uint8_t columns = 0;                // of granules that lie inside the level as a whole
    uint8_t rows = 0;
    uint8_t all_columns = 0;  // of granules that belong to the level
    uint8_t all_rows = 0;
    surface::StateGrid grid;
    GpuVa address{};
    uint64_t bytes = 0;
  };
  void select(uint64_t offset) {
    const uint64_t number = offset >> kTileBits;
    if (number != last_number_) [[unlikely]] {
      find_tile(number);
    }
  }
  Tile& tile(uint64_t offset) {
    select(offset);
    return tiles_[last_];
  }
  void find_tile(uint64_t number);
  void look_at(uint64_t number, Tile& tile);
  bool find_grid(Tile& tile);
  void read_grid(Tile& tile) const;
  struct RowStates {
    uint64_t clear = 0;
    uint64_t resolved = 0;
  };
  RowStates states_of_row(const Tile& tile, unsigned row, unsigned columns) const;
  void note(unsigned granule, surface::BlockState state, Tile& tile) const;
  std::byte* writable(Tile& tile);
  void store(Tile& tile);
  void store_bytes(Tile& tile, uint64_t granules, surface::BlockState state);
  bool is_pending(surface::BlockState state) const {
    return state == surface::BlockState::clear || (compresses() && state == surface::BlockState::resolved);
  }

  message::Surface surface_;
  message::BlockStates states_;
  bool on_ = false;
  uint32_t level_ = 0;
  uint32_t element_B_ = 1;
  uint32_t width_ = 0;  // of the level, in elements
  uint32_t height_ = 0;
  uint32_t layer_ = 0;
  uint64_t origin_x_ = 0;
  uint64_t origin_row_ = 0;
  surface::Granules granules_;
  uint32_t epoch_ = 1;
  std::vector<Tile> tiles_;       // kTiles, once a surface has been guarded
  uint64_t last_number_ = kNone;  // the tile that was used last
  size_t last_ = 0;
  uint64_t last_clear_ = 0;  // of it
  uint64_t last_pending_ = 0;
  std::vector<uint16_t> changed_;  // indices of tiles with changed states
};

}  // namespace halogen::pipe3d
