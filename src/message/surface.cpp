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

constexpr uint32_t kLineAlign = 64;  // alignment of the levels of a linear 1D surface, independent of the state

struct Place {
  uint64_t x = 0;
  uint64_t y = 0;
};

uint32_t elements(uint32_t texels, uint32_t of_element) {
  return (texels + of_element - 1) / of_element;
}
// Return the padded size of a level in elements, as it is laid out.
uint64_t padded_width(const Surface& surface, uint32_t level) {
  uint32_t width = surface.level_width(level);
  if (surface.samples_beside && surface.samples > 1) {
    width = static_cast<uint32_t>(align_up(width, 2)) * (surface.samples > 4 ? 4 : 2);
  }
  return align_up(elements(width, surface.element_width), surface.align_x);
}
uint64_t padded_height(const Surface& surface, uint32_t level) {
  uint32_t height = surface.level_height(level);
  if (surface.samples_beside && surface.samples > 2) {
    height = static_cast<uint32_t>(align_up(height, 2)) * (surface.samples > 8 ? 4 : 2);
  }
  return align_up(elements(height, surface.element_height), surface.align_y);
}

// Returns the origin of a slice in volumes before Gen9 and in cubes of the first chips: 2^level slices are side by
// side, then the next row follows.
Place place_in_volume(const Surface& surface, uint32_t slice, uint32_t level) {
  Place at;
  for (uint32_t i = 0; i < level; ++i) {
    const uint64_t rows = (uint64_t{surface.level_depth(i)} + (uint64_t{1} << i) - 1) >> i;
    at.y += rows * padded_height(surface, i);
  }
  at.x = (slice & low_mask(level)) * padded_width(surface, level);
  at.y += (uint64_t{slice} >> level) * padded_height(surface, level);
  return at;
}

Place place_of_level(const Surface& surface, uint32_t level) {
  Place at;
  if (surface.line_of_levels) {
    for (uint32_t i = 0; i < level; ++i) {
      at.x += padded_width(surface, i);
    }
    return at;
  }
  if (level == 0) {
    return at;
  }
  at.y = padded_height(surface, 0);
  if (level > 1) {
    at.x = padded_width(surface, 1);
  }
  for (uint32_t i = 2; i < level; ++i) {
    at.y += padded_height(surface, i);
  }
  return at;
}

// Returns the written channels. The disable bits are in the order blue, green, red, alpha.
uint8_t written_channels(uint32_t disables) {
  const uint32_t kept = ~disables;
  return static_cast<uint8_t>((kept >> 2 & 1) | (kept & 2) | (kept & 1) << 2 | (kept & 8));
}

void set_layers(const MessageRules& rules, Surface& surface) {
  if (rules.layers == LayerDistance::stated) {
    if (!rules.alignment_in_elements) {
      surface.layout.layer_rows /= surface.element_height;
    }
    return;
  }
  constexpr uint64_t kExtraRows = 11;
  // Interleaved samples: half of the padded level 0. That is 4 rows more than level 1 has if the height is 5, 9, 13 and
  // so on (Sandy Bridge PRM vol. 4 part 1, surface arrays: an erratum of the sampler).
  const uint64_t second = surface.samples_beside && surface.samples > 2
                              ? align_up(align_up(surface.level_height(0), 2), surface.align_y)
                              : padded_height(surface, 1);
  surface.layout.layer_rows = padded_height(surface, 0) + second + kExtraRows * surface.align_y;
}

}  // namespace

Surface decode_surface(const Generation& generation, const State& state) {
  Surface surface;
  surface.type = state.surface_type;
  surface.array = state.surface_array;
  surface.format_id = state.surface_format;
  surface.format = &surface::texel_format(state.surface_format);
  surface.block = surface::block_format(state.surface_format);
  const MessageRules& rules = message_rules(generation.id());
  surface.base = state.surface_base_address.value;
  if (rules.channel_selects) {
    surface.select = {state.shader_channel_select_red, state.shader_channel_select_green,
                      state.shader_channel_select_blue, state.shader_channel_select_alpha};
  }
  if (rules.target_control) {
    surface.written = written_channels(state.color_buffer_component_write_disables);
    surface.blends = state.color_blend_enable;
  }
  const uint32_t pitch_B = state.surface_pitch + 1u;
  switch (state.surface_type) {
    case hw::SurfaceType::SURFTYPE_BUFFER:
    case hw::SurfaceType::SURFTYPE_STRBUF: {
      // The number of elements or bytes minus one is spread over three fields.
      const uint64_t last =
          uint64_t{state.depth} << rules.buffer_depth_shift | uint64_t{state.height} << 7 | (state.width & 0x7fu);
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
  if (!rules.array_bit && surface.depth > 1) {
    surface.array = state.surface_type != hw::SurfaceType::SURFTYPE_3D;
  }
  if (state.surface_type == hw::SurfaceType::SURFTYPE_CUBE) {
    surface.depth *= 6;
  }
  surface.levels = state.mip_count_lod + 1u;
  surface.first_level = state.surface_min_lod;
  surface.render_level = state.mip_count_lod;
  surface.first_layer = state.minimum_array_element;
  surface.render_layers = state.render_target_view_extent + 1u;
  surface.resource_min_lod = state.resource_min_lod;
  surface.samples = 1u << (static_cast<unsigned>(state.number_of_multisamples) & 7);
  surface.samples_beside = surface.samples > 1 && (rules.sample_position_interleaved ||
                                                   state.multisampled_surface_storage_format ==
                                                       State::MultisampledSurfaceStorageFormat::depth_stencil);
  if (surface.block != nullptr) {
    surface.element_width = surface.block->width;
    surface.element_height = surface.block->height;
  }
  surface.align_x = alignment_of(state.surface_horizontal_alignment);
  surface.align_y = 2u << static_cast<unsigned>(state.surface_vertical_alignment);
  surface.x_offset = state.x_offset * 4u / surface.element_width;
  surface.y_offset = state.y_offset * uint32_t{rules.y_offset_unit} / surface.element_height;
  if (!rules.alignment_in_elements) {
    surface.align_x = std::max(1u, surface.align_x / surface.element_width);
    surface.align_y = std::max(1u, surface.align_y / surface.element_height);
  }
  surface.rows_of_levels = generation.has(spec::Feature::linear_mip_rows);
  surface.cube_as_volume = rules.cube_as_volume && surface.cube();
  surface.layout = surface::layout_of(state, surface.readable() ? surface.element_bytes() * 8 : 32);
  surface.line_of_levels =
      surface.rows_of_levels && state.surface_type == hw::SurfaceType::SURFTYPE_1D && surface.layout.pattern == nullptr;
  if (surface.line_of_levels) {
    surface.align_x = kLineAlign;
    surface.align_y = 1;
  }
  set_layers(rules, surface);
  surface.bytes = uint64_t{pitch_B} * surface.height;
  return surface;
}

// Returns the position of a sample in an interleaved surface. Every 2x2 pixels become a square of two or four times the
// size, which holds one sample of all four pixels after the other.
ImagePlace sample_place(uint32_t samples, uint32_t x, uint32_t y, uint32_t sample) {
  ImagePlace at{x, y};
  if (samples > 4) {
    at.x = uint64_t{x & ~1u} << 2 | (sample & 4) | (sample & 1) << 1 | (x & 1);
  } else if (samples > 1) {
    at.x = uint64_t{x & ~1u} << 1 | (sample & 1) << 1 | (x & 1);
  }
  if (samples > 8) {
    at.y = uint64_t{y & ~1u} << 2 | (sample & 8) >> 1 | (sample & 2) | (y & 1);
  } else if (samples > 2) {
    at.y = uint64_t{y & ~1u} << 1 | (sample & 2) | (y & 1);
  }
  return at;
}

ImagePlace image_place(const Surface& surface, uint32_t layer, uint32_t level, uint32_t sample) {
  const bool old_volume = surface.cube_as_volume || (surface.volume() && !surface.rows_of_levels);
  uint32_t z = surface.first_layer + layer;
  if (surface.samples > 1 && !surface.samples_beside) {
    z = z * surface.samples + sample;
  }
  const Place at = old_volume ? place_in_volume(surface, z, level) : place_of_level(surface, level);
  if (surface.line_of_levels) {
    // QPitch counts elements: layers follow each other like levels.
    return {.x = at.x + surface.x_offset + z * surface.layout.layer_rows, .y = surface.y_offset, .z = 0};
  }
  return {.x = at.x + surface.x_offset, .y = at.y + surface.y_offset, .z = old_volume ? 0u : z};
}

uint64_t texel_address(const Surface& surface, uint32_t x, uint32_t y, uint32_t layer, uint32_t level,
                       uint32_t sample) {
  const ImagePlace at = image_place(surface, layer, level, sample);
  const ImagePlace texel =
      surface.samples_beside ? sample_place(surface.samples, x, y, sample) : ImagePlace{.x = x, .y = y};
  const uint64_t column = at.x + texel.x / surface.element_width;
  const uint64_t row = at.y + texel.y / surface.element_height;
  return surface.base +
         surface::offset_of(surface.layout, {.x_B = column * surface.element_bytes(), .y = row, .z = at.z});
}

}  // namespace halogen::message
