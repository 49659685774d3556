// Gen4: 3DSTATE_PIPELINED_POINTERS points to unit states in memory. Kernels are relative to the general state base, and
// constants come from one buffer that CONSTANT_BUFFER names.
#include <algorithm>
#include <bit>

#include "hw/3d_pointers.h"
#include "hw/3d_raster.h"
#include "hw/common.h"
#include "hw/unit_states.h"
#include "pipe3d/state/resolve_parts.h"

namespace halogen::pipe3d {
namespace {

constexpr uint32_t kGrf_B = 32;

// Returns the fields at the start of every unit state.
template <class Unit>
Shader shader_of(Resolver& from, const Unit& unit, uint64_t binding_table) {
  Shader shader;
  shader.enabled = true;
  shader.scratch_base = unit.scratch_space_base_pointer;
  shader.scratch_code = unit.per_thread_scratch_space;
  shader.control = control_of(unit.floating_point_mode, unit.single_program_flow);
  shader.binding_table = from.bases().surface + binding_table;
  const auto constants = from.get<hw::CONSTANT_BUFFER>();
  if (constants.valid && unit.constant_urb_entry_read_length != 0) {
    shader.push[0] = {constants.buffer_starting_address.value + unit.constant_urb_entry_read_offset * kGrf_B,
                      unit.constant_urb_entry_read_length};
  }
  return shader;
}

// Returns the shader of a unit that reads vertex entries.
template <class Unit>
Shader vertex_reader(Resolver& from, const Unit& unit, uint64_t binding_table) {
  Shader shader = shader_of(from, unit, binding_table);
  shader.kernel = unit.kernel_start_pointer;
  set_vertex_read(unit, shader);
  shader.statistics = unit.statistics_enable;
  return shader;
}

void resolve_vertex_shader(Resolver& from, uint64_t at, uint64_t table, VertexShader& stage) {
  const auto unit = from.read<hw::VS_STATE>(at);
  stage.shader = vertex_reader(from, unit, table);
  stage.shader.enabled = unit.enable;
  stage.shader.sampler_table = static_cast<uint32_t>(unit.sampler_state_pointer);
  stage.dispatch = VertexDispatch::pairs;
  stage.entry_slots = (unit.urb_entry_allocation_size + 1u) * 4;
}

// Resolves the threads that split quads and loops.
void resolve_geometry(Resolver& from, uint64_t at, uint64_t table, Geometry& stage) {
  const auto unit = from.read<hw::GS_STATE>(at);
  stage.shader = vertex_reader(from, unit, table);
  stage.shader.sampler_table = static_cast<uint32_t>(unit.sampler_state_pointer);
  stage.dispatch = GeometryDispatch::single;
  stage.whole_quads = true;
  stage.entry_slots = (unit.urb_entry_allocation_size + 1u) * 4;
  stage.discard_adjacency = unit.discard_adjacency;
  stage.reorder_trailing = unit.reorder_enable;
}

void resolve_clip(Resolver& from, uint64_t at, uint64_t table, bool enable, PipelineState& state) {
  state.clip.divide = false;  // vertex shaders have divided by w
  if (!enable) {
    return;
  }
  const auto unit = from.read<hw::CLIP_STATE>(at);
  state.clip.statistics = unit.statistics_enable;
  ClipUnit& clip = state.clip_unit;
  clip.enabled = true;
  clip.mode = unit.clip_mode;
  clip.xy_test = unit.viewport_xy_clip_test_enable;
  clip.z_test = unit.viewport_z_clip_test_enable;
  clip.guard_band = unit.guardband_clip_test_enable;
  clip.zero_to_one = unit.api_mode == hw::ClipApiMode::D3D;
  clip.negative_w = unit.negative_w_clip_test_enable;
  clip.user_flags = unit.user_clip_distance_clip_test_enable_bitmask;
  clip.user_must_clip = unit.user_clip_flags_must_clip_enable;
  clip.shader = vertex_reader(from, unit, table);
  if (unit.guardband_clip_test_enable) {
    const auto guard = from.read<hw::CLIP_VIEWPORT>(from.bases().general + unit.clipper_viewport_state_pointer);
    set_guard_band(guard, state.viewports[0]);
  }
}

void resolve_setup(Resolver& from, uint64_t at, uint64_t table, PipelineState& state) {
  const auto unit = from.read<hw::SF_STATE>(at);
  state.setup_shader = vertex_reader(from, unit, table);
  state.sprites = unit.sprite_point_enable;
  state.setup_entry_slots = (unit.urb_entry_allocation_size + 1u) * 4;
  Raster& raster = state.raster;
  set_strips(unit, raster);
  raster.cull = unit.cull_mode;
  raster.front_counter_clockwise = unit.front_winding == hw::FrontWinding::COUNTER_CLOCKWISE;
  raster.scissor = unit.scissor_rectangle_enable;
  raster.antialias = unit.antialiasing_enable;
  raster.point_rule_right = unit.point_rasterization_rule == hw::PointRasterizationRule::UPPER_RIGHT;
  raster.origin_bias = static_cast<float>(unit.destination_origin_horizontal_bias);
  raster.corner_sample = true;  // the bias turns corners into centres
  raster.positions[0] = {0, 0};
  raster.sample_mask = 1;
  if (unit.viewport_transform_enable || unit.scissor_rectangle_enable) {
    const auto view = from.read<hw::SF_VIEWPORT>(from.bases().general + unit.setup_viewport_state_offset);
    Viewport& viewport = state.viewports[0];
    set_transform(view, viewport);
    viewport.scissor = rectangle_of(view.scissor_rectangle);
  }
}

void resolve_pixel(Resolver& from, uint64_t at, uint64_t table, PipelineState& state) {
  const auto unit = from.read<hw::WM_STATE>(at);
  PixelShader& pixel = state.pixel;
  pixel.shader = shader_of(from, unit, table);
  pixel.shader.sampler_table = static_cast<uint32_t>(unit.sampler_state_pointer);
  pixel.shader.enabled = pixel.dispatch = unit.thread_dispatch_enable;
  pixel.shader.read_offset = unit.setup_urb_entry_read_offset;
  pixel.shader.read_length = unit.setup_urb_entry_read_length;
  pixel.shader.statistics = unit.statistics_enable;
  pixel.shader.vector_mask = true;  // all pixels of a subspan run; a mask in the header selects which are drawn
  // There is one kernel, for one width.
  const uint8_t first = unit.dispatch_grf_start_register_for_constant_setup_data_0;
  set_pixel_kernels(pixel, {unit.dispatch_8_pixel_enable, unit.dispatch_16_pixel_enable, false},
                    {unit.kernel_start_pointer_0, unit.kernel_start_pointer_0, unit.kernel_start_pointer_0},
                    {first, first, first});
  pixel.source_depth = unit.pixel_shader_uses_source_depth;
  pixel.computes_depth = unit.pixel_shader_computed_depth;
  pixel.kills = unit.pixel_shader_kills_pixel;
  pixel.early = unit.early_depth_test_enable ? EarlyDepth::automatic : EarlyDepth::late;
  pixel.attributes = true;
  state.depth_coefficients = unit.depth_coefficient_urb_read_offset;
  Raster& raster = state.raster;
  set_lines(raster, unit);
  raster.offset_solid = unit.global_depth_offset_enable;
  raster.offset_constant = unit.global_depth_offset_constant;
  raster.offset_scale = unit.global_depth_offset_scale;
  raster.offset_clamp = from.get<hw::_3DSTATE_GLOBAL_DEPTH_OFFSET_CLAMP>().global_depth_offset_clamp;
}

void resolve_output(Resolver& from, uint64_t at, PipelineState& state) {
  const auto unit = from.read<hw::COLOR_CALC_STATE>(at);
  Output& output = state.output;
  resolve_color_calc(unit, output);
  const auto constant = from.get<hw::_3DSTATE_CONSTANT_COLOR>();
  output.blend.constant = {constant.blend_constant_color_red, constant.blend_constant_color_green,
                           constant.blend_constant_color_blue, constant.blend_constant_color_alpha};
  output.blend.alpha_test = unit.alpha_test_enable;
  output.blend.dither = unit.color_dither_enable;
  output.blend.alpha_function = unit.alpha_test_function;
  BlendTarget target;
  target.blend = unit.color_buffer_blend_enable;
  target.source_color = unit.source_blend_factor;
  target.dest_color = unit.destination_blend_factor;
  target.color = unit.color_blend_function;
  const bool own_alpha = unit.independent_alpha_blend_enable;
  target.source_alpha = own_alpha ? unit.source_alpha_blend_factor : target.source_color;
  target.dest_alpha = own_alpha ? unit.destination_alpha_blend_factor : target.dest_color;
  target.alpha = own_alpha ? unit.alpha_blend_function : target.color;
  target.logic = unit.logic_op_enable;
  target.logic_op = unit.logic_op_function;
  target.clamp_before = unit.pre_blend_color_clamp_enable;
  target.clamp_after = unit.post_blend_color_clamp_enable;
  target.range = unit.color_clamp_range;
  output.blend.targets.fill(target);
  output.depth_stencil.front.reference = unit.stencil_reference_value;
  output.depth_stencil.back.reference = unit.backface_stencil_reference_value;
  set_depth_stencil(unit, output.depth_stencil);
  const auto range = from.read<hw::CC_VIEWPORT>(from.bases().general + unit.cc_viewport_state_pointer);
  state.viewports[0].depth_min = range.minimum_depth;
  state.viewports[0].depth_max = range.maximum_depth;
}

}  // namespace

void resolve_units(Resolver& from, PipelineState& state) {
  const auto pointers = from.get<hw::_3DSTATE_PIPELINED_POINTERS>();
  const auto tables = from.get<hw::_3DSTATE_BINDING_TABLE_POINTERS>();
  const uint64_t general = from.bases().general;
  state.bases.instruction = general;
  state.bases.dynamic = general;
  resolve_vertex_shader(from, general + pointers.vs_state_pointer, tables.vs_binding_table_pointer,
                        state.vertex_shader);
  if (pointers.gs_enable) {
    resolve_geometry(from, general + pointers.gs_state_pointer, tables.gs_binding_table_pointer, state.geometry);
  }
  resolve_clip(from, general + pointers.clip_state_pointer, tables.clip_binding_table_pointer, pointers.clip_enable,
               state);
  resolve_setup(from, general + pointers.sf_state_pointer, tables.sf_binding_table_pointer, state);
  resolve_drawing_rectangle(from, state.raster);
  resolve_pixel(from, general + pointers.wm_state_pointer, tables.ps_binding_table_pointer, state);
  resolve_output(from, general + pointers.color_calc_state_pointer, state);
  resolve_tiled_depth(from, state.output.buffers);
  state.output.statistics = state.pixel.shader.statistics;
}

}  // namespace halogen::pipe3d
