// Command streams of an engine: any commands field by field, whole draws and dispatches of the scene (draw_scene.h),
// whose memory must be at address 0.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzz/draw_scene.h"
#include "fuzz/field_maker.h"
#include "fuzz/input.h"

namespace halogen::fuzz {

class StreamMaker {
 public:
  using Stream = std::vector<uint32_t>;

  explicit StreamMaker(const Generation& generation) : scene_(generation), maker_(generation.id(), scene::addresses()) {
    for (const spec::CommandDesc* desc : spec::commands()) {
      if (maker_.has(*desc)) all_.push_back(desc);
    }
  }
  std::span<const std::byte> memory() const { return scene_.memory(); }
  const spec::CommandDesc& any(Input& in) const { return *all_[in.take<uint16_t>() % all_.size()]; }

  // Appends a command with some of its fields changed.
  void append_any(Input& in, Stream& out) const {
    const spec::CommandDesc& desc = any(in);
    Stream words = maker_.command(desc, in.take<uint8_t>() % 24u);
    maker_.change(in, desc, words, 8);
    out.insert(out.end(), words.begin(), words.end());
  }

  // Returns the state of a draw and the draw, with changed fields in some commands.
  Stream draw(Input& in) const {
    Stream out;
    append(in, out, "PIPELINE_SELECT", {{"PIPELINE_SELECT", "mask_bits", 3}});
    append(in, out, "STATE_BASE_ADDRESS", bases());
    for (const spec::CommandDesc* desc : scene_.commands()) {
      Stream words = scene_.words(*desc);
      if (words.empty()) continue;
      maybe_change(in, *desc, words);
      out.insert(out.end(), words.begin(), words.end());
    }
    const std::string_view name = "3DPRIMITIVE";
    append(in, out, name,
           {{name, "primitive_topology_type", scene::code(hw::PrimitiveTopology::TRILIST)},
            {name, "vertex_count_per_instance", scene::kVertexCount},
            {name, "instance_count", 1}});
    return out;
  }

  // Returns the state of a dispatch and the dispatch. The kernel is the pixel kernel of the scene, whatever it does.
  Stream dispatch(Input& in) const {
    constexpr uint64_t kDescriptors = 0x3000;
    Stream out;
    append(in, out, "PIPELINE_SELECT",
           {{"PIPELINE_SELECT", "mask_bits", 3}, {"PIPELINE_SELECT", "pipeline_selection", 2}});
    append(in, out, "STATE_BASE_ADDRESS", bases());
    append(in, out, "MEDIA_VFE_STATE",
           {{"MEDIA_VFE_STATE", "maximum_number_of_threads", 31}, {"MEDIA_VFE_STATE", "number_of_urb_entries", 2}});
    append(in, out, "MEDIA_INTERFACE_DESCRIPTOR_LOAD",
           {{"MEDIA_INTERFACE_DESCRIPTOR_LOAD", "interface_descriptor_total_length", 64},
            {"MEDIA_INTERFACE_DESCRIPTOR_LOAD", "interface_descriptor_data_start_address", kDescriptors}});
    append(in, out, "GPGPU_WALKER",
           {{"GPGPU_WALKER", "thread_group_id_x_dimension", 4},
            {"GPGPU_WALKER", "thread_group_id_y_dimension", 1},
            {"GPGPU_WALKER", "thread_group_id_z_dimension", 1},
            {"GPGPU_WALKER", "right_execution_mask", 0xff},
            {"GPGPU_WALKER", "bottom_execution_mask", 0xff}});
    append(in, out, "MEDIA_OBJECT", {});
    return out;
  }

 private:
  std::vector<FieldValue> bases() const {
    std::vector<FieldValue> all;
    const std::string_view name = "STATE_BASE_ADDRESS";
    for (const std::string_view field :
         {"general_state_base_address_modify_enable", "surface_state_base_address_modify_enable",
          "dynamic_state_base_address_modify_enable", "indirect_object_base_address_modify_enable",
          "instruction_base_address_modify_enable", "general_state_buffer_size_modify_enable",
          "dynamic_state_buffer_size_modify_enable", "indirect_object_buffer_size_modify_enable",
          "instruction_buffer_size_modify_enable", "bindless_surface_state_base_address_modify_enable",
          "general_state_access_upper_bound_modify_enable", "instruction_access_upper_bound_modify_enable"}) {
      all.push_back({name, field, 1});
    }
    for (const std::string_view field : {"general_state_buffer_size", "dynamic_state_buffer_size",
                                         "indirect_object_buffer_size", "instruction_buffer_size"}) {
      all.push_back({name, field, 0xfffff});
    }
    return all;
  }
  // Appends a command with these field values. A command that the generation lacks is left out.
  void append(Input& in, Stream& out, std::string_view name, const std::vector<FieldValue>& values) const {
    const spec::CommandDesc* desc = spec::find_command(name);
    if (desc == nullptr || !maker_.has(*desc)) return;
    Stream words = maker_.command(*desc);
    maker_.set(*desc, words, values);
    maybe_change(in, *desc, words);
    out.insert(out.end(), words.begin(), words.end());
  }
  // Changes fields of one command in sixteen.
  void maybe_change(Input& in, const spec::CommandDesc& desc, Stream& words) const {
    if (in.empty() || in.take<uint8_t>() % 16 != 15) return;
    maker_.change(in, desc, words);
  }

  scene::Scene scene_;
  FieldMaker maker_;
  std::vector<const spec::CommandDesc*> all_;
};

}  // namespace halogen::fuzz
