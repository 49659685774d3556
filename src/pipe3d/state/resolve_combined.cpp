// Gen6: 3DSTATE_SF holds set-up and rasteriser, 3DSTATE_WM the pixel shader. Blend, depth and stencil are structures in
// memory. Constants of the three stages are relative to the dynamic state base.
#include <algorithm>

#include "base/bits.h"
#include "hw/3d_depth.h"
#include "hw/3d_geometry.h"
#include "hw/3d_pixel.h"
#include "hw/3d_pointers.h"
#include "hw/3d_raster.h"
#include "hw/3d_so.h"
#include "hw/3d_urb.h"
#include "hw/depth.h"
#include "hw/viewport.h"
#include "message/surface.h"
#include "pipe3d/state/resolve_parts.h"

namespace halogen::pipe3d {
namespace {

using spec::CommandId;

constexpr uint32_t kUnitSlots = 8;    // unit of entry sizes: 128 bytes
constexpr uint32_t kStencilRows = 4;  // layers of a stencil buffer are a multiple of this

// Lengths are stored minus one, and a buffer exists if its bit is set.
template <class Command>
void set_constants(Resolver& from, const Command& command, Shader& shader) {
  hw::_3DSTATE_CONSTANT_BODY body = command.constant_body;
  const auto length = [](bool valid, uint16_t less_one) { return static_cast<uint16_t>(valid ? less_one + 1u : 0u); };
  body.read_length_0 = length(command.buffer_0_valid, body.read_length_0);
  body.read_length_1 = length(command.buffer_1_valid, body.read_length_1);
  body.read_length_2 = length(command.buffer_2_valid, body.read_length_2);
  body.read_length_3 = length(command.buffer_3_valid, body.read_length_3);
  set_push(shader, body, from.bases().dynamic);
}

void resolve_vertex_shader(Resolver& from, VertexShader& stage) {
  const auto command = from.get<hw::_3DSTATE_VS>();
  const auto tables = from.get<hw::_3DSTATE_BINDING_TABLE_POINTERS>();
  const auto samplers = from.get<hw::_3DSTATE_SAMPLER_STATE_POINTERS>();
  Shader& shader = stage.shader;
  set_common(command, shader);
  set_vertex_read(command, shader);
  shader.control = control_of(command.floating_point_mode, false);
  shader.binding_table = from.bases().surface + tables.vs_binding_table_pointer;
  shader.sampler_table = static_cast<uint32_t>(samplers.vs_sampler_state_pointer);
  set_constants(from, from.get<hw::_3DSTATE_CONSTANT_VS>(), shader);
  stage.dispatch = VertexDispatch::pairs;
  stage.entry_slots = (from.get<hw::_3DSTATE_URB>().vs_urb_entry_allocation_size + 1u) * kUnitSlots;
}

void resolve_geometry(Resolver& from, Geometry& stage) {
  const auto command = from.get<hw::_3DSTATE_GS>();
  const auto tables = from.get<hw::_3DSTATE_BINDING_TABLE_POINTERS>();
  const auto samplers = from.get<hw::_3DSTATE_SAMPLER_STATE_POINTERS>();
  Shader& shader = stage.shader;
  set_common(command, shader);
  set_vertex_read(command, shader);
  shader.control = control_of(command.floating_point_mode, command.single_program_flow);
  shader.binding_table = from.bases().surface + tables.gs_binding_table_pointer;
  shader.sampler_table = static_cast<uint32_t>(samplers.gs_sampler_state_pointer);
  set_constants(from, from.get<hw::_3DSTATE_CONSTANT_GS>(), shader);
  stage.dispatch = GeometryDispatch::single;
  stage.entry_slots = (from.get<hw::_3DSTATE_URB>().gs_urb_entry_allocation_size + 1u) * kUnitSlots;
  stage.discard_adjacency = command.discard_adjacency;
  stage.reorder_trailing = command.reorder_mode == hw::ReorderMode::TRAILING;
  stage.rendering = command.rendering_enabled;
  stage.stream_indices = command.svbi_payload_enable;
  stage.post_increment = command.svbi_post_increment_enable;
  stage.increment = command.svbi_post_increment_value;
  stage.stream_statistics = command.so_statistics_enable;
  for (uint32_t i = 0; i < stage.most_index.size(); ++i) {
    stage.most_index[i] = from.get<hw::_3DSTATE_GS_SVB_INDEX>(i).maximum_index;
  }
}

void resolve_clip(Resolver& from, PipelineState& state) {
  const auto command = from.get<hw::_3DSTATE_CLIP>();
  Clip& clip = state.clip;
  set_clip(command, clip);
  clip.z_near_test = clip.z_far_test = command.viewport_z_clip_test_enable;
  clip.clip_distances = command.user_clip_distance_clip_test_enable_bitmask;
  clip.cull_distances = command.user_clip_distance_cull_test_enable_bitmask;
}

void resolve_raster(Resolver& from, Raster& raster) {
  const auto sf = from.get<hw::_3DSTATE_SF>();
  const auto wm = from.get<hw::_3DSTATE_WM>();
  using Mode = hw::MultisampleRasterizationMode;
  set_faces(sf, raster);
  set_strips(sf, raster);
  raster.multisample =
      sf.multisample_rasterization_mode == Mode::ON_PATTERN || sf.multisample_rasterization_mode == Mode::ON_PIXEL;
  raster.point_rule_right = wm.point_rasterization_rule == hw::PointRasterizationRule::UPPER_RIGHT;
  set_lines(raster, wm);
  const auto samples = from.get<hw::_3DSTATE_MULTISAMPLE>();
  raster.samples_log2 = std::min<uint8_t>(static_cast<uint8_t>(samples.number_of_multisamples), 2);
  raster.corner_sample = samples.pixel_location == hw::_3DSTATE_MULTISAMPLE::PixelLocation::ul_corner;
  raster.positions[0] = {8, 8};
  if (raster.samples_log2 != 0) {
    set_positions(raster, samples.samples);
  }
  raster.sample_mask =
      from.settings().has(CommandId::_3DSTATE_SAMPLE_MASK) ? from.get<hw::_3DSTATE_SAMPLE_MASK>().sample_mask : 0xffffu;
}

void resolve_viewports(Resolver& from, PipelineState& state) {
  const auto pointers = from.get<hw::_3DSTATE_VIEWPORT_STATE_POINTERS>();
  const bool known = from.settings().has(CommandId::_3DSTATE_VIEWPORT_STATE_POINTERS);
  const bool has_scissor = from.settings().has(CommandId::_3DSTATE_SCISSOR_STATE_POINTERS);
  const uint64_t dynamic = from.bases().dynamic;
  const uint64_t scissor = dynamic + from.get<hw::_3DSTATE_SCISSOR_STATE_POINTERS>().scissor_rect_pointer;
  const size_t count = std::min<size_t>(state.clip.most_viewport + 1u, kMaxViewports);
  for (size_t i = 0; i < count; ++i) {
    Viewport& viewport = state.viewports[i];
    if (known && state.raster.viewport_transform) {
      set_transform(from.read_element<hw::SF_VIEWPORT>(dynamic + pointers.sf_viewport_pointer, i), viewport);
      set_guard_band(from.read_element<hw::CLIP_VIEWPORT>(dynamic + pointers.clip_viewport_pointer, i), viewport);
    }
    if (known) {
      const auto range = from.read_element<hw::CC_VIEWPORT>(dynamic + pointers.cc_viewport_pointer, i);
      viewport.depth_min = range.minimum_depth;
      viewport.depth_max = range.maximum_depth;
    }
    if (has_scissor && state.raster.scissor) {
      viewport.scissor = rectangle_of(from.read_element<hw::SCISSOR_RECT>(scissor, i));
    }
  }
}

void resolve_setup(Resolver& from, Setup& setup) {
  const auto command = from.get<hw::_3DSTATE_SF>();
  setup.read_offset = command.vertex_urb_entry_read_offset * 2u;
  set_attributes(command, setup);
  if (command.attribute_swizzle_enable) {
    set_swizzles(setup, command.attributes);
  }
}

void resolve_pixel(Resolver& from, PixelShader& pixel) {
  const auto wm = from.get<hw::_3DSTATE_WM>();
  const auto tables = from.get<hw::_3DSTATE_BINDING_TABLE_POINTERS>();
  const auto samplers = from.get<hw::_3DSTATE_SAMPLER_STATE_POINTERS>();
  Shader& shader = pixel.shader;
  pixel.dispatch = wm.thread_dispatch_enable;
  shader.enabled = pixel.dispatch;
  shader.scratch_base = wm.scratch_space_base_pointer;
  shader.scratch_code = wm.per_thread_scratch_space;
  shader.vector_mask = true;  // the bit has no effect before Gen8: all pixels of a subspan run
  shader.statistics = wm.statistics_enable;
  shader.control = control_of(wm.floating_point_mode, wm.single_program_flow);
  shader.binding_table = from.bases().surface + tables.ps_binding_table_pointer;
  shader.sampler_table = static_cast<uint32_t>(samplers.ps_sampler_state_pointer);
  set_constants(from, from.get<hw::_3DSTATE_CONSTANT_PS>(), shader);
  set_pixel_kernels(pixel, {wm.dispatch_8_pixel_enable, wm.dispatch_16_pixel_enable, wm.dispatch_32_pixel_enable},
                    {wm.kernel_start_pointer_0, wm.kernel_start_pointer_1, wm.kernel_start_pointer_2},
                    {wm.dispatch_grf_start_register_for_constant_setup_data_0,
                     wm.dispatch_grf_start_register_for_constant_setup_data_1,
                     wm.dispatch_grf_start_register_for_constant_setup_data_2});
  pixel.barycentrics = wm.barycentric_interpolation_mode;
  pixel.source_depth = wm.pixel_shader_uses_source_depth;
  pixel.source_w = wm.pixel_shader_uses_source_w;
  pixel.position_offsets = wm.position_xy_offset_select != hw::PositionOffsetSelect::NONE;
  pixel.offsets_of_samples = wm.position_xy_offset_select == hw::PositionOffsetSelect::SAMPLE;
  pixel.per_sample = wm.multisample_dispatch_mode == hw::_3DSTATE_WM::MultisampleDispatchMode::per_sample &&
                     wm.multisample_rasterization_mode == hw::MultisampleRasterizationMode::ON_PATTERN;
  pixel.kills = wm.pixel_shader_kills_pixel;
  pixel.computes_depth = wm.pixel_shader_computed_depth;
  pixel.sample_mask = wm.omask_present_to_render_target;
  pixel.dual_source = wm.dual_source_blend_enable;
  pixel.attributes = wm.number_of_sf_output_attributes != 0;
}

void resolve_output(Resolver& from, Output& output) {
  const auto pointers = from.get<hw::_3DSTATE_CC_STATE_POINTERS>();
  const uint64_t dynamic = from.bases().dynamic;
  if (pointers.color_calc_state_pointer_valid) {
    const auto state = from.read<hw::COLOR_CALC_STATE>(dynamic + pointers.color_calc_state_pointer);
    resolve_color_calc(state, output);
    output.depth_stencil.front.reference = state.stencil_reference_value;
    output.depth_stencil.back.reference = state.backface_stencil_reference_value;
  }
  if (pointers.blend_state_pointer_valid) {
    for (size_t i = 0; i < kMaxTargets; ++i) {
      const uint64_t at = from.element<hw::BLEND_STATE_ENTRY>(dynamic + pointers.blend_state_pointer, i);
      if (i != 0 && !from.there<hw::BLEND_STATE_ENTRY>(at)) {
        break;
      }
      const auto entry = from.read<hw::BLEND_STATE_ENTRY>(at);
      BlendTarget& target = output.blend.targets[i];
      target = blend_target(entry);
      if (!entry.independent_alpha_blend_enable) {
        target.source_alpha = target.source_color;
        target.dest_alpha = target.dest_color;
        target.alpha = target.color;
      }
      if (i == 0) {
        output.blend.alpha_to_coverage = entry.alpha_to_coverage_enable;
        output.blend.alpha_to_one = entry.alpha_to_one_enable;
        output.blend.dither = entry.color_dither_enable;
        output.blend.alpha_test = entry.alpha_test_enable;
        output.blend.alpha_function = entry.alpha_test_function;
      }
    }
  }
  if (pointers.depth_stencil_state_pointer_valid) {
    const auto state = from.read<hw::DEPTH_STENCIL_STATE>(dynamic + pointers.depth_stencil_state_pointer);
    set_depth_stencil(state, output.depth_stencil);
  }
}

void resolve_depth_states(Resolver& from, DepthStates& states) {
  const CompressionRules& rules = compression_rules(from.gen());
  states = {.rules = &rules};
  if (!from.get<hw::_3DSTATE_DEPTH_BUFFER>().hierarchical_depth_buffer_enable || !rules.hierarchical_depth) {
    return;
  }
  const auto hierarchical = from.get<hw::_3DSTATE_HIER_DEPTH_BUFFER>();
  states.form = surface::StateForm::hierarchical;
  states.address = hierarchical.surface_base_address.value;
  states.pitch_B = hierarchical.surface_pitch + 1;
}

void resolve_buffers(Resolver& from, Output& output) {
  DepthBuffers& buffers = output.buffers;
  resolve_tiled_depth(from, buffers);
  if (!buffers.packed_stencil && from.settings().has(CommandId::_3DSTATE_STENCIL_BUFFER)) {
    const auto stencil = from.get<hw::_3DSTATE_STENCIL_BUFFER>();
    buffers.stencil = buffers.depth;
    buffers.stencil.present = stencil.surface_base_address.value != 0;
    buffers.stencil.address = stencil.surface_base_address.value;
    buffers.stencil.pitch_B = stencil.surface_pitch + 1;
    // The level is not applied to the stencil buffer, because software points to the level itself, whose layers follow
    // each other.
    const uint32_t level = buffers.depth.level;
    buffers.stencil.level = 0;
    buffers.stencil.width = message::Surface::shrink(buffers.depth.width, level);
    buffers.stencil.height = message::Surface::shrink(buffers.depth.height, level);
    buffers.stencil.layer_rows = static_cast<uint32_t>(align_up(buffers.stencil.height, kStencilRows));
  }
  resolve_depth_states(from, buffers.states);
  const auto clear = from.get<hw::_3DSTATE_CLEAR_PARAMS>();
  buffers.clear_raw = clear.depth_clear_value_raw;
  const auto wm = from.get<hw::_3DSTATE_WM>();
  output.operation.clear_depth = wm.depth_buffer_clear_enable;
  output.operation.raw_value = true;
  output.operation.resolve = wm.depth_buffer_resolve_enable;
  output.operation.ambiguate = wm.hierarchical_depth_buffer_resolve_enable;
}

}  // namespace

void resolve_combined(Resolver& from, PipelineState& state) {
  resolve_vertex_shader(from, state.vertex_shader);
  resolve_clip(from, state);
  resolve_raster(from, state.raster);
  resolve_drawing_rectangle(from, state.raster);
  resolve_viewports(from, state);
  resolve_setup(from, state.setup);
  resolve_pixel(from, state.pixel);
  resolve_output(from, state.output);
  resolve_buffers(from, state.output);
  state.output.statistics = state.pixel.shader.statistics;
  resolve_geometry(from, state.geometry);
}

}  // namespace halogen::pipe3d
