#include "decode/pointers.h"

#include <algorithm>

#include "base/bits.h"
#include "decode/field_list.h"
#include "spec/field_visitor.h"

namespace halogen::decode {
namespace {

constexpr BaseRow kBases[] = {
    {"STATE_BASE_ADDRESS", Base::general, "general_state_base_address", "general_state_base_address_modify_enable", {}},
    {"STATE_BASE_ADDRESS", Base::surface, "surface_state_base_address", "surface_state_base_address_modify_enable", {}},
    {"STATE_BASE_ADDRESS", Base::dynamic, "dynamic_state_base_address", "dynamic_state_base_address_modify_enable", {}},
    {"STATE_BASE_ADDRESS", Base::instruction, "instruction_base_address", "instruction_base_address_modify_enable", {}},
    {"STATE_BASE_ADDRESS",
     Base::indirect_object,
     "indirect_object_base_address",
     "indirect_object_base_address_modify_enable",
     {}},
    {"3DSTATE_BINDING_TABLE_POOL_ALLOC",
     Base::binding_table_pool,
     "binding_table_pool_base_address",
     {},
     "binding_table_pool_enable"},
};

constexpr PointerRow structure(std::string_view owner, std::string_view field, Base base, std::string_view name) {
  return {.owner = owner, .field = field, .base = base, .target = Target::structure, .structure = name};
}

constexpr PointerRow structure_if(std::string_view owner, std::string_view field, std::string_view only_if, Base base,
                                  std::string_view name) {
  PointerRow row = structure(owner, field, base, name);
  row.only_if = only_if;
  row.zero_counts = true;
  return row;
}

constexpr PointerRow samplers(std::string_view owner, std::string_view field, std::string_view count,
                              std::string_view only_if = {}) {
  PointerRow row = structure(owner, field, Base::dynamic, "SAMPLER_STATE");
  row.count = count;
  row.scale = 4;
  row.only_if = only_if;
  return row;
}

constexpr PointerRow binding_table(std::string_view owner, std::string_view field, std::string_view count,
                                   std::string_view only_if = {}) {
  return {.owner = owner,
          .field = field,
          .base = Base::binding_table_pool,
          .target = Target::binding_table,
          .count = count,
          .otherwise = 0,
          .only_if = only_if};
}

constexpr PointerRow kernel(std::string_view owner, std::string_view field, std::string_view only_if) {
  return {.owner = owner,
          .field = field,
          .base = Base::instruction,
          .target = Target::kernel,
          .only_if = only_if,
          .zero_counts = !only_if.empty()};
}

constexpr PointerRow data(std::string_view owner, std::string_view field, Base base, std::string_view count, Unit unit,
                          uint16_t scale = 1) {
  return {.owner = owner,
          .field = field,
          .base = base,
          .target = Target::data,
          .count = count,
          .unit = unit,
          .scale = scale,
          .zero_counts = base != Base::none};
}

constexpr std::string_view kAnyPixelDispatch =
    "dispatch_8_pixel_enable|dispatch_16_pixel_enable|dispatch_32_pixel_enable";

// Sorted by owner.
constexpr PointerRow kPointers[] = {
    binding_table("3DSTATE_BINDING_TABLE_POINTERS", "vs_binding_table_pointer", "3DSTATE_VS.binding_table_entry_count"),
    binding_table("3DSTATE_BINDING_TABLE_POINTERS", "gs_binding_table_pointer", "3DSTATE_GS.binding_table_entry_count"),
    binding_table("3DSTATE_BINDING_TABLE_POINTERS", "clip_binding_table_pointer", {}),
    binding_table("3DSTATE_BINDING_TABLE_POINTERS", "sf_binding_table_pointer", {}),
    binding_table("3DSTATE_BINDING_TABLE_POINTERS", "ps_binding_table_pointer", "3DSTATE_WM.binding_table_entry_count"),
    binding_table("3DSTATE_BINDING_TABLE_POINTERS_DS", "binding_table_pointer", "3DSTATE_DS.binding_table_entry_count"),
    binding_table("3DSTATE_BINDING_TABLE_POINTERS_GS", "binding_table_pointer", "3DSTATE_GS.binding_table_entry_count"),
    binding_table("3DSTATE_BINDING_TABLE_POINTERS_HS", "binding_table_pointer", "3DSTATE_HS.binding_table_entry_count"),
    binding_table("3DSTATE_BINDING_TABLE_POINTERS_PS", "binding_table_pointer", "3DSTATE_PS.binding_table_entry_count"),
    binding_table("3DSTATE_BINDING_TABLE_POINTERS_VS", "binding_table_pointer", "3DSTATE_VS.binding_table_entry_count"),
    structure_if("3DSTATE_BLEND_STATE_POINTERS", "blend_state_pointer", "blend_state_pointer_valid", Base::dynamic,
                 "BLEND_STATE"),
    // The entries of the render targets follow; their number is not stored anywhere.
    {.owner = "3DSTATE_BLEND_STATE_POINTERS",
     .field = "blend_state_pointer",
     .base = Base::dynamic,
     .target = Target::structure,
     .structure = "BLEND_STATE_ENTRY",
     .only_if = "blend_state_pointer_valid",
     .zero_counts = true,
     .skip_bytes = 4},
    structure_if("3DSTATE_CC_STATE_POINTERS", "blend_state_pointer", "blend_state_pointer_valid", Base::dynamic,
                 "BLEND_STATE_ENTRY"),
    structure_if("3DSTATE_CC_STATE_POINTERS", "depth_stencil_state_pointer", "depth_stencil_state_pointer_valid",
                 Base::dynamic, "DEPTH_STENCIL_STATE"),
    structure_if("3DSTATE_CC_STATE_POINTERS", "color_calc_state_pointer", "color_calc_state_pointer_valid",
                 Base::dynamic, "COLOR_CALC_STATE"),
    data("3DSTATE_CONSTANT_ALL_DATA", "pointer_to_constant_buffer", Base::none, "constant_buffer_read_length",
         Unit::bytes, 32),
    data("3DSTATE_CONSTANT_BODY", "buffer_0", Base::dynamic, "read_length_0", Unit::bytes, 32),
    data("3DSTATE_CONSTANT_BODY", "buffer_1", Base::dynamic, "read_length_1", Unit::bytes, 32),
    data("3DSTATE_CONSTANT_BODY", "buffer_2", Base::dynamic, "read_length_2", Unit::bytes, 32),
    data("3DSTATE_CONSTANT_BODY", "buffer_3", Base::dynamic, "read_length_3", Unit::bytes, 32),
    structure("3DSTATE_CPS_POINTERS", "coarse_pixel_shading_state_array_pointer", Base::dynamic, "CPS_STATE"),
    kernel("3DSTATE_DS", "kernel_start_pointer", "enable"),
    kernel("3DSTATE_DS", "dual_patch_kernel_start_pointer", {}),
    kernel("3DSTATE_GS", "kernel_start_pointer", "enable"),
    kernel("3DSTATE_HS", "kernel_start_pointer", "enable"),
    data("3DSTATE_INDEX_BUFFER", "buffer_starting_address", Base::none, "buffer_size", Unit::bytes),
    data("3DSTATE_INDEX_BUFFER", "buffer_starting_address", Base::none, "buffer_ending_address", Unit::last_byte),
    structure("3DSTATE_PIPELINED_POINTERS", "vs_state_pointer", Base::general, "VS_STATE"),
    structure_if("3DSTATE_PIPELINED_POINTERS", "gs_state_pointer", "gs_enable", Base::general, "GS_STATE"),
    structure_if("3DSTATE_PIPELINED_POINTERS", "clip_state_pointer", "clip_enable", Base::general, "CLIP_STATE"),
    structure("3DSTATE_PIPELINED_POINTERS", "sf_state_pointer", Base::general, "SF_STATE"),
    structure("3DSTATE_PIPELINED_POINTERS", "wm_state_pointer", Base::general, "WM_STATE"),
    structure("3DSTATE_PIPELINED_POINTERS", "color_calc_state_pointer", Base::general, "COLOR_CALC_STATE"),
    kernel("3DSTATE_PS", "kernel_start_pointer_0", kAnyPixelDispatch),
    kernel("3DSTATE_PS", "kernel_start_pointer_1", {}),
    kernel("3DSTATE_PS", "kernel_start_pointer_2", {}),
    samplers("3DSTATE_SAMPLER_STATE_POINTERS", "vs_sampler_state_pointer", "3DSTATE_VS.sampler_count",
             "vs_sampler_state_change"),
    samplers("3DSTATE_SAMPLER_STATE_POINTERS", "gs_sampler_state_pointer", "3DSTATE_GS.sampler_count",
             "gs_sampler_state_change"),
    samplers("3DSTATE_SAMPLER_STATE_POINTERS", "ps_sampler_state_pointer", "3DSTATE_WM.sampler_count",
             "ps_sampler_state_change"),
    samplers("3DSTATE_SAMPLER_STATE_POINTERS_DS", "sampler_state_pointer", "3DSTATE_DS.sampler_count"),
    samplers("3DSTATE_SAMPLER_STATE_POINTERS_GS", "sampler_state_pointer", "3DSTATE_GS.sampler_count"),
    samplers("3DSTATE_SAMPLER_STATE_POINTERS_HS", "sampler_state_pointer", "3DSTATE_HS.sampler_count"),
    samplers("3DSTATE_SAMPLER_STATE_POINTERS_PS", "sampler_state_pointer", "3DSTATE_PS.sampler_count"),
    samplers("3DSTATE_SAMPLER_STATE_POINTERS_VS", "sampler_state_pointer", "3DSTATE_VS.sampler_count"),
    structure("3DSTATE_SCISSOR_STATE_POINTERS", "scissor_rect_pointer", Base::dynamic, "SCISSOR_RECT"),
    structure_if("3DSTATE_SLICE_TABLE_STATE_POINTERS", "slice_hash_table_state_pointer",
                 "slice_hash_state_pointer_valid", Base::dynamic, "SLICE_HASH_TABLE"),
    structure_if("3DSTATE_VIEWPORT_STATE_POINTERS", "clip_viewport_pointer", "clip_viewport_state_change",
                 Base::dynamic, "CLIP_VIEWPORT"),
    structure_if("3DSTATE_VIEWPORT_STATE_POINTERS", "sf_viewport_pointer", "sf_viewport_state_change", Base::dynamic,
                 "SF_VIEWPORT"),
    structure_if("3DSTATE_VIEWPORT_STATE_POINTERS", "cc_viewport_pointer", "cc_viewport_state_change", Base::dynamic,
                 "CC_VIEWPORT"),
    structure("3DSTATE_VIEWPORT_STATE_POINTERS_CC", "cc_viewport_pointer", Base::dynamic, "CC_VIEWPORT"),
    structure("3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP", "sf_clip_viewport_pointer", Base::dynamic, "SF_CLIP_VIEWPORT"),
    kernel("3DSTATE_VS", "kernel_start_pointer", "enable"),
    kernel("3DSTATE_WM", "kernel_start_pointer_0", kAnyPixelDispatch),
    kernel("3DSTATE_WM", "kernel_start_pointer_1", {}),
    kernel("3DSTATE_WM", "kernel_start_pointer_2", {}),
    structure("CLIP_STATE", "clipper_viewport_state_pointer", Base::general, "CLIP_VIEWPORT"),
    kernel("CLIP_STATE", "kernel_start_pointer", {}),
    structure("COLOR_CALC_STATE", "cc_viewport_state_pointer", Base::general, "CC_VIEWPORT"),
    {.owner = "CONSTANT_BUFFER",
     .field = "buffer_starting_address",
     .target = Target::data,
     .count = "buffer_length",
     .unit = Unit::bytes_less_one,
     .scale = 64,
     .only_if = "valid"},
    data("GPGPU_WALKER", "indirect_data_start_address", Base::indirect_object, "indirect_data_length", Unit::bytes),
    kernel("GS_STATE", "kernel_start_pointer", {}),
    samplers("GS_STATE", "sampler_state_pointer", "sampler_count"),
    {.owner = "INTERFACE_DESCRIPTOR_DATA",
     .field = "kernel_start_pointer",
     .base = Base::instruction,
     .target = Target::kernel,
     .zero_counts = true},
    samplers("INTERFACE_DESCRIPTOR_DATA", "sampler_state_pointer", "sampler_count"),
    binding_table("INTERFACE_DESCRIPTOR_DATA", "binding_table_pointer", "binding_table_entry_count"),
    data("MEDIA_CURBE_LOAD", "curbe_data_start_address", Base::dynamic, "curbe_total_data_length", Unit::bytes),
    {.owner = "MEDIA_INTERFACE_DESCRIPTOR_LOAD",
     .field = "interface_descriptor_data_start_address",
     .base = Base::dynamic,
     .target = Target::structure,
     .structure = "INTERFACE_DESCRIPTOR_DATA",
     .count = "interface_descriptor_total_length",
     .unit = Unit::bytes,
     .zero_counts = true},
    data("MEDIA_OBJECT", "indirect_data_start_address", Base::indirect_object, "indirect_data_length", Unit::bytes),
    data("MEDIA_OBJECT_GRPID", "indirect_data_start_address", Base::indirect_object, "indirect_data_length",
         Unit::bytes),
    data("MEDIA_OBJECT_WALKER", "indirect_data_start_address", Base::indirect_object, "indirect_data_length",
         Unit::bytes),
    structure("MEDIA_STATE_POINTERS", "vfe_state_pointer", Base::general, "VFE_STATE"),
    structure_if("RENDER_SURFACE_STATE", "clear_value_address", "clear_value_address_enable", Base::none,
                 "CLEAR_COLOR"),
    structure("SAMPLER_STATE", "border_color_pointer", Base::dynamic, "SAMPLER_BORDER_COLOR_STATE"),
    kernel("SF_STATE", "kernel_start_pointer", {}),
    structure("SF_STATE", "setup_viewport_state_offset", Base::general, "SF_VIEWPORT"),
    kernel("STATE_SIP", "system_instruction_pointer", {}),
    data("VERTEX_BUFFER_STATE", "buffer_starting_address", Base::none, "buffer_size", Unit::bytes),
    data("VERTEX_BUFFER_STATE", "buffer_starting_address", Base::none, "end_address", Unit::last_byte),
    data("VERTEX_BUFFER_STATE", "buffer_starting_address", Base::none, "max_index", Unit::bytes, 0),
    structure("VFE_STATE", "interface_descriptor_base_pointer", Base::general, "INTERFACE_DESCRIPTOR_DATA"),
    kernel("VS_STATE", "kernel_start_pointer", {}),
    samplers("VS_STATE", "sampler_state_pointer", "sampler_count"),
    kernel("WM_STATE", "kernel_start_pointer_0", {}),
    samplers("WM_STATE", "sampler_state_pointer", "sampler_count"),
};

static_assert(std::is_sorted(std::begin(kPointers), std::end(kPointers),
                             [](const PointerRow& a, const PointerRow& b) { return a.owner < b.owner; }));

struct ByOwner {
  bool operator()(const PointerRow& row, std::string_view owner) const { return row.owner < owner; }
  bool operator()(std::string_view owner, const PointerRow& row) const { return owner < row.owner; }
};

}  // namespace

std::span<const BaseRow> base_rows() {
  return kBases;
}
std::span<const PointerRow> pointer_rows() {
  return kPointers;
}

std::span<const PointerRow> pointer_rows_of(std::string_view owner) {
  const auto [first, last] = std::equal_range(std::begin(kPointers), std::end(kPointers), owner, ByOwner{});
  return {first, last};
}

void StateBases::load_registers(spec::GenId gen, std::span<const uint32_t> dwords) {
  constexpr unsigned kWideAlignmentShift = 3;  // bits 18:8 take the position of bits 15:5
  const spec::RegisterDesc* mode = spec::find_register("GT_MODE");
  if (mode == nullptr) return;
  const spec::FieldDesc* alignment = spec::find_field(*mode, gen, "binding_table_alignment");
  if (alignment == nullptr) return;
  const uint32_t offset = mode->offset_of_gen[static_cast<size_t>(gen)];
  for (size_t i = 1; i + 1 < dwords.size(); i += 2) {
    const uint32_t mask = dwords[i + 1] >> 16;
    if (dwords[i] != offset || !bit(mask, alignment->first_bit)) continue;
    binding_table_shift_ = bit(dwords[i + 1], alignment->first_bit) ? kWideAlignmentShift : 0;
  }
}

void StateBases::update(const spec::ItemDesc& command, spec::GenId gen, std::span<const uint32_t> dwords) {
  if (command.name == "MI_LOAD_REGISTER_IMM") return load_registers(gen, dwords);
  for (const BaseRow& row : kBases) {
    if (row.command != command.name || spec::find_field(command, gen, row.address) == nullptr) continue;
    if (!row.modify.empty() && value_of(command, gen, dwords, row.modify) == 0) continue;
    auto& base = bases_[static_cast<size_t>(row.base)];
    if (!row.enable.empty() && value_of(command, gen, dwords, row.enable) == 0) {
      base.reset();
    } else {
      base = value_of(command, gen, dwords, row.address);
    }
  }
}

uint64_t StateBases::get(Base base) const {
  if (const auto& found = bases_[static_cast<size_t>(base)]) return *found;
  switch (base) {
    case Base::dynamic:
    case Base::instruction:
      return get(Base::general);
    case Base::binding_table_pool:
      return get(Base::surface);
    case Base::none:
    case Base::general:
    case Base::surface:
    case Base::indirect_object:
      break;
  }
  return 0;
}

}  // namespace halogen::decode
