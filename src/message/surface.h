// A RENDER_SURFACE_STATE of any generation as messages use it: bounds of buffers and addresses of texels. Levels are
// below and to the right of each other, layers are a QPitch apart (before Gen8 as far as the levels need), 1D and 3D
// surfaces have the two layouts of the generations, samples have their own slices or are interleaved. Not modelled:
// levels of Yf and Ys tiles.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "gen/generation.h"
#include "gen/message_rules.h"
#include "hw/surface.h"
#include "surface/block_format.h"
#include "surface/block_state.h"
#include "surface/texel_format.h"
#include "surface/tiling.h"

namespace halogen::message {

class ClearBlocks;

// The map (MCS) of a surface whose samples have their own slices: for each pixel, the slices of its samples, or clear.
struct SampleMap {
  bool present = false;
  uint64_t base = 0;
  uint64_t pitch_tiles = 1;
  uint64_t layer_rows = 0;
};

struct Surface {
  enum class Kind : uint8_t { none, buffer, image };  // none: reads return zero, writes are dropped

  Kind kind = Kind::none;
  hw::SurfaceType type = hw::SurfaceType::SURFTYPE_NULL;
  bool array = false;
  const surface::TexelFormat* format = nullptr;
  const surface::BlockFormat* block = nullptr;  // of compressed formats
  hw::SurfaceFormat format_id{};
  uint64_t base = 0;

  uint64_t elements = 0;   // buffers
  uint32_t element_B = 1;  // of buffers: distance of elements
  uint64_t bytes = 0;      // bytes that untyped messages may access

  uint32_t width = 0;  // of images: level 0, in texels
  uint32_t height = 0;
  uint32_t depth = 0;  // slices of a volume, layers of an array
  uint32_t levels = 1;
  uint32_t first_level = 0;   // for the sampler and typed messages
  uint32_t render_level = 0;  // for render targets
  uint32_t first_layer = 0;
  uint32_t render_layers = 1;
  uint32_t samples = 1;
  bool samples_beside = false;    // samples are interleaved; otherwise each sample is a layer
  double resource_min_lod = 0.0;  // levels below this one do not exist
  uint32_t element_width = 1;     // texels of an element, which is a block of a compressed format
  uint32_t element_height = 1;
  uint32_t align_x = 4;  // in elements
  uint32_t align_y = 4;
  uint32_t x_offset = 0;
  uint32_t y_offset = 0;
  bool rows_of_levels = false;  // Feature::linear_mip_rows
  bool line_of_levels = false;  // levels of a linear 1D surface follow each other
  bool cube_as_volume = false;
  uint8_t written = 0xf;  // render targets of the first chips: mask of red, green, blue, alpha
  bool blends = true;     // render targets of the first chips: blending is enabled
  surface::SurfaceLayout layout;
  surface::StateMap states;                   // of blocks; none: every block is resolved
  surface::Texel clear{};                     // the colour of clear blocks and pixels, as render targets read it
  std::array<std::byte, 16> sampled_clear{};  // a clear element in the format of the surface, as samplers read it
  const ClearBlocks* clear_blocks = nullptr;  // for samplers; null: states are read texel by texel
  uint64_t converted_at = 0;                  // where a fast clear stores the converted colour; 0: nowhere
  SampleMap sample_map;
  std::array<hw::ShaderChannelSelect, 4> select{hw::ShaderChannelSelect::RED, hw::ShaderChannelSelect::GREEN,
                                                hw::ShaderChannelSelect::BLUE, hw::ShaderChannelSelect::ALPHA};

  // Returns whether texels can be read and filtered. Typed messages need a plain format.
  bool readable() const { return format->known() || block != nullptr; }
  bool cube() const { return type == hw::SurfaceType::SURFTYPE_CUBE; }
  uint32_t element_bytes() const { return block != nullptr ? block->bytes : format->bytes(); }
  bool integer() const { return format->integer; }
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

// Returns the address of a texel of an image, or of its block in a compressed format. Layers and slices are relative to
// the surface's first one. The address is not checked against the size of the surface, because the caller has compared
// the coordinates.
uint64_t texel_address(const Surface& surface, uint32_t x, uint32_t y, uint32_t layer, uint32_t level,
                       uint32_t sample = 0);

// The same in parts, for code that visits many texels: the origin of a level of a layer, in elements, rows and layers
// of the whole surface. Samples that have their own slices count as layers.
struct ImagePlace {
  uint64_t x = 0;
  uint64_t y = 0;
  uint64_t z = 0;
};
ImagePlace image_place(const Surface& surface, uint32_t layer, uint32_t level, uint32_t sample = 0);
// Returns the position of a texel whose samples are interleaved.
ImagePlace sample_place(uint32_t samples, uint32_t x, uint32_t y, uint32_t sample);

}  // namespace halogen::message
