#include "pipe3d/state/resolve.h"

#include <algorithm>
#include <bit>

#include "eu/thread.h"
#include "gen/depth_rules.h"
#include "hw/3d_depth.h"
#include "hw/3d_raster.h"
#include "hw/3d_vertex.h"
#include "hw/vertex.h"
#include "pipe3d/state/resolve_parts.h"

namespace halogen::pipe3d {
namespace {

using spec::CommandId;

// Returns a vertex buffer. `unbounded`: a size of zero means no bound.
VertexBuffer buffer_of(const hw::VERTEX_BUFFER_STATE& state, bool unbounded) {
  VertexBuffer buffer;
  buffer.valid = true;
  buffer.null = state.null_vertex_buffer;
  buffer.address = state.buffer_starting_address.value;
  buffer.pitch = state.buffer_pitch;
  if (state.end_address.value != 0) {
    buffer.bytes =
        state.end_address.value >= buffer.address ? state.end_address.value - buffer.address + 1 : uint64_t{0};
  } else if (state.buffer_size != 0) {
    buffer.bytes = state.buffer_size;
  } else if (state.max_index != 0) {
    buffer.bytes = (uint64_t{state.max_index} + 1) * std::max<uint32_t>(buffer.pitch, 1);
  } else if (unbounded) {
    buffer.bytes = uint64_t{1} << 32;
  }
  return buffer;
}

void put_system(VertexState& vertices, bool enable, size_t element, size_t component, SystemValue value) {
  if (enable && element < vertices.elements.size() && component < 4) {
    vertices.elements[element].system[component] = value;
  }
}

// Sets system values. Before Gen8 the component's control selects them, later the SGVS commands do.
void resolve_system_values(Resolver& from, VertexState& vertices) {
  for (VertexElement& element : vertices.elements) {
    for (size_t i = 0; i < 4; ++i) {
      switch (element.control[i]) {
        case hw::VertexComponentControl::STORE_VID:
          element.system[i] = SystemValue::vertex_id;
          break;
        case hw::VertexComponentControl::STORE_IID:
          element.system[i] = SystemValue::instance_id;
          break;
        case hw::VertexComponentControl::STORE_PID:
          element.system[i] = SystemValue::primitive_id;
          break;
        default:
          break;
      }
    }
  }
  const auto ids = from.get<hw::_3DSTATE_VF_SGVS>();
  put_system(vertices, ids.vertex_id_enable, ids.vertex_id_element_offset, ids.vertex_id_component_number,
             SystemValue::vertex_id);
  put_system(vertices, ids.instance_id_enable, ids.instance_id_element_offset, ids.instance_id_component_number,
             SystemValue::instance_id);
  using More = hw::_3DSTATE_VF_SGVS_2;
  const auto more = from.get<More>();
  put_system(vertices, more.xp0_enable, more.xp0_element_offset, more.xp0_component_number,
             more.xp0_source_select == More::Xp0SourceSelect::vertex_location ? SystemValue::first_vertex
                                                                              : SystemValue::parameter_0);
  put_system(vertices, more.xp1_enable, more.xp1_element_offset, more.xp1_component_number,
             more.xp1_source_select == More::Xp1SourceSelect::starting_instance_location ? SystemValue::first_instance
                                                                                         : SystemValue::parameter_1);
  put_system(vertices, more.xp2_enable, more.xp2_element_offset, more.xp2_component_number, SystemValue::parameter_2);
}

void resolve_elements(Resolver& from, VertexState& vertices) {
  const std::span<const uint32_t> words = from.settings().words(CommandId::_3DSTATE_VERTEX_ELEMENTS);
  if (words.empty()) {
    return;
  }
  const size_t count = hw::_3DSTATE_VERTEX_ELEMENTS::count_elements(from.gen(), words);
  for (size_t i = 0; i < std::min(count, kMaxElements); ++i) {
    const hw::VERTEX_ELEMENT_STATE state = hw::_3DSTATE_VERTEX_ELEMENTS::unpack_elements(from.gen(), words, i).state;
    VertexElement element;
    element.valid = state.valid;
    element.buffer = state.vertex_buffer_index;
    element.format = static_cast<hw::SurfaceFormat>(state.source_element_format);
    element.offset = state.source_element_offset;
    element.slot = from.rules().element_offsets ? state.destination_element_offset : static_cast<uint32_t>(i * 4);
    element.edge_flag = state.edge_flag_enable;
    element.control = {state.component_0_control, state.component_1_control, state.component_2_control,
                       state.component_3_control};
    const auto instancing = from.get<hw::_3DSTATE_VF_INSTANCING>(static_cast<uint32_t>(i));
    element.instanced = instancing.instancing_enable;
    element.step_rate = instancing.instance_data_step_rate;
    const std::span<const uint32_t> buffer = from.settings().words(CommandId::_3DSTATE_VERTEX_BUFFERS, element.buffer);
    if (!buffer.empty()) {
      const auto bound = hw::_3DSTATE_VERTEX_BUFFERS::unpack_vertex_buffers(from.gen(), buffer, 0).state;
      if (bound.buffer_access_type == hw::BufferAccessType::INSTANCEDATA) {
        element.instanced = true;
        element.step_rate = bound.instance_data_step_rate;
      }
    }
    vertices.elements.push_back(element);
  }
}

void pad_levels(spec::GenId gen, PipelineState& state) {
  const DepthRules& rules = depth_rules(gen);
  DepthBuffers& buffers = state.output.buffers;
  const bool odd = state.raster.samples_log2 % 2 == 1;  // 2 or 8 samples
  const LevelPadding depth = buffers.format != hw::DepthFormat::D16_UNORM ? rules.depth
                             : odd                                        ? rules.depth16_odd
                                                                          : rules.depth16;
  buffers.depth.align_x = depth.x;
  buffers.depth.align_y = depth.y;
  buffers.stencil.align_x = rules.stencil.x;
  buffers.stencil.align_y = rules.stencil.y;
  buffers.stencil.stencil_in_w_tiles = rules.stencil_in_w_tiles;
}

}  // namespace

uint32_t control_of(hw::FloatingPointMode mode, bool single_flow, hw::RoundingMode rounding, bool denormals) {
  using eu::ControlBits;
  return (mode == hw::FloatingPointMode::ALTERNATE ? ControlBits::kAlternateFloat : 0) |
         (single_flow ? ControlBits::kSingleProgramFlow : 0) |
         ControlBits::kRounding.put(static_cast<uint32_t>(rounding)) | (denormals ? ControlBits::kFloatDenormals : 0);
}

void resolve_vertices(Resolver& from, VertexState& vertices) {
  for (uint32_t i = 0; i < kMaxBuffers; ++i) {
    const std::span<const uint32_t> words = from.settings().words(CommandId::_3DSTATE_VERTEX_BUFFERS, i);
    if (!words.empty()) {
      vertices.buffers[i] = buffer_of(hw::_3DSTATE_VERTEX_BUFFERS::unpack_vertex_buffers(from.gen(), words, 0).state,
                                      from.rules().unbounded_vertices);
    }
  }
  resolve_elements(from, vertices);
  resolve_system_values(from, vertices);
  const auto packing = from.get<hw::_3DSTATE_VF_COMPONENT_PACKING>();
  const auto options = from.get<hw::_3DSTATE_VF>();
  if (options.component_packing_enable) {
    for (size_t i = 0; i < std::min<size_t>(vertices.elements.size(), packing.vertex_element_enables.size()); ++i) {
      vertices.elements[i].kept = packing.vertex_element_enables[i].components;
    }
  }
  const auto indices = from.get<hw::_3DSTATE_INDEX_BUFFER>();
  vertices.indices.address = indices.buffer_starting_address.value;
  vertices.indices.bytes = indices.buffer_size;
  if (indices.buffer_ending_address.value >= indices.buffer_starting_address.value &&
      indices.buffer_ending_address.value != 0) {
    vertices.indices.bytes = indices.buffer_ending_address.value - indices.buffer_starting_address.value + 1;
  }
  vertices.indices.index_B = static_cast<uint8_t>(1u << std::min(static_cast<unsigned>(indices.index_format), 2u));
  // Before Gen8 the cut index is all ones in the size of the index.
  vertices.indices.cut_enable = indices.cut_index_enable || options.indexed_draw_cut_index_enable;
  vertices.indices.cut_index = options.indexed_draw_cut_index_enable
                                   ? options.cut_index
                                   : static_cast<uint32_t>((uint64_t{1} << (8u * vertices.indices.index_B)) - 1);
  vertices.statistics = from.get<hw::_3DSTATE_VF_STATISTICS>().statistics_enable;
  vertices.topology = from.get<hw::_3DSTATE_VF_TOPOLOGY>().primitive_topology_type;
}

void set_push(Shader& shader, const hw::_3DSTATE_CONSTANT_BODY& body, uint64_t base) {
  shader.push = {{{base + body.buffer_0.value, body.read_length_0},
                  {base + body.buffer_1.value, body.read_length_1},
                  {base + body.buffer_2.value, body.read_length_2},
                  {base + body.buffer_3.value, body.read_length_3}}};
}

BlendTarget blend_target(const hw::BLEND_STATE_ENTRY& entry) {
  BlendTarget target;
  target.blend = entry.color_buffer_blend_enable;
  target.source_color = entry.source_blend_factor;
  target.dest_color = entry.destination_blend_factor;
  target.color = entry.color_blend_function;
  target.source_alpha = entry.source_alpha_blend_factor;
  target.dest_alpha = entry.destination_alpha_blend_factor;
  target.alpha = entry.alpha_blend_function;
  target.logic = entry.logic_op_enable;
  target.logic_op = entry.logic_op_function;
  target.write_mask = static_cast<uint8_t>((entry.write_disable_red ? 0 : 1) | (entry.write_disable_green ? 0 : 2) |
                                           (entry.write_disable_blue ? 0 : 4) | (entry.write_disable_alpha ? 0 : 8));
  target.clamp_before = entry.pre_blend_color_clamp_enable;
  target.clamp_source = entry.pre_blend_source_only_clamp_enable;
  target.clamp_after = entry.post_blend_color_clamp_enable;
  target.range = entry.color_clamp_range;
  return target;
}

void resolve_color_calc(const hw::COLOR_CALC_STATE& state, Output& output) {
  output.blend.constant = {state.blend_constant_color_red, state.blend_constant_color_green,
                           state.blend_constant_color_blue, state.blend_constant_color_alpha};
  // The reference of the alpha test.
  output.blend.alpha_reference = state.alpha_test_format == hw::AlphaTestFormat::FLOAT32
                                     ? std::bit_cast<float>(state.alpha_reference_value)
                                     : static_cast<float>(state.alpha_reference_value & 0xff) / 255.0f;
}

void set_pixel_kernels(PixelShader& pixel, const std::array<bool, 3>& widths, const std::array<uint64_t, 3>& kernels,
                       const std::array<uint8_t, 3>& first_grfs) {
  const auto use = [&](PixelShader::Kernel& kernel, bool enable, size_t slot) {
    kernel = {enable, kernels[slot], first_grfs[slot]};
  };
  const bool others_16 = widths[0] || widths[2];
  const bool others_32 = widths[0] || widths[1];
  use(pixel.simd8, widths[0], 0);
  use(pixel.simd16, widths[1], others_16 ? 2 : 0);
  use(pixel.simd32, widths[2], others_32 ? 1 : 0);
}

void resolve_drawing_rectangle(Resolver& from, Raster& raster) {
  const auto command = from.get<hw::_3DSTATE_DRAWING_RECTANGLE>();
  raster.drawing = {.x_min = command.clipped_drawing_rectangle_x_min,
                    .y_min = command.clipped_drawing_rectangle_y_min,
                    .x_max = command.clipped_drawing_rectangle_x_max,
                    .y_max = command.clipped_drawing_rectangle_y_max};
  raster.origin = {command.drawing_rectangle_origin_x, command.drawing_rectangle_origin_y};
  const auto pattern = from.get<hw::_3DSTATE_POLY_STIPPLE_PATTERN>();
  for (size_t i = 0; i < raster.stipple_pattern.size(); ++i) {
    raster.stipple_pattern[i] = pattern.pattern_rows[i].row;
  }
  const auto offset = from.get<hw::_3DSTATE_POLY_STIPPLE_OFFSET>();
  raster.stipple_offset = {offset.polygon_stipple_x_offset, offset.polygon_stipple_y_offset};
  const auto line = from.get<hw::_3DSTATE_LINE_STIPPLE>();
  raster.line_pattern = line.line_stipple_pattern;
  raster.line_repeat = line.line_stipple_repeat_count;
}

Rectangle rectangle_of(const hw::SCISSOR_RECT& rect) {
  return {.x_min = rect.scissor_rectangle_x_min,
          .y_min = rect.scissor_rectangle_y_min,
          .x_max = rect.scissor_rectangle_x_max,
          .y_max = rect.scissor_rectangle_y_max};
}

void set_clip(const hw::_3DSTATE_CLIP& command, Clip& clip) {
  clip.enabled = command.clip_enable;
  clip.reject_all = command.clip_mode == hw::ClipMode::REJECT_ALL;
  clip.accept_all = command.clip_mode == hw::ClipMode::ACCEPT_ALL;
  clip.xy_test = command.viewport_xy_clip_test_enable;
  clip.guard_band = command.guardband_clip_test_enable;
  clip.zero_to_one = command.api_mode == hw::ClipApiMode::D3D;
  clip.divide = !command.perspective_divide_disable;
  clip.linear_weights = command.non_perspective_barycentric_enable;
  clip.force_layer_0 = command.force_zero_rta_index_enable;
  clip.most_viewport = command.maximum_vp_index;
  clip.point_width_min = static_cast<float>(command.minimum_point_width);
  clip.point_width_max = static_cast<float>(command.maximum_point_width);
  clip.statistics = command.statistics_enable;
}

void set_interpolation(Setup& setup, uint32_t flat, uint32_t sprite, hw::SpriteOrigin origin) {
  for (size_t i = 0; i < kMaxAttributes; ++i) {
    setup.attributes[i].flat = (flat >> i & 1) != 0;
    setup.attributes[i].sprite = (sprite >> i & 1) != 0;
  }
  setup.sprite_lower_left = origin == hw::SpriteOrigin::LOWERLEFT;
}

void resolve_tiled_depth(Resolver& from, DepthBuffers& buffers) {
  const auto depth = from.get<hw::_3DSTATE_DEPTH_BUFFER>();
  PlaneBuffer& plane = buffers.depth;
  plane.present =
      from.settings().has(CommandId::_3DSTATE_DEPTH_BUFFER) && depth.surface_type != hw::SurfaceType::SURFTYPE_NULL;
  plane.address = depth.surface_base_address.value;
  plane.pitch_B = depth.surface_pitch + 1;
  plane.tiled = depth.tiled_surface;
  plane.x_tiles = depth.tile_walk == hw::TileWalk::XMAJOR;
  plane.width = depth.width + 1u;
  plane.height = depth.height + 1u;
  plane.depth = depth.depth + 1u;
  plane.volume = depth.surface_type == hw::SurfaceType::SURFTYPE_3D;
  plane.level = depth.lod;
  plane.first_layer = depth.minimum_array_element;
  plane.layers = depth.render_target_view_extent + 1u;
  plane.offset = {depth.depth_coordinate_offset_x, depth.depth_coordinate_offset_y};
  plane.write = true;
  buffers.format = depth.surface_format;
  buffers.packed_stencil = !depth.separate_stencil_buffer_enable;
}

bool resolve(const ResolveInput& input, PipelineState& state) {
  Resolver from(input);
  state = {};
  state.bases = input.bases;
  resolve_vertices(from, state.vertices);
  const PipelineRules& rules = from.rules();
  state.setup_form = rules.setup;
  state.pixel_payload = rules.pixel_payload;
  state.target_message = rules.target_message;
  state.vertex_header = rules.vertex_header;
  state.ordered_corners = rules.ordered_corners;
  switch (rules.pipeline) {
    case PipelineForm::units:
      resolve_units(from, state);
      break;
    case PipelineForm::combined:
      resolve_combined(from, state);
      break;
    case PipelineForm::split:
      resolve_split(from, state);
      break;
  }
  pad_levels(input.generation->id(), state);
  return from.ok();
}

}  // namespace halogen::pipe3d
