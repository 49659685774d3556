// Gen8 and later: one state command for each part of the pipeline.
#include <algorithm>
#include <cmath>

#include "hw/3d_depth.h"
#include "hw/3d_geometry.h"
#include "hw/3d_pixel.h"
#include "hw/3d_pointers.h"
#include "hw/3d_raster.h"
#include "hw/3d_urb.h"
#include "hw/3d_vertex.h"
#include "hw/viewport.h"
#include "pipe3d/state/resolve_parts.h"
#include "pipe3d/state/resolve_stages.h"

namespace halogen::pipe3d {
namespace {

using spec::CommandId;

void resolve_vertex_shader(Resolver& from, VertexShader& stage) {
  const auto command = from.get<hw::_3DSTATE_VS>();
  Shader& shader = stage.shader;
  set_common(command, shader);
  set_vertex_read(command, shader);
  shader.control = control_of(command.floating_point_mode, false);
  stage.dispatch = command.simd8_dispatch_enable ? VertexDispatch::simd8 : VertexDispatch::pairs;
  set_entry<hw::_3DSTATE_URB_VS, hw::_3DSTATE_URB_ALLOC_VS>(from, stage.entry_slots);
  set_tables(from, kVertex, shader);
  set_constants(from, kVertex, shader);
}

// Converts to a pixel number. NaN becomes 0.
int32_t whole_pixel(float place) {
  constexpr float kFar = 65536;
  return place == place ? static_cast<int32_t>(std::floor(std::clamp(place, -kFar, kFar))) : 0;
}

void resolve_viewports(Resolver& from, PipelineState& state) {
  const size_t count = std::min<size_t>(state.clip.most_viewport + 1u, kMaxViewports);
  const uint64_t dynamic = from.bases().dynamic;
  const bool has_transform = from.settings().has(CommandId::_3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP);
  const bool has_depth = from.settings().has(CommandId::_3DSTATE_VIEWPORT_STATE_POINTERS_CC);
  const bool has_scissor = from.settings().has(CommandId::_3DSTATE_SCISSOR_STATE_POINTERS);
  const uint64_t transform =
      dynamic + from.get<hw::_3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP>().sf_clip_viewport_pointer;
  const uint64_t depth = dynamic + from.get<hw::_3DSTATE_VIEWPORT_STATE_POINTERS_CC>().cc_viewport_pointer;
  const uint64_t scissor = dynamic + from.get<hw::_3DSTATE_SCISSOR_STATE_POINTERS>().scissor_rect_pointer;
  for (size_t i = 0; i < count; ++i) {
    Viewport& viewport = state.viewports[i];
    if (has_transform && state.raster.viewport_transform) {
      const auto view = from.read_element<hw::SF_CLIP_VIEWPORT>(transform, i);
      set_transform(view, viewport);
      set_guard_band(view, viewport);
      // The extents limit drawing as the scissor does, whether or not the clipper tests X and Y: drivers turn the test
      // off for points and lines and rely on the extents.
      viewport.has_extent = true;
      viewport.extent = {.x_min = whole_pixel(view.x_min_view_port),
                         .y_min = whole_pixel(view.y_min_view_port),
                         .x_max = whole_pixel(view.x_max_view_port),
                         .y_max = whole_pixel(view.y_max_view_port)};
    }
    if (has_scissor && state.raster.scissor) {
      viewport.scissor = rectangle_of(from.read_element<hw::SCISSOR_RECT>(scissor, i));
    }
    if (has_depth) {
      const auto range = from.read_element<hw::CC_VIEWPORT>(depth, i);
      viewport.depth_min = range.minimum_depth;
      viewport.depth_max = range.maximum_depth;
    }
  }
}

void resolve_clip(Resolver& from, PipelineState& state) {
  const auto command = from.get<hw::_3DSTATE_CLIP>();
  const auto raster = from.get<hw::_3DSTATE_RASTER>();
  Clip& clip = state.clip;
  set_clip(command, clip);
  clip.z_near_test = raster.viewport_z_clip_test_enable || raster.viewport_z_near_clip_test_enable;
  clip.z_far_test = raster.viewport_z_clip_test_enable || raster.viewport_z_far_clip_test_enable;
  // Uses the masks of the last stage before the clipper, unless the clipper's own are forced.
  const auto vs = from.get<hw::_3DSTATE_VS>();
  const auto ds = from.get<hw::_3DSTATE_DS>();
  const auto gs = from.get<hw::_3DSTATE_GS>();
  const bool force_clip = command.force_user_clip_distance_clip_test_enable_bitmask;
  const bool force_cull = command.force_user_clip_distance_cull_test_enable_bitmask;
  const auto pick = [&](bool force, uint8_t own, uint8_t of_vs, uint8_t of_ds, uint8_t of_gs) -> uint8_t {
    return force ? own : gs.enable ? of_gs : ds.enable ? of_ds : vs.enable ? of_vs : uint8_t{0};
  };
  clip.clip_distances = pick(
      force_clip, command.user_clip_distance_clip_test_enable_bitmask, vs.user_clip_distance_clip_test_enable_bitmask,
      ds.user_clip_distance_clip_test_enable_bitmask, gs.user_clip_distance_clip_test_enable_bitmask);
  clip.cull_distances = pick(
      force_cull, command.user_clip_distance_cull_test_enable_bitmask, vs.user_clip_distance_cull_test_enable_bitmask,
      ds.user_clip_distance_cull_test_enable_bitmask, gs.user_clip_distance_cull_test_enable_bitmask);
}

// A count of zero is one view: the mask and the offsets mean nothing.
void resolve_replication(Resolver& from, Replication& views) {
  const auto command = from.get<hw::_3DSTATE_PRIMITIVE_REPLICATION>();
  if (command.replication_count == 0) {
    return;
  }
  views.count = static_cast<uint8_t>(command.replication_count + 1);
  views.mask = command.replica_mask;
  for (size_t view = 0; view < views.count; ++view) {
    views.viewport_offset[view] = command.viewport_offsets[view].offset;
    views.layer_offset[view] = command.rtai_offsets[view].offset;
  }
}

void resolve_samples(Resolver& from, Raster& raster) {
  const auto pattern = from.get<hw::_3DSTATE_SAMPLE_PATTERN>();
  const auto multisample = from.get<hw::_3DSTATE_MULTISAMPLE>();
  raster.samples_log2 = std::min<uint8_t>(static_cast<uint8_t>(multisample.number_of_multisamples), 4);
  raster.corner_sample = multisample.pixel_location == hw::_3DSTATE_MULTISAMPLE::PixelLocation::ul_corner;
  switch (raster.samples_log2) {
    case 1:
      set_positions(raster, pattern.samples_2x);
      break;
    case 2:
      set_positions(raster, pattern.samples_4x);
      break;
    case 3:
      set_positions(raster, pattern.samples_8x_0_3);
      set_positions(raster, pattern.samples_8x_4_7, 4);
      break;
    case 4:
      set_positions(raster, pattern.samples_16x);
      break;
    default:
      raster.positions[0] = {8, 8};
      break;
  }
  raster.sample_mask =
      from.settings().has(CommandId::_3DSTATE_SAMPLE_MASK) ? from.get<hw::_3DSTATE_SAMPLE_MASK>().sample_mask : 0xffffu;
}

void resolve_raster(Resolver& from, Raster& raster) {
  const auto sf = from.get<hw::_3DSTATE_SF>();
  const auto command = from.get<hw::_3DSTATE_RASTER>();
  const auto wm = from.get<hw::_3DSTATE_WM>();
  set_faces(command, raster);
  set_strips(sf, raster);
  raster.multisample = command.dx_multisample_rasterization_enable || command.force_multisampling;
  raster.conservative = command.conservative_rasterization_enable;
  const double line = sf.line_width != 0 ? sf.line_width : sf.chv_line_width;
  raster.line_width = static_cast<float>(line);
  raster.point_rule_right = wm.point_rasterization_rule == hw::PointRasterizationRule::UPPER_RIGHT;
  set_lines(raster, wm);
  resolve_samples(from, raster);
}

void resolve_setup(Resolver& from, Setup& setup) {
  const auto command = from.get<hw::_3DSTATE_SBE>();
  const auto vs = from.get<hw::_3DSTATE_VS>();
  const auto ds = from.get<hw::_3DSTATE_DS>();
  const auto gs = from.get<hw::_3DSTATE_GS>();
  uint32_t offset = command.vertex_urb_entry_read_offset;
  if (!command.force_vertex_urb_entry_read_offset) {
    offset = gs.enable   ? gs.vertex_urb_entry_output_read_offset
             : ds.enable ? ds.vertex_urb_entry_output_read_offset
             : vs.enable ? vs.vertex_urb_entry_output_read_offset
                         : offset;
  }
  setup.read_offset = offset * 2;
  set_attributes(command, setup);
  if (command.attribute_swizzle_enable) {
    set_swizzles(setup, from.get<hw::_3DSTATE_SBE_SWIZ>().attributes);
  }
  setup.primitive_id_mask = static_cast<uint8_t>(
      (command.primitive_id_override_component_x ? 1 : 0) | (command.primitive_id_override_component_y ? 2 : 0) |
      (command.primitive_id_override_component_z ? 4 : 0) | (command.primitive_id_override_component_w ? 8 : 0));
  setup.primitive_id_attribute = command.primitive_id_override_attribute_select;
}

TargetOperation target_operation(const hw::_3DSTATE_PS& ps) {
  using Type = hw::_3DSTATE_PS::RenderTargetResolveType;
  switch (ps.render_target_resolve_type) {
    case Type::partial:
      return TargetOperation::partial_resolve;
    case Type::fast_clear_0:
      return TargetOperation::ambiguate;
    case Type::full:
      return TargetOperation::full_resolve;
    case Type::disabled:
      break;
  }
  return ps.render_target_resolve_enable      ? TargetOperation::full_resolve
         : ps.render_target_fast_clear_enable ? TargetOperation::clear
                                              : TargetOperation::draw;
}

void resolve_pixel(Resolver& from, PixelShader& pixel) {
  const auto ps = from.get<hw::_3DSTATE_PS>();
  const auto extra = from.get<hw::_3DSTATE_PS_EXTRA>();
  const auto wm = from.get<hw::_3DSTATE_WM>();
  using Extra = hw::_3DSTATE_PS_EXTRA;
  using Wm = hw::_3DSTATE_WM;
  Shader& shader = pixel.shader;
  pixel.dispatch = extra.pixel_shader_valid && wm.force_thread_dispatch_enable != hw::ForceState::FORCE_OFF;
  shader.enabled = pixel.dispatch;
  shader.scratch_base = ps.scratch_space_base_pointer;
  shader.scratch_code = ps.per_thread_scratch_space;
  shader.vector_mask = ps.vector_mask_enable;
  shader.statistics = wm.statistics_enable;
  shader.control =
      control_of(ps.floating_point_mode, ps.single_program_flow, ps.rounding_mode,
                 ps.single_precision_denormal_mode == hw::_3DSTATE_PS::SinglePrecisionDenormalMode::retained);
  set_tables(from, kPixel, shader);
  if (ps.push_constant_enable) {
    set_constants(from, kPixel, shader);
  }
  set_pixel_kernels(pixel, {ps.dispatch_8_pixel_enable, ps.dispatch_16_pixel_enable, ps.dispatch_32_pixel_enable},
                    {ps.kernel_start_pointer_0, ps.kernel_start_pointer_1, ps.kernel_start_pointer_2},
                    {ps.dispatch_grf_start_register_for_constant_setup_data_0,
                     ps.dispatch_grf_start_register_for_constant_setup_data_1,
                     ps.dispatch_grf_start_register_for_constant_setup_data_2});
  pixel.barycentrics = wm.barycentric_interpolation_mode;
  pixel.source_depth = extra.pixel_shader_uses_source_depth;
  pixel.source_w = extra.pixel_shader_uses_source_w;
  pixel.position_offsets = ps.position_xy_offset_select != hw::PositionOffsetSelect::NONE;
  pixel.offsets_of_samples = ps.position_xy_offset_select == hw::PositionOffsetSelect::SAMPLE;
  pixel.input_coverage = extra.pixel_shader_uses_input_coverage_mask ||
                         extra.input_coverage_mask_state != Extra::InputCoverageMaskState::none;
  pixel.inner_coverage = extra.input_coverage_mask_state == Extra::InputCoverageMaskState::inner_conservative;
  pixel.coefficients = extra.pixel_shader_requires_source_depth_or_w_plane_coefficients;
  pixel.per_sample = extra.pixel_shader_is_per_sample;
  pixel.kills = extra.pixel_shader_kills_pixel || wm.force_kill_pixel_enable == hw::ForceState::FORCE_ON;
  pixel.computes_depth = extra.pixel_shader_computed_depth_mode != Extra::PixelShaderComputedDepthMode::off;
  pixel.computes_stencil = extra.pixel_shader_computes_stencil;
  pixel.sample_mask = extra.omask_present_to_render_target;
  pixel.writes_memory = extra.pixel_shader_has_uav;
  pixel.early = wm.early_depth_stencil_control == Wm::EarlyDepthStencilControl::psexec  ? EarlyDepth::late
                : wm.early_depth_stencil_control == Wm::EarlyDepthStencilControl::preps ? EarlyDepth::early
                                                                                        : EarlyDepth::automatic;
  pixel.attributes = extra.attribute_enable;
  pixel.operation = target_operation(ps);
}

void resolve_blend(Resolver& from, Output& output) {
  const auto color = from.get<hw::_3DSTATE_CC_STATE_POINTERS>();
  if (color.color_calc_state_pointer_valid) {
    const auto state = from.read<hw::COLOR_CALC_STATE>(from.bases().dynamic + color.color_calc_state_pointer);
    resolve_color_calc(state, output);
    // Gen8 keeps the references here, later generations in 3DSTATE_WM_DEPTH_STENCIL. The other field reads zero.
    output.depth_stencil.front.reference = state.stencil_reference_value;
    output.depth_stencil.back.reference = state.backface_stencil_reference_value;
  }
  const auto pointer = from.get<hw::_3DSTATE_BLEND_STATE_POINTERS>();
  if (!pointer.blend_state_pointer_valid) {
    return;
  }
  const uint64_t base = from.bases().dynamic + pointer.blend_state_pointer;
  const auto all = from.read<hw::BLEND_STATE>(base);
  // A shader that gives a sample mask has the coverage of alpha in it: hardware then adds none (SKL PRM vol. 7, "Alpha
  // Coverage", quoted in Mesa's commit c8abe03f).
  output.blend.alpha_to_coverage =
      all.alpha_to_coverage_enable && !from.get<hw::_3DSTATE_PS_EXTRA>().omask_present_to_render_target;
  output.blend.dithers_coverage = all.alpha_to_coverage_dither_enable;
  output.blend.alpha_to_one = all.alpha_to_one_enable;
  output.blend.dither = all.color_dither_enable;
  output.blend.alpha_test = all.alpha_test_enable;
  output.blend.alpha_function = all.alpha_test_function;
  for (size_t i = 0; i < kMaxTargets; ++i) {
    BlendTarget& target = output.blend.targets[i];
    const uint64_t at = from.element<hw::BLEND_STATE_ENTRY>(base + from.bytes<hw::BLEND_STATE>(), i);
    if (i != 0 && !from.there<hw::BLEND_STATE_ENTRY>(at)) {
      break;
    }
    target = blend_target(from.read<hw::BLEND_STATE_ENTRY>(at));
    if (!all.independent_alpha_blend_enable) {
      target.source_alpha = target.source_color;
      target.dest_alpha = target.dest_color;
      target.alpha = target.color;
    }
  }
}

void resolve_depth_stencil(Resolver& from, DepthStencil& to) {
  const auto command = from.get<hw::_3DSTATE_WM_DEPTH_STENCIL>();
  // Gen8 keeps references with the colour calculator, later generations here. The other field reads zero.
  to.front.reference |= command.stencil_reference_value;
  to.back.reference |= command.backface_stencil_reference_value;
  set_depth_stencil(command, to);
  const auto bounds = from.get<hw::_3DSTATE_DEPTH_BOUNDS>();
  to.bounds_test = bounds.depth_bounds_test_enable;
  to.bounds_min = bounds.depth_bounds_test_min_value;
  to.bounds_max = bounds.depth_bounds_test_max_value;
}

template <class Command>
PlaneBuffer plane_of(const Command& command) {
  PlaneBuffer plane;
  plane.address = command.surface_base_address.value;
  plane.pitch_B = command.surface_pitch + 1;
  plane.width = command.width + 1u;
  plane.height = command.height + 1u;
  plane.depth = command.depth + 1u;
  plane.volume = command.surface_type == hw::SurfaceType::SURFTYPE_3D;
  plane.level = command.lod;
  plane.first_layer = command.minimum_array_element;
  plane.layers = command.render_target_view_extent + 1u;
  plane.layer_rows = command.surface_qpitch * 4u;
  return plane;
}

// Where both kinds of state exist (Gen12), the control surface has the state of a block, because samplers read it.
void resolve_depth_states(Resolver& from, const hw::_3DSTATE_DEPTH_BUFFER& depth, DepthStates& states) {
  const CompressionRules& rules = compression_rules(from.gen());
  states = {.rules = &rules};
  if (!depth.hierarchical_depth_buffer_enable || !rules.hierarchical_depth) {
    return;
  }
  if (depth.control_surface_enable && rules.control == ControlForm::mapped) {
    states.form = surface::StateForm::four_bits;
    states.address = from.bases().aux_table;
    states.compresses = depth.depth_buffer_compression_enable;
    return;
  }
  const auto hierarchical = from.get<hw::_3DSTATE_HIER_DEPTH_BUFFER>();
  states.form = surface::StateForm::hierarchical;
  states.address = hierarchical.surface_base_address.value;
  states.pitch_B = hierarchical.surface_pitch + 1;
  states.layer_rows = hierarchical.surface_qpitch * 4u;
}

void resolve_buffers(Resolver& from, DepthBuffers& buffers) {
  const auto depth = from.get<hw::_3DSTATE_DEPTH_BUFFER>();
  const bool has_depth = from.settings().has(CommandId::_3DSTATE_DEPTH_BUFFER);
  buffers.depth = plane_of(depth);
  buffers.depth.present = has_depth && depth.surface_type != hw::SurfaceType::SURFTYPE_NULL;
  buffers.depth.write = depth.depth_write_enable;
  buffers.format = depth.surface_format;
  const auto stencil = from.get<hw::_3DSTATE_STENCIL_BUFFER>();
  if (stencil.stencil_buffer_enable) {
    // The stencil buffer has the shape of the depth buffer.
    const PlaneBuffer own = plane_of(stencil);
    buffers.stencil = buffers.depth;
    buffers.stencil.address = own.address;
    buffers.stencil.pitch_B = own.pitch_B;
    buffers.stencil.layer_rows = own.layer_rows;
    buffers.stencil.present = true;
    buffers.stencil.write = depth.stencil_write_enable;
  } else if (stencil.width != 0 || stencil.height != 0 || stencil.surface_base_address.value != 0) {
    buffers.stencil = plane_of(stencil);
    buffers.stencil.present = stencil.surface_type != hw::SurfaceType::SURFTYPE_NULL;
    buffers.stencil.write = stencil.stencil_write_enable;
  }
  buffers.clear_value = from.get<hw::_3DSTATE_CLEAR_PARAMS>().depth_clear_value;
  resolve_depth_states(from, depth, buffers.states);
}

void resolve_operation(Resolver& from, DepthOperation& operation) {
  const auto command = from.get<hw::_3DSTATE_WM_HZ_OP>();
  const auto wm = from.get<hw::_3DSTATE_WM>();  // the forms of Gen6, which act on the rectangle of a draw
  operation.clear_depth = command.depth_buffer_clear_enable || wm.legacy_depth_buffer_clear_enable;
  operation.clear_stencil = command.stencil_buffer_clear_enable;
  operation.resolve = command.depth_buffer_resolve_enable || wm.legacy_depth_buffer_resolve_enable;
  operation.ambiguate =
      command.hierarchical_depth_buffer_resolve_enable || wm.legacy_hierarchical_depth_buffer_resolve_enable;
  operation.stencil_value = command.stencil_clear_value;
  operation.scissor = command.scissor_rectangle_enable;
  operation.full_surface = command.full_surface_depth_and_stencil_clear;
  operation.rectangle = {.x_min = command.clear_rectangle_x_min,
                         .y_min = command.clear_rectangle_y_min,
                         .x_max = command.clear_rectangle_x_max - 1,
                         .y_max = command.clear_rectangle_y_max - 1};
}

}  // namespace

void resolve_split(Resolver& from, PipelineState& state) {
  resolve_vertex_shader(from, state.vertex_shader);
  resolve_tessellation(from, state.tessellation);
  resolve_geometry(from, state.geometry);
  resolve_stream_output(from, state.stream_output);
  resolve_raster(from, state.raster);
  resolve_drawing_rectangle(from, state.raster);
  resolve_replication(from, state.replication);
  resolve_clip(from, state);
  resolve_viewports(from, state);
  resolve_setup(from, state.setup);
  resolve_pixel(from, state.pixel);
  resolve_blend(from, state.output);
  resolve_depth_stencil(from, state.output.depth_stencil);
  resolve_buffers(from, state.output.buffers);
  resolve_operation(from, state.output.operation);
  state.output.statistics = state.pixel.shader.statistics;
  state.pixel.dual_source = false;
}

}  // namespace halogen::pipe3d
