// A RENDER_SURFACE_STATE as messages use it: where a buffer ends, where a texel lies. Gen8 and later: levels below and
// right of each other, layers a QPitch apart; 1D and 3D surfaces in the two ways that generations have. Left out:
// samples side by side, levels of Yf and Ys tiles, compression (auxiliary surfaces are taken as uncompressed).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "gen/generation.h"
#include "hw/surface.h"
#include "surface/texel_format.h"
#include "surface/tiling.h"

namespace halogen::message {

struct Surface {
  enum class Kind : uint8_t { none, buffer, image };  // none: reads zero, writes go nowhere

  Kind kind = Kind::none;
  hw::SurfaceType type = hw::SurfaceType::SURFTYPE_NULL;
  bool array = false;
  bool compressed = false;  // has an auxiliary surface
  const surface::TexelFormat* format = nullptr;
  hw::SurfaceFormat format_id{};
  uint64_t base = 0;

  uint64_t elements = 0;   // buffers
  uint32_t element_B = 1;  // buffers: distance of elements
  uint64_t bytes = 0;      // what untyped messages may touch

  uint32_t width = 0;  // images: level 0, in texels
  uint32_t height = 0;
  uint32_t depth = 0;  // slices of a volume, layers of an array
  uint32_t levels = 1;
  uint32_t first_level = 0;   // for the sampler
  uint32_t render_level = 0;  // for typed messages
  uint32_t first_layer = 0;
  uint32_t render_layers = 1;
  uint32_t align_x = 4;
  uint32_t align_y = 4;
  uint32_t x_offset = 0;
  uint32_t y_offset = 0;
  bool rows_of_levels = false;  // Feature::linear_mip_rows
  surface::SurfaceLayout layout;
  std::array<hw::ShaderChannelSelect, 4> select{};

  bool volume() const { return type == hw::SurfaceType::SURFTYPE_3D; }
  uint32_t level_width(uint32_t level) const { return shrink(width, level); }
  uint32_t level_height(uint32_t level) const { return shrink(height, level); }
  uint32_t level_depth(uint32_t level) const { return volume() ? shrink(depth, level) : depth; }

  static uint32_t shrink(uint32_t size, uint32_t level) {
    const uint32_t small = level < 32 ? size >> level : 0;
    return small != 0 ? small : 1;
  }
};

Surface decode_surface(const Generation& generation, const hw::RENDER_SURFACE_STATE& state);

// A texel of an image; layers and slices count from the surface's own first one. The address is not checked against
// the surface's size: the caller has compared coordinates with it.
uint64_t texel_address(const Surface& surface, uint32_t x, uint32_t y, uint32_t layer, uint32_t level);

}  // namespace halogen::message
