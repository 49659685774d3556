// States of the blocks of a surface: clear, compressed or resolved, and where they lie in memory. Control surfaces are
// Y tiles of cache lines; the order of blocks inside a line, and the encoding of states, are the model's choice, except
// that software initialises a control surface with zeros (resolved) and hierarchical depth with zeros (clear).
#pragma once

#include <cstdint>
#include <optional>

namespace halogen::surface {

enum class BlockState : uint8_t { resolved, compressed, clear };

enum class StateForm : uint8_t { none, one_bit, two_bits, four_bits, hierarchical };

// The states of a surface.
struct StateMap {
  StateForm form = StateForm::none;
  uint64_t base = 0;         // address of the states; of the level 3 table for four_bits
  uint64_t pitch_tiles = 1;  // of the states
  uint64_t layer_rows = 0;   // rows of blocks between layers
  uint32_t width = 1;        // of level 0 of the surface, in elements
  uint32_t height = 1;
  uint32_t block_width = 1;  // in elements
  uint32_t block_height = 1;
  uint32_t pad_x = 1;  // blocks that levels are padded to
  uint32_t pad_y = 1;
  bool level_base = false;  // the base is that of the level in use
  bool compresses = false;  // a write leaves its block compressed instead of resolved
};

struct BlockIndex {
  uint32_t x = 0;  // in blocks of the level
  uint32_t y = 0;
  uint32_t layer = 0;
  uint32_t level = 0;
};

// The place of a state: bits of one byte.
struct StatePlace {
  uint64_t offset = 0;  // from the base of the states
  uint8_t shift = 0;
};

// Returns the place of the state of a block, for all forms but four_bits.
StatePlace state_place(const StateMap& map, const BlockIndex& block);

// Returns the number of tiles that the states of `layers` layers with `levels` levels occupy, for all forms but
// four_bits.
uint64_t state_tiles(const StateMap& map, uint32_t layers, uint32_t levels);

// Returns the place of the state of the block at an address of the main surface, for four_bits. The offset counts from
// the address that the auxiliary table gives for the 64 KB of the main address.
constexpr uint64_t kMappedPage_B = 65536;
constexpr StatePlace mapped_state_place(uint64_t main) {
  const uint64_t tile = main % kMappedPage_B >> 12;
  const auto block = static_cast<uint8_t>((main >> 10 & 3) | (main >> 6 & 7) << 2);  // 4x8 blocks of a Y tile
  return {.offset = tile * 16 + block / 2, .shift = static_cast<uint8_t>(block % 2 * 4)};
}

// Returns the column of the block at an address among the four of its tile.
constexpr unsigned column_in_tile(uint64_t main) {
  return static_cast<unsigned>(main >> 10 & 3);
}

constexpr unsigned state_bits(StateForm form) {
  switch (form) {
    case StateForm::one_bit:
      return 1;
    case StateForm::two_bits:
      return 2;
    case StateForm::four_bits:
      return 4;
    case StateForm::none:
    case StateForm::hierarchical:
      break;
  }
  return 8;
}

constexpr uint8_t state_mask(StateForm form) {
  return static_cast<uint8_t>((1u << state_bits(form)) - 1);
}

// The states of a rectangle of blocks, relative to the first byte of the first block's state.
struct StateGrid {
  unsigned first_shift = 0;
  unsigned bits = 0;      // of a state; zero: hierarchical depth
  unsigned row_bits = 0;  // from a row of blocks to the next

  StatePlace place(unsigned column, unsigned row) const {
    if (bits == 0) {
      return {.offset = column / 2 * 512 + column % 2 * 16 + row * 32};
    }
    const unsigned bit = first_shift + row * row_bits + column * bits;
    return {.offset = bit / 8, .shift = static_cast<uint8_t>(bit % 8)};
  }
};

// Returns the grid of the blocks to the right of and below a block, whose state is at `first`. No value: their states
// do not lie in one cache line, or in one page of hierarchical depth.
std::optional<StateGrid> state_grid(StateForm form, const StatePlace& first, unsigned columns, unsigned rows);

// Return the state that bits of memory stand for, and the bits of a state. All bits of a clear block are set in a
// control surface and zero in hierarchical depth. One bit, and hierarchical depth, have no compressed state.
constexpr BlockState decode_state(StateForm form, uint8_t bits) {
  if (form == StateForm::hierarchical) {
    return bits == 0 ? BlockState::clear : BlockState::resolved;
  }
  return bits == 0 ? BlockState::resolved : bits == state_mask(form) ? BlockState::clear : BlockState::compressed;
}
constexpr uint8_t encode_state(StateForm form, BlockState state) {
  const uint8_t all = state_mask(form);
  if (form == StateForm::hierarchical) {
    return state == BlockState::clear ? uint8_t{0} : all;
  }
  return state == BlockState::clear ? all : state == BlockState::compressed && all > 1 ? uint8_t{1} : uint8_t{0};
}

}  // namespace halogen::surface
