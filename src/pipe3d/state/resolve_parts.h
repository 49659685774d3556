// Code that all pipeline forms share.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "hw/3d_constants.h"
#include "hw/3d_raster.h"
#include "hw/blend.h"
#include "hw/constants.h"
#include "hw/viewport.h"
#include "pipe3d/state/resolve.h"
#include "spec/structure_size.h"

namespace halogen::pipe3d {

class Resolver {
 public:
  explicit Resolver(const ResolveInput& input) : input_(input) {}

  spec::GenId gen() const { return input_.generation->id(); }
  const PipelineRules& rules() const { return pipeline_rules(gen()); }
  const message::StateBases& bases() const { return input_.bases; }
  const Settings& settings() const { return *input_.settings; }
  const message::BindingTables& tables() const { return input_.tables; }
  template <class T>
  T get(uint32_t index = 0) const {
    return input_.settings->get<T>(gen(), index);
  }
  // Returns a structure in memory. If a fault stops the read, it is zero and ok() is false.
  template <class T>
  T read(uint64_t address) {
    std::array<uint32_t, 64> words{};
    const size_t dwords = T::kDesc.dwords_of_gen[static_cast<size_t>(gen())];
    const std::span<uint32_t> used = std::span(words).first(std::min(dwords, words.size()));
    ok_ = memory::ok(input_.space->read(wrapped_address(address), std::as_writable_bytes(used))) && ok_;
    if (input_.unread != nullptr) {
      input_.unread->note(T::kDesc, gen(), used);
    }
    return T::unpack(gen(), used);
  }
  // Return the size of a structure, and the address of element `index` of an array of them.
  template <class T>
  uint64_t bytes() const {
    return spec::bytes_of<T>(gen());
  }
  template <class T>
  uint64_t element(uint64_t base, size_t index) const {
    return base + index * bytes<T>();
  }
  template <class T>
  T read_element(uint64_t base, size_t index) {
    return read<T>(element<T>(base, index));
  }
  // Returns whether the structure's memory is mapped; software may leave out elements of arrays that no draw uses.
  template <class T>
  bool there(uint64_t address) const {
    const uint64_t last = address + bytes<T>() - 1;
    return input_.space->page_at(wrapped_address(address), {}) != nullptr &&
           input_.space->page_at(wrapped_address(last), {}) != nullptr;
  }
  bool ok() const { return ok_; }

 private:
  ResolveInput input_;
  bool ok_ = true;
};

// Sets the fields that the state commands of all shader stages except the pixel shader share.
template <class Command>
void set_common(const Command& command, Shader& shader) {
  shader.kernel = command.kernel_start_pointer;
  shader.scratch_base = command.scratch_space_base_pointer;
  shader.scratch_code = command.per_thread_scratch_space;
  shader.vector_mask = command.vector_mask_enable;
  shader.statistics = command.statistics_enable;
  shader.enabled = command.enable;
}

// Sets the part of vertex entries that a stage reads.
template <class Command>
void set_vertex_read(const Command& command, Shader& shader) {
  shader.first_grf = command.dispatch_grf_start_register_for_urb_data;
  shader.read_offset = command.vertex_urb_entry_read_offset;
  shader.read_length = command.vertex_urb_entry_read_length;
}

// Returns cr0.0 at the start of a thread.
uint32_t control_of(hw::FloatingPointMode mode, bool single_flow, hw::RoundingMode rounding = hw::RoundingMode::RTNE,
                    bool denormals = false);

void resolve_vertices(Resolver& from, VertexState& vertices);
void set_push(Shader& shader, const hw::_3DSTATE_CONSTANT_BODY& body, uint64_t base);
BlendTarget blend_target(const hw::BLEND_STATE_ENTRY& entry);
void resolve_color_calc(const hw::COLOR_CALC_STATE& state, Output& output);

// Selects the kernel of each width. `widths`: enables of 8, 16 and 32 pixels; `kernels`: the three kernels of a
// command.
void set_pixel_kernels(PixelShader& pixel, const std::array<bool, 3>& widths, const std::array<uint64_t, 3>& kernels,
                       const std::array<uint8_t, 3>& first_grfs);
void resolve_drawing_rectangle(Resolver& from, Raster& raster);
// Before Gen8 the command states the tiling of the depth buffer and whether it contains stencil.
void resolve_tiled_depth(Resolver& from, DepthBuffers& buffers);
Rectangle rectangle_of(const hw::SCISSOR_RECT& rect);
void set_interpolation(Setup& setup, uint32_t flat, uint32_t sprite, hw::SpriteOrigin origin);

// Sets the tests and limits of the clipper, except z tests and user distances, which differ between forms.
void set_clip(const hw::_3DSTATE_CLIP& command, Clip& clip);

// Sets face culling and fill modes. `From` has the fields of 3DSTATE_RASTER, which are in 3DSTATE_SF before it.
template <class From>
void set_faces(const From& from, Raster& raster) {
  raster.cull = from.cull_mode;
  raster.front_counter_clockwise = from.front_winding == hw::FrontWinding::COUNTER_CLOCKWISE;
  raster.front_fill = from.front_face_fill_mode;
  raster.back_fill = from.back_face_fill_mode;
  raster.offset_solid = from.global_depth_offset_enable_solid;
  raster.offset_line = from.global_depth_offset_enable_wireframe;
  raster.offset_point = from.global_depth_offset_enable_point;
  raster.offset_constant = from.global_depth_offset_constant;
  raster.offset_scale = from.global_depth_offset_scale;
  raster.offset_clamp = from.global_depth_offset_clamp;
  raster.scissor = from.scissor_rectangle_enable;
  raster.antialias = from.antialiasing_enable;
}

// Sets points, provoking vertices and precision. `From` is 3DSTATE_SF or the unit state of the same name.
template <class From>
void set_strips(const From& from, Raster& raster) {
  raster.viewport_transform = from.viewport_transform_enable;
  raster.line_width = static_cast<float>(from.line_width);
  raster.last_pixel = from.last_pixel_enable;
  raster.point_width = static_cast<float>(from.point_width);
  raster.point_width_of_vertex = from.point_width_source == hw::PointWidthSource::VERTEX;
  raster.sub_pixel_bits = from.vertex_sub_pixel_precision_select == hw::SubPixelPrecision::BITS_4 ? 4 : 8;
  raster.provoking = {from.line_strip_list_provoking_vertex_select, from.triangle_strip_list_provoking_vertex_select,
                      from.triangle_fan_provoking_vertex_select};
}

template <class View>
void set_transform(const View& view, Viewport& viewport) {
  viewport.scale = {view.viewport_matrix_element_m00, view.viewport_matrix_element_m11,
                    view.viewport_matrix_element_m22};
  viewport.move = {view.viewport_matrix_element_m30, view.viewport_matrix_element_m31,
                   view.viewport_matrix_element_m32};
}

template <class View>
void set_guard_band(const View& view, Viewport& viewport) {
  viewport.guard_x_min = view.x_min_clip_guardband;
  viewport.guard_x_max = view.x_max_clip_guardband;
  viewport.guard_y_min = view.y_min_clip_guardband;
  viewport.guard_y_max = view.y_max_clip_guardband;
}

// Maps attribute i to slot i, and sets how attributes are interpolated. `From` is 3DSTATE_SBE, or 3DSTATE_SF where it
// holds the same fields.
template <class From>
void set_attributes(const From& from, Setup& setup) {
  setup.count = std::min<uint32_t>(from.number_of_sf_output_attributes, kMaxAttributes);
  for (size_t i = 0; i < kMaxAttributes; ++i) {
    setup.attributes[i].source = static_cast<uint8_t>(i);
  }
  set_interpolation(setup, from.constant_interpolation_enable, from.point_sprite_texture_coordinate_enable,
                    from.point_sprite_texture_coordinate_origin);
}

// Sets patterns, and the number of pixels over which smooth lines fade, from the windower's state.
template <class Windower>
void set_lines(Raster& raster, const Windower& from) {
  const auto pixels = [](hw::AntialiasingRegionWidth width) {
    return 0.5f * static_cast<float>(1u << static_cast<unsigned>(width));
  };
  raster.line_stipple = from.line_stipple_enable;
  raster.polygon_stipple = from.polygon_stipple_enable;
  raster.antialias_width = pixels(from.line_antialiasing_region_width);
  raster.antialias_ends = pixels(from.line_end_cap_antialiasing_region_width);
}

template <class Samples>
void set_positions(Raster& raster, const Samples& samples, size_t first = 0) {
  for (size_t i = 0; i < samples.size() && first + i < kMaxSamples; ++i) {
    raster.positions[first + i] = {static_cast<uint8_t>(samples[i].x_offset * 16),
                                   static_cast<uint8_t>(samples[i].y_offset * 16)};
  }
}

template <class Attributes>
void set_swizzles(Setup& setup, const Attributes& attributes) {
  for (size_t i = 0; i < attributes.size(); ++i) {
    const auto& from = attributes[i];
    Attribute& to = setup.attributes[i];
    to.source = from.source_attribute;
    to.swizzle = from.swizzle_select;
    to.constant = from.constant_source;
    to.override_mask = static_cast<uint8_t>((from.component_override_x ? 1 : 0) | (from.component_override_y ? 2 : 0) |
                                            (from.component_override_z ? 4 : 0) | (from.component_override_w ? 8 : 0));
  }
}

// Sets functions, operations and masks, but not the references.
template <class State>
void set_depth_stencil(const State& from, DepthStencil& to) {
  to.depth_test = from.depth_test_enable;
  to.depth_write = from.depth_buffer_write_enable;
  to.depth_function = from.depth_test_function;
  to.stencil_test = from.stencil_test_enable;
  to.stencil_write = from.stencil_buffer_write_enable;
  to.two_sided = from.double_sided_stencil_enable;
  to.front = {from.stencil_test_function,
              from.stencil_fail_op,
              from.stencil_pass_depth_fail_op,
              from.stencil_pass_depth_pass_op,
              from.stencil_test_mask,
              from.stencil_write_mask,
              to.front.reference};
  to.back = {from.backface_stencil_test_function,
             from.backface_stencil_fail_op,
             from.backface_stencil_pass_depth_fail_op,
             from.backface_stencil_pass_depth_pass_op,
             from.backface_stencil_test_mask,
             from.backface_stencil_write_mask,
             to.back.reference};
}

// One function for each PipelineForm.
void resolve_split(Resolver& from, PipelineState& state);
void resolve_combined(Resolver& from, PipelineState& state);
void resolve_units(Resolver& from, PipelineState& state);

}  // namespace halogen::pipe3d
