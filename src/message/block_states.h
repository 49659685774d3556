// The compression state of a surface's blocks, as one client reads and writes it. States that cannot be reached count
// as resolved.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "memory/address_space.h"
#include "memory/aux_table.h"
#include "message/surface.h"
#include "surface/block_state.h"

namespace halogen::message {

class BlockStates {
 public:
  BlockStates() = default;
  BlockStates(const surface::StateMap& map, memory::AddressSpace& space);

  // `main`: the address of any byte of the block in the surface.
  surface::BlockState read(const surface::BlockIndex& block, uint64_t main);
  // Returns whether the state was stored.
  bool write(const surface::BlockIndex& block, uint64_t main, surface::BlockState state);
  // Reads four blocks side by side. False: their states do not lie in one byte, or two; nothing was read.
  bool read_four(const surface::BlockIndex& first, uint64_t main, std::array<surface::BlockState, 4>& out);
  // The states of blocks side by side and below each other, with the host address of the first one.
  struct Rows {
    surface::StateGrid grid;
    GpuVa address{};
    uint64_t bytes = 0;
    const std::byte* first = nullptr;
  };
  // No value: the states do not lie together, or a page is not directly accessible.
  std::optional<Rows> rows(const surface::BlockIndex& first, uint64_t main, unsigned columns, unsigned rows);
  // Returns the host address of `rows.first` for writing. Null: not directly accessible.
  std::byte* writable(const Rows& rows);
  // Returns whether a fault stopped an access.
  bool failed() const { return failed_; }

 private:
  std::optional<surface::StatePlace> find(const surface::BlockIndex& block, uint64_t main);

  surface::StateMap map_;
  memory::AddressSpace* space_ = nullptr;
  memory::AuxTable table_;
  bool failed_ = false;
};

// Changes the bits of `mask` in a byte of host memory. Other host threads may change other bits of the byte.
void change_states(std::byte* at, uint8_t mask, uint8_t bits);

// Sets the clear colours of a surface. False: stopped by a fault.
bool attach_clear(const Generation& generation, const hw::RENDER_SURFACE_STATE& state, memory::AddressSpace& space,
                  Surface& surface);

// Stores the converted clear colour, if a fast clear of the surface does that. False: stopped by a fault.
bool store_converted_clear(const Surface& surface, memory::AddressSpace& space);

// Sets the states and the clear colours of a surface with one sample. `aux_table`: address of the level 3 auxiliary
// table. False: stopped by a fault.
bool attach_states(const Generation& generation, const hw::RENDER_SURFACE_STATE& state, uint64_t aux_table,
                   memory::AddressSpace& space, Surface& surface);

// Returns whether a block of the surface may be clear. The answer is exact for surfaces whose states lie apart from
// those of others.
bool may_be_clear(const Surface& surface, memory::AddressSpace& space);

// Fills all clear blocks of a surface's levels and layers, if the surface is not too large to be filled at once.
enum class Fill : uint8_t { done, too_large, fault };
Fill fill_clear_blocks(const Surface& surface, memory::AddressSpace& space);

// Returns an upper bound of the number of blocks in all levels and layers.
uint64_t block_count(const Surface& surface);

// Returns the index of the block that holds an element of a level.
surface::BlockIndex block_of(const Surface& surface, uint32_t x, uint32_t y, uint32_t layer, uint32_t level);

}  // namespace halogen::message
