// A draw that works on every generation: state commands, the structures that they point to, vertices, textures and
// kernels at fixed offsets of a small memory whose bases are zero. Fuzz targets start from it and change it, so a short
// input already executes shaders and writes pixels.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "fuzz/field_maker.h"
#include "fuzz/kernel_maker.h"
#include "hw/enums.h"
#include "pipe3d/state/settings.h"
#include "support/mapped_memory.h"

namespace halogen::fuzz::scene {

inline constexpr uint64_t kPages = 128;
inline constexpr uint64_t kBytes = kPages * test::MappedMemory::kPage;
inline constexpr uint64_t kTable = 0x1000;     // binding table of eight surfaces
inline constexpr uint64_t kSurfaces = 0x1400;  // their states, 64 bytes each
inline constexpr uint64_t kSamplers = 0x1800;  // four
inline constexpr uint64_t kBorder = 0x1900;
inline constexpr uint64_t kBlend = 0x1a00;
inline constexpr uint64_t kColorCalc = 0x1b00;
inline constexpr uint64_t kDepthStencil = 0x1b40;
inline constexpr uint64_t kDepthRange = 0x1b80;
inline constexpr uint64_t kViewport = 0x1c00;
inline constexpr uint64_t kGuardBand = 0x1c80;
inline constexpr uint64_t kScissor = 0x1cc0;
inline constexpr uint64_t kUnits = 0x1d00;  // Gen4: VS, GS, CLIP, SF, WM, 64 bytes each
inline constexpr uint64_t kConstants = 0x2000;
inline constexpr uint64_t kPixelKernel = 0x4000;
inline constexpr uint64_t kVertexKernel = 0x5000;
inline constexpr uint64_t kGeometryKernel = 0x6000;
inline constexpr uint64_t kSetupKernel = 0x7000;
inline constexpr uint64_t kVertices = 0x8000;
inline constexpr uint64_t kIndices = 0xc000;
inline constexpr uint64_t kTexture = 0x1'0000;
inline constexpr uint64_t kTarget = 0x2'0000;
inline constexpr uint64_t kDepth = 0x3'0000;
inline constexpr uint64_t kStencil = 0x4'0000;
inline constexpr uint64_t kBuffer = 0x5'0000;  // a raw buffer, and stream output
inline constexpr uint64_t kScratch = 0x6'0000;
inline constexpr uint32_t kSide = 64;
inline constexpr uint32_t kVertexCount = 24;
inline constexpr uint32_t kVertex_B = 32;

// Places that address fields get.
inline std::vector<uint64_t> addresses() {
  return {kTarget, kTexture,  kDepth,    kStencil,     kBuffer,       kVertices,       kIndices,    kConstants,
          kTable,  kSurfaces, kSamplers, kPixelKernel, kVertexKernel, kGeometryKernel, kBlend,      kViewport,
          kUnits,  kScratch,  0,         kBytes - 64,  kBytes,        kBorder,         kSetupKernel};
}

template <class Code>
constexpr uint64_t code(Code value) {
  return static_cast<uint64_t>(value);
}

using Source = hw::VertexComponentControl;

// Fields of all generations are listed together; a generation uses those it has.
inline const std::vector<FieldValue>& values() {
  static const std::vector<FieldValue> all{
      {"3DSTATE_VERTEX_BUFFERS", "buffer_pitch@0", kVertex_B},
      {"3DSTATE_VERTEX_BUFFERS", "buffer_starting_address@0", kVertices},
      {"3DSTATE_VERTEX_BUFFERS", "end_address@0", kVertices + kVertexCount * kVertex_B - 1},
      {"3DSTATE_VERTEX_BUFFERS", "buffer_size@0", kVertexCount * kVertex_B},
      {"3DSTATE_VERTEX_BUFFERS", "max_index@0", kVertexCount - 1},
      {"3DSTATE_VERTEX_BUFFERS", "address_modify_enable@0", 1},
      {"3DSTATE_INDEX_BUFFER", "buffer_starting_address", kIndices},
      {"3DSTATE_INDEX_BUFFER", "buffer_ending_address", kIndices + 0xff},
      {"3DSTATE_INDEX_BUFFER", "buffer_size", 0x100},
      {"3DSTATE_VF_TOPOLOGY", "primitive_topology_type", code(hw::PrimitiveTopology::TRILIST)},
      {"3DSTATE_VF_STATISTICS", "statistics_enable", 1},
      {"3DSTATE_DRAWING_RECTANGLE", "clipped_drawing_rectangle_x_max", kSide - 1},
      {"3DSTATE_DRAWING_RECTANGLE", "clipped_drawing_rectangle_y_max", kSide - 1},
      {"3DSTATE_URB", "vs_number_of_urb_entries", 64},
      {"3DSTATE_URB", "vs_urb_entry_allocation_size", 2},
      {"3DSTATE_URB", "gs_number_of_urb_entries", 64},
      {"3DSTATE_URB", "gs_urb_entry_allocation_size", 2},
      {"3DSTATE_URB_VS", "vs_number_of_urb_entries", 64},
      {"3DSTATE_URB_VS", "urb_entry_allocation_size", 2},
      {"3DSTATE_URB_ALLOC_VS", "urb_entry_allocation_size", 2},
      {"3DSTATE_VS", "kernel_start_pointer", kVertexKernel},
      {"3DSTATE_VS", "dispatch_grf_start_register_for_urb_data", 1},
      {"3DSTATE_VS", "vertex_urb_entry_read_length", 2},
      {"3DSTATE_VS", "maximum_number_of_threads", 15},
      {"3DSTATE_VS", "statistics_enable", 1},
      {"3DSTATE_GS", "kernel_start_pointer", kGeometryKernel},
      {"3DSTATE_GS", "dispatch_grf_start_register_for_urb_data", 2},
      {"3DSTATE_GS", "vertex_urb_entry_read_length", 1},
      {"3DSTATE_GS", "output_topology", code(hw::PrimitiveTopology::TRISTRIP)},
      {"3DSTATE_GS", "output_vertex_size", 3},
      {"3DSTATE_GS", "maximum_number_of_threads", 15},
      {"3DSTATE_HS", "kernel_start_pointer", kGeometryKernel},
      {"3DSTATE_DS", "kernel_start_pointer", kVertexKernel},
      {"3DSTATE_CLIP", "perspective_divide_disable", 1},
      {"3DSTATE_CLIP", "minimum_point_width", 1},
      {"3DSTATE_CLIP", "maximum_point_width", 0x7ff},
      {"3DSTATE_CLIP", "statistics_enable", 1},
      {"3DSTATE_SF", "cull_mode", code(hw::CullMode::NONE)},
      {"3DSTATE_SF", "point_width", 32},
      {"3DSTATE_SF", "line_width", 128},
      {"3DSTATE_SF", "vertex_urb_entry_read_offset", 1},
      {"3DSTATE_SF", "vertex_urb_entry_read_length", 1},
      {"3DSTATE_SF", "number_of_sf_output_attributes", 1},
      {"3DSTATE_RASTER", "cull_mode", code(hw::CullMode::NONE)},
      {"3DSTATE_SBE", "vertex_urb_entry_read_offset", 1},
      {"3DSTATE_SBE", "vertex_urb_entry_read_length", 1},
      {"3DSTATE_SBE", "force_vertex_urb_entry_read_offset", 1},
      {"3DSTATE_SBE", "force_vertex_urb_entry_read_length", 1},
      {"3DSTATE_SBE", "number_of_sf_output_attributes", 1},
      {"3DSTATE_SBE", "format@0", 3},
      {"3DSTATE_WM", "kernel_start_pointer_0", kPixelKernel},
      {"3DSTATE_WM", "thread_dispatch_enable", 1},
      {"3DSTATE_WM", "dispatch_8_pixel_enable", 1},
      {"3DSTATE_WM", "dispatch_grf_start_register_for_constant_setup_data_0", 2},
      {"3DSTATE_WM", "number_of_sf_output_attributes", 1},
      {"3DSTATE_WM", "maximum_number_of_threads", 39},
      {"3DSTATE_WM", "statistics_enable", 1},
      {"3DSTATE_PS", "kernel_start_pointer_0", kPixelKernel},
      {"3DSTATE_PS", "kernel_start_pointer_1", kPixelKernel},
      {"3DSTATE_PS", "kernel_start_pointer_2", kPixelKernel},
      {"3DSTATE_PS", "dispatch_8_pixel_enable", 1},
      {"3DSTATE_PS", "dispatch_grf_start_register_for_constant_setup_data_0", 2},
      {"3DSTATE_PS", "maximum_number_of_threads_per_psd", 62},
      {"3DSTATE_PS_EXTRA", "pixel_shader_valid", 1},
      {"3DSTATE_PS_EXTRA", "attribute_enable", 1},
      {"3DSTATE_PS_BLEND", "has_writeable_rt", 1},
      {"3DSTATE_SAMPLE_MASK", "sample_mask", 0xffff},
      {"3DSTATE_BINDING_TABLE_POINTERS", "vs_binding_table_change", 1},
      {"3DSTATE_BINDING_TABLE_POINTERS", "gs_binding_table_change", 1},
      {"3DSTATE_BINDING_TABLE_POINTERS", "ps_binding_table_change", 1},
      {"3DSTATE_BINDING_TABLE_POINTERS", "vs_binding_table_pointer", kTable},
      {"3DSTATE_BINDING_TABLE_POINTERS", "gs_binding_table_pointer", kTable},
      {"3DSTATE_BINDING_TABLE_POINTERS", "clip_binding_table_pointer", kTable},
      {"3DSTATE_BINDING_TABLE_POINTERS", "sf_binding_table_pointer", kTable},
      {"3DSTATE_BINDING_TABLE_POINTERS", "ps_binding_table_pointer", kTable},
      {"3DSTATE_BINDING_TABLE_POINTERS_VS", "binding_table_pointer", kTable},
      {"3DSTATE_BINDING_TABLE_POINTERS_HS", "binding_table_pointer", kTable},
      {"3DSTATE_BINDING_TABLE_POINTERS_DS", "binding_table_pointer", kTable},
      {"3DSTATE_BINDING_TABLE_POINTERS_GS", "binding_table_pointer", kTable},
      {"3DSTATE_BINDING_TABLE_POINTERS_PS", "binding_table_pointer", kTable},
      {"3DSTATE_SAMPLER_STATE_POINTERS", "vs_sampler_state_change", 1},
      {"3DSTATE_SAMPLER_STATE_POINTERS", "gs_sampler_state_change", 1},
      {"3DSTATE_SAMPLER_STATE_POINTERS", "ps_sampler_state_change", 1},
      {"3DSTATE_SAMPLER_STATE_POINTERS", "vs_sampler_state_pointer", kSamplers},
      {"3DSTATE_SAMPLER_STATE_POINTERS", "gs_sampler_state_pointer", kSamplers},
      {"3DSTATE_SAMPLER_STATE_POINTERS", "ps_sampler_state_pointer", kSamplers},
      {"3DSTATE_SAMPLER_STATE_POINTERS_VS", "sampler_state_pointer", kSamplers},
      {"3DSTATE_SAMPLER_STATE_POINTERS_PS", "sampler_state_pointer", kSamplers},
      {"3DSTATE_CC_STATE_POINTERS", "blend_state_pointer_valid", 1},
      {"3DSTATE_CC_STATE_POINTERS", "blend_state_pointer", kBlend},
      {"3DSTATE_CC_STATE_POINTERS", "depth_stencil_state_pointer_valid", 1},
      {"3DSTATE_CC_STATE_POINTERS", "depth_stencil_state_pointer", kDepthStencil},
      {"3DSTATE_CC_STATE_POINTERS", "color_calc_state_pointer_valid", 1},
      {"3DSTATE_CC_STATE_POINTERS", "color_calc_state_pointer", kColorCalc},
      {"3DSTATE_BLEND_STATE_POINTERS", "blend_state_pointer_valid", 1},
      {"3DSTATE_BLEND_STATE_POINTERS", "blend_state_pointer", kBlend},
      {"3DSTATE_VIEWPORT_STATE_POINTERS", "clip_viewport_state_change", 1},
      {"3DSTATE_VIEWPORT_STATE_POINTERS", "sf_viewport_state_change", 1},
      {"3DSTATE_VIEWPORT_STATE_POINTERS", "cc_viewport_state_change", 1},
      {"3DSTATE_VIEWPORT_STATE_POINTERS", "clip_viewport_pointer", kGuardBand},
      {"3DSTATE_VIEWPORT_STATE_POINTERS", "sf_viewport_pointer", kViewport},
      {"3DSTATE_VIEWPORT_STATE_POINTERS", "cc_viewport_pointer", kDepthRange},
      {"3DSTATE_VIEWPORT_STATE_POINTERS_CC", "cc_viewport_pointer", kDepthRange},
      {"3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP", "sf_clip_viewport_pointer", kViewport},
      {"3DSTATE_SCISSOR_STATE_POINTERS", "scissor_rect_pointer", kScissor},
      {"3DSTATE_DEPTH_BUFFER", "surface_type", code(hw::SurfaceType::SURFTYPE_2D)},
      {"3DSTATE_DEPTH_BUFFER", "surface_format", code(hw::DepthFormat::D32_FLOAT)},
      {"3DSTATE_DEPTH_BUFFER", "surface_base_address", kDepth},
      {"3DSTATE_DEPTH_BUFFER", "surface_pitch", 511},
      {"3DSTATE_DEPTH_BUFFER", "width", kSide - 1},
      {"3DSTATE_DEPTH_BUFFER", "height", kSide - 1},
      {"3DSTATE_DEPTH_BUFFER", "depth_write_enable", 1},
      {"3DSTATE_DEPTH_BUFFER", "tiled_surface", 1},
      {"3DSTATE_DEPTH_BUFFER", "tile_walk", code(hw::TileWalk::YMAJOR)},
      {"3DSTATE_SO_BUFFER", "so_buffer_enable", 1},
      {"3DSTATE_SO_BUFFER", "surface_base_address", kBuffer},
      {"3DSTATE_SO_BUFFER", "surface_size", 0xff},
      {"3DSTATE_PIPELINED_POINTERS", "vs_state_pointer", kUnits},
      {"3DSTATE_PIPELINED_POINTERS", "gs_state_pointer", kUnits + 0x40},
      {"3DSTATE_PIPELINED_POINTERS", "clip_state_pointer", kUnits + 0x80},
      {"3DSTATE_PIPELINED_POINTERS", "sf_state_pointer", kUnits + 0xc0},
      {"3DSTATE_PIPELINED_POINTERS", "wm_state_pointer", kUnits + 0x100},
      {"3DSTATE_PIPELINED_POINTERS", "color_calc_state_pointer", kColorCalc},
      {"CONSTANT_BUFFER", "buffer_starting_address", kConstants},
      // Structures in memory.
      {"RENDER_SURFACE_STATE", "surface_type", code(hw::SurfaceType::SURFTYPE_2D)},
      {"RENDER_SURFACE_STATE", "surface_format", code(hw::SurfaceFormat::R8G8B8A8_UNORM)},
      {"RENDER_SURFACE_STATE", "width", kSide - 1},
      {"RENDER_SURFACE_STATE", "height", kSide - 1},
      {"RENDER_SURFACE_STATE", "surface_pitch", kSide * 4 - 1},
      {"RENDER_SURFACE_STATE", "surface_horizontal_alignment", 1},
      {"RENDER_SURFACE_STATE", "surface_vertical_alignment", 1},
      {"RENDER_SURFACE_STATE", "render_cache_read_write_mode", 1},
      {"RENDER_SURFACE_STATE", "shader_channel_select_red", code(hw::ShaderChannelSelect::RED)},
      {"RENDER_SURFACE_STATE", "shader_channel_select_green", code(hw::ShaderChannelSelect::GREEN)},
      {"RENDER_SURFACE_STATE", "shader_channel_select_blue", code(hw::ShaderChannelSelect::BLUE)},
      {"RENDER_SURFACE_STATE", "shader_channel_select_alpha", code(hw::ShaderChannelSelect::ALPHA)},
      {"SAMPLER_STATE", "border_color_pointer", kBorder},
      {"SAMPLER_STATE", "max_lod", 0xfff},
      {"CC_VIEWPORT", "maximum_depth", std::bit_cast<uint32_t>(1.0f)},
      {"COLOR_CALC_STATE", "cc_viewport_state_pointer", kDepthRange},
      {"VS_STATE", "kernel_start_pointer", kVertexKernel},
      {"VS_STATE", "dispatch_grf_start_register_for_urb_data", 1},
      {"VS_STATE", "vertex_urb_entry_read_length", 2},
      {"VS_STATE", "urb_entry_allocation_size", 3},
      {"GS_STATE", "kernel_start_pointer", kGeometryKernel},
      {"GS_STATE", "urb_entry_allocation_size", 3},
      {"CLIP_STATE", "kernel_start_pointer", kGeometryKernel},
      {"CLIP_STATE", "clipper_viewport_state_pointer", kGuardBand},
      {"SF_STATE", "kernel_start_pointer", kSetupKernel},
      {"SF_STATE", "dispatch_grf_start_register_for_urb_data", 3},
      {"SF_STATE", "vertex_urb_entry_read_length", 2},
      {"SF_STATE", "urb_entry_allocation_size", 3},
      {"SF_STATE", "cull_mode", code(hw::CullMode::NONE)},
      {"SF_STATE", "point_width", 32},
      {"SF_STATE", "line_width", 2},
      {"SF_STATE", "destination_origin_horizontal_bias", 8},
      {"SF_STATE", "destination_origin_vertical_bias", 8},
      {"SF_STATE", "setup_viewport_state_offset", kViewport},
      {"WM_STATE", "kernel_start_pointer_0", kPixelKernel},
      {"WM_STATE", "thread_dispatch_enable", 1},
      {"WM_STATE", "dispatch_8_pixel_enable", 1},
      {"WM_STATE", "setup_urb_entry_read_length", 2},
      {"WM_STATE", "dispatch_grf_start_register_for_constant_setup_data_0", 2},
      {"WM_STATE", "sampler_state_pointer", kSamplers},
      {"WM_STATE", "maximum_number_of_threads", 31},
      {"WM_STATE", "statistics_enable", 1},
  };
  return all;
}

// The elements of a vertex: a header of zeros, the position twice (where early generations have their second one), a
// colour.
inline std::vector<FieldValue> element_values() {
  static constexpr std::array<std::array<std::string_view, 10>, 4> kNames{{
      {"valid@0", "source_element_format@0", "source_element_offset@0", "component_0_control@0",
       "component_1_control@0", "component_2_control@0", "component_3_control@0", "destination_element_offset@0"},
      {"valid@1", "source_element_format@1", "source_element_offset@1", "component_0_control@1",
       "component_1_control@1", "component_2_control@1", "component_3_control@1", "destination_element_offset@1"},
      {"valid@2", "source_element_format@2", "source_element_offset@2", "component_0_control@2",
       "component_1_control@2", "component_2_control@2", "component_3_control@2", "destination_element_offset@2"},
      {"valid@3", "source_element_format@3", "source_element_offset@3", "component_0_control@3",
       "component_1_control@3", "component_2_control@3", "component_3_control@3", "destination_element_offset@3"},
  }};
  std::vector<FieldValue> all;
  for (uint64_t i = 0; i < 4; ++i) {
    const uint64_t control = code(i == 0 ? Source::STORE_0 : Source::STORE_SRC);
    const std::array<uint64_t, 8> each{1,
                                       code(hw::SurfaceFormat::R32G32B32A32_FLOAT),
                                       i == 3 ? uint64_t{16} : 0,
                                       control,
                                       control,
                                       control,
                                       control,
                                       i * 4};
    for (size_t f = 0; f < each.size(); ++f) all.push_back({"3DSTATE_VERTEX_ELEMENTS", kNames[i][f], each[f]});
  }
  return all;
}

// A structure of the scene at its place in memory.
struct Placed {
  const spec::StructDesc* desc;
  uint64_t at;
};

inline std::vector<Placed> placed(const FieldMaker& maker) {
  struct Row {
    std::string_view name;
    uint64_t at;
    unsigned count = 1;
    unsigned stride_B = 64;
  };
  static constexpr std::array<Row, 17> kRows{{{"RENDER_SURFACE_STATE", kSurfaces, 8},
                                              {"SAMPLER_STATE", kSamplers, 4, 16},
                                              {"BLEND_STATE", kBlend},
                                              {"COLOR_CALC_STATE", kColorCalc},
                                              {"DEPTH_STENCIL_STATE", kDepthStencil},
                                              {"CC_VIEWPORT", kDepthRange},
                                              {"SF_VIEWPORT", kViewport},
                                              {"SF_CLIP_VIEWPORT", kViewport},
                                              {"CLIP_VIEWPORT", kGuardBand},
                                              {"SCISSOR_RECT", kScissor},
                                              {"VS_STATE", kUnits},
                                              {"GS_STATE", kUnits + 0x40},
                                              {"CLIP_STATE", kUnits + 0x80},
                                              {"SF_STATE", kUnits + 0xc0},
                                              {"WM_STATE", kUnits + 0x100},
                                              {"BLEND_STATE_ENTRY", kBlend + 4},
                                              {"BLEND_STATE_ENTRY", kBlend}}};
  std::vector<Placed> all;
  bool blend_has_head = false;
  for (const Row& row : kRows) {
    const spec::StructDesc* desc = spec::find_struct(row.name);
    if (desc == nullptr || !maker.has(*desc)) continue;
    if (row.name == "BLEND_STATE") blend_has_head = true;
    if (row.name == "BLEND_STATE_ENTRY" && (row.at != kBlend) != blend_has_head) continue;
    for (unsigned i = 0; i < row.count; ++i) all.push_back({desc, row.at + uint64_t{i} * row.stride_B});
  }
  return all;
}

// Builds the scene of a generation: its memory, its commands in order, and what inputs may change.
class Scene {
 public:
  explicit Scene(const Generation& generation) : maker_(generation.id(), addresses()), memory_(kBytes) {
    fill_memory();
    structures_ = placed(maker_);
    place_structures();
    place_kernels();
    make_commands(generation);
  }

  const FieldMaker& maker() const { return maker_; }
  std::span<const std::byte> memory() const { return memory_; }
  const pipe3d::Settings& settings() const { return settings_; }
  const std::vector<Placed>& structures() const { return structures_; }
  const std::vector<const spec::CommandDesc*>& commands() const { return commands_; }
  // The last instruction of a pixel kernel: a write to the first target.
  const std::vector<std::byte>& write_target() const { return write_target_; }
  // The last words of a command of the scene. Empty: the scene leaves it out.
  std::vector<uint32_t> words(const spec::CommandDesc& desc) const {
    const auto found = words_.find(&desc);
    return found == words_.end() ? std::vector<uint32_t>{} : found->second;
  }

 private:
  template <class T>
  void put(uint64_t at, T value) {
    std::memcpy(memory_.data() + at, &value, sizeof value);
  }
  void put_code(uint64_t at, const std::vector<std::byte>& code) {
    std::copy(code.begin(), code.end(), memory_.begin() + static_cast<ptrdiff_t>(at));
  }

  void fill_memory() {
    // Textures, the target and buffers hold a pattern of bytes and small floats.
    uint32_t seed = 1;
    for (uint64_t at = kTexture; at < kDepth; at += 4) put(at, seed = seed * 1664525 + 1013904223);
    for (uint64_t at = kConstants; at < kPixelKernel; at += 4) put(at, static_cast<float>(at / 4 % 64) / 8);
    for (uint64_t at = kBuffer; at < kBuffer + 0x1000; at += 4) put(at, static_cast<uint32_t>(at / 4 % 16));
    // Triangles of several sizes, in pixels.
    for (uint32_t i = 0; i < kVertexCount; ++i) {
      const uint64_t at = kVertices + uint64_t{i} * kVertex_B;
      seed = seed * 1664525 + 1013904223;
      const float x = static_cast<float>(i % 3 == 1 ? 60 - i : i * 2);
      const float y = static_cast<float>(i % 3 == 2 ? 60 - i : i + (seed >> 28));
      const std::array<float, 8> vertex{x, y, 0.25f + static_cast<float>(i) / 64, 1, 0.5f, 0.25f, 1, 1};
      for (size_t c = 0; c < vertex.size(); ++c) put(at + c * 4, vertex[c]);
      put(kIndices + uint64_t{i} * 2, static_cast<uint16_t>(kVertexCount - 1 - i));
    }
  }

  void place_structures() {
    for (uint64_t i = 0; i < 8; ++i) put(kTable + i * 4, static_cast<uint32_t>(kSurfaces + i * 64));
    for (const Placed& each : structures_) {
      std::vector<uint32_t> words = maker_.structure(*each.desc);
      maker_.set(*each.desc, words, values());
      if (each.desc->name == "RENDER_SURFACE_STATE") {
        // Target, texture, two buffers of bytes, and again.
        const uint64_t which = (each.at - kSurfaces) / 64 % 4;
        const uint64_t base = which == 0 ? kTarget : which == 1 ? kTexture : kBuffer + (which - 2) * 0x800;
        std::vector<FieldValue> own{{each.desc->name, "surface_base_address", base}};
        if (which >= 2) {
          own.push_back({each.desc->name, "surface_type", code(hw::SurfaceType::SURFTYPE_BUFFER)});
          own.push_back({each.desc->name, "surface_format", code(hw::SurfaceFormat::RAW)});
          own.push_back({each.desc->name, "width", 0x7f});
          own.push_back({each.desc->name, "height", 0x1f});
          own.push_back({each.desc->name, "surface_pitch", 0});
        }
        maker_.set(*each.desc, words, own);
      }
      for (size_t i = 0; i < words.size(); ++i) put(each.at + i * 4, words[i]);
    }
  }

  void place_kernels() {
    KernelMaker kernels(maker_.gen());
    write_target_ = kernels.first_of({"send.rc (8|M0) null r120 null 0x0 0x08031400 {EOT}",
                                      "send.rc (8|M0) null r120 0x0 0x08031400 {EOT}",
                                      "(W) mov (8|M0) m1.0<1>:ud r0.0<8;8,1>:ud\n(W) mov (8|M0) m2.0<1>:ud "
                                      "r1.0<8;8,1>:ud\nsend.rc (8|M0) null m1 0x0 0x0c0b1400 {EOT}",
                                      "send.dpwr (8|M0) null:ud m1 r0.0<8;8,1>:ud 0x0 0x0c084c00 {EOT}"});
    put_code(kPixelKernel, write_target_);
    const std::vector<std::byte> entry = kernels.first_of(
        {"send.urb (8|M0) null r1 null 0x0 0x0a080007 {EOT}", "send.urb (8|M0) null r1 0x0 0x0a080007 {EOT}",
         "send.urb (8|M0) null m1 0x0 0x0a08c400 {EOT}",
         "send.urb (8|M0) null:ud m1 r0.0<8;8,1>:ud 0x0 0x0a08c400 {EOT}"});
    for (const uint64_t at : {kVertexKernel, kGeometryKernel, kSetupKernel}) put_code(at, entry);
  }

  void make_commands(const Generation& generation) {
    for (const spec::CommandDesc* desc : spec::commands()) {
      if (!maker_.has(*desc)) continue;
      std::vector<uint32_t> words = maker_.command(*desc, desc->name == "3DSTATE_VERTEX_ELEMENTS" ? 9 : 0);
      pipe3d::Settings probe;
      if (!probe.change(generation, *desc, words)) continue;
      commands_.push_back(desc);
      const auto of_scene = [desc](const FieldValue& value) { return value.item == desc->name; };
      const auto elements = element_values();
      if (std::none_of(values().begin(), values().end(), of_scene) &&
          std::none_of(elements.begin(), elements.end(), of_scene)) {
        continue;
      }
      maker_.set(*desc, words, values());
      maker_.set(*desc, words, elements);
      settings_.change(generation, *desc, words);
      words_[desc] = words;
    }
  }

  FieldMaker maker_;
  std::vector<std::byte> memory_;
  std::vector<Placed> structures_;
  std::vector<const spec::CommandDesc*> commands_;
  std::map<const spec::CommandDesc*, std::vector<uint32_t>> words_;
  pipe3d::Settings settings_;
  std::vector<std::byte> write_target_;
};

}  // namespace halogen::fuzz::scene
