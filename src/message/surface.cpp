#include "message/surface.h"

#include <algorithm>

#include "base/bits.h"
#include "surface/state_layout.h"

namespace halogen::message {
namespace {

using State = hw::RENDER_SURFACE_STATE;

uint32_t alignment_of(State::SurfaceHorizontalAlignment code) {
  switch (code) {
    case State::SurfaceHorizontalAlignment::halign_8:
      return 8;
    case State::SurfaceHorizontalAlignment::halign_16:
      return 16;
    case State::SurfaceHorizontalAlignment::halign_4:
      break;
  }
  return 4;
}

struct Place {
  uint64_t x = 0;
  uint64_t y = 0;
};

// Levels of a volume before Gen9: 2^level slices of it beside each other, then the next row of slices.
Place place_in_volume(const Surface& surface, uint32_t slice, uint32_t level) {
  Place at;
  for (uint32_t i = 0; i < level; ++i) {
    const uint64_t rows = (uint64_t{surface.level_depth(i)} + (1u << i) - 1) >> i;
    at.y += rows * align_up(surface.level_height(i), surface.align_y);
  }
  at.x = (slice & low_mask(level)) * align_up(surface.level_width(level), surface.align_x);
  at.y += (uint64_t{slice} >> level) * align_up(surface.level_height(level), surface.align_y);
  return at;
}

Place place_of_level(const Surface& surface, uint32_t level) {
  Place at;
  if (surface.type == hw::SurfaceType::SURFTYPE_1D && surface.rows_of_levels) {
    for (uint32_t i = 0; i < level; ++i) {
      at.x += align_up(surface.level_width(i), surface.align_x);
    }
    return at;
  }
  if (level == 0) {
    return at;
  }
  at.y = align_up(surface.height, surface.align_y);
  if (level > 1) {
    at.x = align_up(surface.level_width(1), surface.align_x);
  }
  for (uint32_t i = 2; i < level; ++i) {
    at.y += align_up(surface.level_height(i), surface.align_y);
  }
  return at;
}

}  // namespace

Surface decode_surface(const Generation& generation, const State& state) {
  Surface surface;
  surface.type = state.surface_type;
  surface.array = state.surface_array;
  surface.format_id = state.surface_format;
  surface.format = &surface::texel_format(state.surface_format);
  surface.base = state.surface_base_address.value;
  surface.compressed = state.auxiliary_surface_mode != hw::AuxiliarySurfaceMode::AUX_NONE;
  surface.select = {state.shader_channel_select_red, state.shader_channel_select_green,
                    state.shader_channel_select_blue, state.shader_channel_select_alpha};
  const uint32_t pitch_B = state.surface_pitch + 1u;
  switch (state.surface_type) {
    case hw::SurfaceType::SURFTYPE_BUFFER:
    case hw::SurfaceType::SURFTYPE_STRBUF: {
      // The number of elements, or of bytes, less one, is spread over three fields.
      const uint64_t last = uint64_t{state.depth} << 21 | uint64_t{state.height} << 7 | (state.width & 0x7fu);
      surface.kind = Surface::Kind::buffer;
      const bool counts_bytes = state.surface_format == hw::SurfaceFormat::RAW || pitch_B == 1;
      surface.element_B = counts_bytes ? 1 : pitch_B;
      surface.elements = last + 1;
      surface.bytes = surface.elements * surface.element_B;
      return surface;
    }
    case hw::SurfaceType::SURFTYPE_NULL:
      return surface;
    case hw::SurfaceType::SURFTYPE_1D:
    case hw::SurfaceType::SURFTYPE_2D:
    case hw::SurfaceType::SURFTYPE_3D:
    case hw::SurfaceType::SURFTYPE_CUBE:
      break;
    default:
      return surface;
  }
  surface.kind = Surface::Kind::image;
  surface.width = state.width + 1u;
  surface.height = state.surface_type == hw::SurfaceType::SURFTYPE_1D ? 1u : state.height + 1u;
  surface.depth = state.depth + 1u;
  if (state.surface_type == hw::SurfaceType::SURFTYPE_CUBE) {
    surface.depth *= 6;
  }
  surface.levels = state.mip_count_lod + 1u;
  surface.first_level = state.surface_min_lod;
  surface.render_level = state.mip_count_lod;
  surface.first_layer = state.minimum_array_element;
  surface.render_layers = state.render_target_view_extent + 1u;
  surface.align_x = alignment_of(state.surface_horizontal_alignment);
  surface.align_y = 2u << static_cast<unsigned>(state.surface_vertical_alignment);
  surface.x_offset = state.x_offset * 4u;
  surface.y_offset = state.y_offset * 4u;
  surface.rows_of_levels = generation.has(spec::Feature::linear_mip_rows);
  surface.layout = surface::layout_of(state, surface.format->known() ? surface.format->bits : 32);
  surface.bytes = uint64_t{pitch_B} * surface.height;
  return surface;
}

uint64_t texel_address(const Surface& surface, uint32_t x, uint32_t y, uint32_t layer, uint32_t level) {
  const bool old_volume = surface.volume() && !surface.rows_of_levels;
  const uint32_t z = surface.first_layer + layer;
  const Place at = old_volume ? place_in_volume(surface, z, level) : place_of_level(surface, level);
  const uint64_t x_B = (at.x + x + surface.x_offset) * surface.format->bytes();
  const uint64_t row = at.y + y + surface.y_offset;
  return surface.base + surface::offset_of(surface.layout, {.x_B = x_B, .y = row, .z = old_volume ? 0u : z});
}

}  // namespace halogen::message
