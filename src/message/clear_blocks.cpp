#include "message/clear_blocks.h"

#include <algorithm>
#include <array>

#include "message/block_states.h"

namespace halogen::message {
namespace {

using surface::BlockState;

constexpr uint64_t kMaxTiles = 1 << 15;  // 128 MB of surface

}  // namespace

bool ClearBlocks::note(uint64_t offset) {
  const uint64_t tile = offset / surface::Granules::kTile_B;
  if (tile >= kMaxTiles) {
    return false;
  }
  if (tile >= tiles_.size()) {
    tiles_.resize(tile + 1);
  }
  tiles_[tile] |= uint64_t{1} << granules_.number(offset);
  return true;
}

bool ClearBlocks::read_slice(const Surface& surface, uint32_t layer, uint32_t level, BlockStates& states) {
  const uint32_t element_B = surface.element_bytes();
  const surface::StateMap& map = surface.states;
  const ImagePlace place = image_place(surface, layer, level);
  if (place.x * element_B % granules_.width_B() != 0 ||
      (place.y + place.z * surface.layout.layer_rows) % granules_.height() != 0) {
    return false;
  }
  const auto offset = [&](uint32_t x, uint32_t y) {
    return surface::offset_of(surface.layout, {.x_B = (place.x + x) * element_B, .y = place.y + y, .z = place.z});
  };
  const uint32_t width = surface.level_width(level);
  for (uint32_t y = 0; y < surface.level_height(level); y += map.block_height) {
    for (uint32_t x = 0; x < width;) {
      const surface::BlockIndex block = block_of(surface, x, y, layer, level);
      const uint64_t first = offset(x, y);
      std::array<BlockState, 4> four{};
      const bool at_once = states.read_four(block, surface.base + first, four);
      if (!at_once) {
        four[0] = states.read(block, surface.base + first);
      }
      for (uint32_t i = 0; i < (at_once ? four.size() : 1) && x < width; ++i, x += map.block_width) {
        if (four[i] == BlockState::clear && !note(offset(x, y))) {
          return false;
        }
      }
    }
  }
  return !states.failed();
}

bool ClearBlocks::read(const Surface& surface, memory::AddressSpace& space) {
  const surface::StateMap& map = surface.states;
  const surface::SurfaceLayout& layout = surface.layout;
  const uint64_t block_B = uint64_t{map.block_width} * surface.element_bytes();
  const auto granules = layout.pattern == nullptr || layout.swizzle != surface::SwizzleMode::none
                            ? std::nullopt
                            : surface::Granules::of(layout.pattern->tiling, block_B);
  if (!granules || granules->width_B() != block_B || granules->height() != map.block_height || surface.samples != 1 ||
      surface.block != nullptr || block_count(surface) > kMaxTiles * granules->columns() * granules->rows()) {
    return false;
  }
  granules_ = *granules;
  tiles_.clear();
  BlockStates states(map, space);
  for (uint32_t level = surface.first_level; level < surface.first_level + surface.levels; ++level) {
    for (uint32_t layer = 0; layer < surface.level_depth(level); ++layer) {
      if (!read_slice(surface, layer, level, states)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace halogen::message
