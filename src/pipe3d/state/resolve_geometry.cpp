// Gen8 and later: tables and constants of the shader stages; the stages between vertices and clipping.
#include <algorithm>

#include "hw/3d_geometry.h"
#include "hw/3d_pointers.h"
#include "hw/3d_so.h"
#include "hw/3d_urb.h"
#include "hw/so_decl.h"
#include "pipe3d/state/resolve_parts.h"
#include "pipe3d/state/resolve_stages.h"

namespace halogen::pipe3d {
namespace {

using spec::CommandId;

HullDispatch hull_dispatch_of(hw::_3DSTATE_HS::DispatchMode mode) {
  using Mode = hw::_3DSTATE_HS::DispatchMode;
  return mode == Mode::eight_patch  ? HullDispatch::eight_patch
         : mode == Mode::dual_patch ? HullDispatch::dual_patch
                                    : HullDispatch::single_patch;
}

GeometryDispatch geometry_dispatch_of(hw::_3DSTATE_GS::DispatchMode mode) {
  using Mode = hw::_3DSTATE_GS::DispatchMode;
  return mode == Mode::simd8         ? GeometryDispatch::simd8
         : mode == Mode::dual_object ? GeometryDispatch::dual_object
                                     : GeometryDispatch::dual_instance;
}

template <class Bound>
void set_buffer(const Bound& bound, StreamOutput::Buffer& buffer) {
  buffer.enabled = bound.so_buffer_enable;
  buffer.address = bound.surface_base_address.value;
  buffer.bytes = (uint64_t{bound.surface_size} + 1) * sizeof(uint32_t);
  buffer.offset_address =
      bound.stream_output_buffer_offset_address_enable ? bound.stream_output_buffer_offset_address.value : 0;
}

}  // namespace

// The commands of all stages have the layout of the vertex shader's.
void set_tables(Resolver& from, const StageCommands& stage, Shader& shader) {
  const std::span<const uint32_t> binding = from.settings().words(stage.binding);
  if (!binding.empty()) {
    const uint64_t pointer = hw::_3DSTATE_BINDING_TABLE_POINTERS_VS::unpack(from.gen(), binding).binding_table_pointer;
    shader.binding_table = from.tables().address(pointer);
  }
  const std::span<const uint32_t> sampler = from.settings().words(stage.sampler);
  if (!sampler.empty()) {
    shader.sampler_table = static_cast<uint32_t>(
        hw::_3DSTATE_SAMPLER_STATE_POINTERS_VS::unpack(from.gen(), sampler).sampler_state_pointer);
  }
}

void set_constants(Resolver& from, const StageCommands& stage, Shader& shader) {
  const std::span<const uint32_t> words = from.settings().words(stage.constants);
  if (!words.empty()) {
    set_push(shader, hw::_3DSTATE_CONSTANT_VS::unpack(from.gen(), words).constant_body, 0);
    return;
  }
  using All = hw::_3DSTATE_CONSTANT_ALL;
  const std::span<const uint32_t> all = from.settings().words(CommandId::_3DSTATE_CONSTANT_ALL, stage.index);
  if (all.empty()) {
    return;
  }
  const uint8_t mask = All::unpack(from.gen(), all).pointer_buffer_mask;
  const size_t entries = All::count_buffers(from.gen(), all);
  size_t entry = 0;
  for (size_t i = 0; i < shader.push.size(); ++i) {
    if ((mask >> i & 1) != 0 && entry < entries) {
      const hw::_3DSTATE_CONSTANT_ALL_DATA body = All::unpack_buffers(from.gen(), all, entry++).body;
      shader.push[i] = {body.pointer_to_constant_buffer.value, body.constant_buffer_read_length};
    }
  }
}

void resolve_tessellation(Resolver& from, Tessellation& stage) {
  const auto hull = from.get<hw::_3DSTATE_HS>();
  set_common(hull, stage.hull);
  stage.hull.first_grf = static_cast<uint8_t>(hull.dispatch_grf_start_register_for_urb_data +
                                              (hull.dispatch_grf_start_register_for_urb_data_high ? 32 : 0));
  stage.hull.read_offset = hull.vertex_urb_entry_read_offset;
  stage.hull.read_length = hull.vertex_urb_entry_read_length;
  stage.hull.control = control_of(hull.floating_point_mode, hull.single_program_flow);
  stage.hull_dispatch = hull_dispatch_of(hull.dispatch_mode);
  stage.hull_instances = hull.instance_count + 1u;
  stage.hull_handles = hull.include_vertex_handles;
  stage.hull_primitive_id = hull.include_primitive_id;
  set_entry<hw::_3DSTATE_URB_HS, hw::_3DSTATE_URB_ALLOC_HS>(from, stage.patch_slots);
  set_tables(from, kHull, stage.hull);
  set_constants(from, kHull, stage.hull);

  const auto engine = from.get<hw::_3DSTATE_TE>();
  stage.enabled = engine.te_enable;
  stage.domain = static_cast<TessellationDomain>(engine.te_domain);
  stage.output = static_cast<TessellationOutput>(engine.output_topology);
  stage.partitioning = static_cast<TessellationPartitioning>(engine.partitioning);
  stage.layout = static_cast<PatchLayout>(engine.patch_header_layout);
  stage.most_odd = engine.maximum_tessellation_factor_odd;
  stage.most_even = engine.maximum_tessellation_factor_not_odd;

  const auto domain = from.get<hw::_3DSTATE_DS>();
  set_common(domain, stage.domain_shader);
  stage.domain_shader.first_grf = domain.dispatch_grf_start_register_for_urb_data;
  stage.domain_shader.read_offset = domain.patch_urb_entry_read_offset;
  stage.domain_shader.read_length = domain.patch_urb_entry_read_length;
  stage.domain_shader.control = control_of(domain.floating_point_mode, false);
  stage.domain_wide = domain.dispatch_mode != hw::DomainDispatchMode::SIMD4X2;
  set_entry<hw::_3DSTATE_URB_DS, hw::_3DSTATE_URB_ALLOC_DS>(from, stage.domain_slots);
  stage.domain_w = domain.compute_w_coordinate_enable;
  stage.domain_primitive_id = !domain.primitive_id_not_required;
  set_tables(from, kDomain, stage.domain_shader);
  set_constants(from, kDomain, stage.domain_shader);
}

void resolve_geometry(Resolver& from, Geometry& stage) {
  using Command = hw::_3DSTATE_GS;
  const auto command = from.get<Command>();
  set_common(command, stage.shader);
  stage.shader.first_grf = static_cast<uint8_t>(command.dispatch_grf_start_register_for_urb_data +
                                                16u * command.dispatch_grf_start_register_for_urb_data_high);
  stage.shader.read_offset = command.vertex_urb_entry_read_offset;
  stage.shader.read_length = command.vertex_urb_entry_read_length;
  stage.shader.control = control_of(command.floating_point_mode, command.single_program_flow);
  stage.dispatch = geometry_dispatch_of(command.dispatch_mode);
  set_entry<hw::_3DSTATE_URB_GS, hw::_3DSTATE_URB_ALLOC_GS>(from, stage.entry_slots);
  stage.handles = command.include_vertex_handles;
  stage.primitive_id = command.include_primitive_id;
  stage.instances = command.instance_control + 1u;
  stage.header_B = command.control_data_header_size * 32u;
  stage.stream_ids = command.control_data_format == Command::ControlDataFormat::sid;
  stage.default_stream = command.default_stream_id;
  stage.vertex_B = (command.output_vertex_size + 1u) * kSlot_B;
  stage.expected_vertices = command.expected_vertex_count;
  stage.static_count = command.static_output;
  stage.count = command.static_output_vertex_count;
  stage.topology = command.output_topology;
  stage.discard_adjacency = command.discard_adjacency;
  stage.reorder_trailing = command.reorder_mode == hw::ReorderMode::TRAILING;
  stage.invocations_step = command.invocations_increment_value + 1u;
  set_tables(from, kGeometry, stage.shader);
  set_constants(from, kGeometry, stage.shader);
}

void resolve_stream_output(Resolver& from, StreamOutput& stage) {
  const auto command = from.get<hw::_3DSTATE_STREAMOUT>();
  stage.enabled = command.so_function_enable;
  using Force = hw::_3DSTATE_STREAMOUT::ForceRendering;
  stage.rendering = command.force_rendering == Force::force_on ||
                    (command.force_rendering != Force::force_off && !command.rendering_disable);
  stage.stream = command.render_stream_select;
  stage.statistics = command.so_statistics_enable;
  stage.reorder_trailing = command.reorder_mode == hw::ReorderMode::TRAILING;
  const auto lists = from.get<hw::_3DSTATE_SO_DECL_LIST>();
  const std::span<const uint32_t> words = from.settings().words(CommandId::_3DSTATE_SO_DECL_LIST);
  for (size_t stream = 0; stream < stage.entries.size(); ++stream) {
    stage.read_offset[stream] = command.streams[stream].vertex_read_offset;
    stage.used_buffers[stream] = lists.streams_to_buffer_selects[stream].buffers;
    const size_t count =
        std::min<size_t>(lists.num_entries[stream].count,
                         words.empty() ? 0 : hw::_3DSTATE_SO_DECL_LIST::count_entries(from.gen(), words));
    for (size_t i = 0; i < count; ++i) {
      const hw::SO_DECL_ENTRY::Streams entry =
          hw::_3DSTATE_SO_DECL_LIST::unpack_entries(from.gen(), words, i).entry.streams[stream];
      stage.entries[stream].push_back({.buffer = entry.output_buffer_slot,
                                       .hole = entry.hole_flag,
                                       .slot = entry.register_index,
                                       .mask = entry.component_mask});
    }
  }
  for (uint32_t i = 0; i < stage.buffers.size(); ++i) {
    StreamOutput::Buffer& buffer = stage.buffers[i];
    buffer.pitch = command.buffers[i].surface_pitch;
    set_buffer(from.get<hw::_3DSTATE_SO_BUFFER>(i), buffer);
  }
}

}  // namespace halogen::pipe3d
