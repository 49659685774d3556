// The clear blocks of a surface at the time it was bound, for samplers: one bit for each granule of its tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/address_space.h"
#include "message/surface.h"
#include "surface/granules.h"

namespace halogen::message {

class ClearBlocks {
 public:
  // Reads the states of all levels and layers. False: a fault, a surface that is too large, or blocks that are not
  // granules; the caller reads states texel by texel.
  bool read(const Surface& surface, memory::AddressSpace& space);

  // Returns whether the tile that holds an offset has clear blocks.
  bool in_tile(uint64_t offset) const {
    const uint64_t tile = offset / surface::Granules::kTile_B;
    return tile < tiles_.size() && tiles_[tile] != 0;
  }
  // Returns whether the byte at an offset from the surface's base belongs to a clear block.
  bool at(uint64_t offset) const {
    const uint64_t tile = offset / surface::Granules::kTile_B;
    return tile < tiles_.size() && (tiles_[tile] >> granules_.number(offset) & 1) != 0;
  }

 private:
  bool read_slice(const Surface& surface, uint32_t layer, uint32_t level, class BlockStates& states);
  bool note(uint64_t offset);

  surface::Granules granules_;
  std::vector<uint64_t> tiles_;
};

}  // namespace halogen::message
