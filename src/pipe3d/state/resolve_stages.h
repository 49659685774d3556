// Gen8 and later: common parts of the shader stage commands.
#pragma once

#include "pipe3d/state/resolve_parts.h"
#include "spec/item_ids.h"

namespace halogen::pipe3d {

// The commands that name a stage's tables and constants.
struct StageCommands {
  spec::CommandId binding;
  spec::CommandId sampler;
  spec::CommandId constants;
  uint32_t index;  // index in CONSTANT_ALL
};
inline constexpr StageCommands kVertex{spec::CommandId::_3DSTATE_BINDING_TABLE_POINTERS_VS,
                                       spec::CommandId::_3DSTATE_SAMPLER_STATE_POINTERS_VS,
                                       spec::CommandId::_3DSTATE_CONSTANT_VS, 0};
inline constexpr StageCommands kHull{spec::CommandId::_3DSTATE_BINDING_TABLE_POINTERS_HS,
                                     spec::CommandId::_3DSTATE_SAMPLER_STATE_POINTERS_HS,
                                     spec::CommandId::_3DSTATE_CONSTANT_HS, 1};
inline constexpr StageCommands kDomain{spec::CommandId::_3DSTATE_BINDING_TABLE_POINTERS_DS,
                                       spec::CommandId::_3DSTATE_SAMPLER_STATE_POINTERS_DS,
                                       spec::CommandId::_3DSTATE_CONSTANT_DS, 2};
inline constexpr StageCommands kGeometry{spec::CommandId::_3DSTATE_BINDING_TABLE_POINTERS_GS,
                                         spec::CommandId::_3DSTATE_SAMPLER_STATE_POINTERS_GS,
                                         spec::CommandId::_3DSTATE_CONSTANT_GS, 3};
inline constexpr StageCommands kPixel{spec::CommandId::_3DSTATE_BINDING_TABLE_POINTERS_PS,
                                      spec::CommandId::_3DSTATE_SAMPLER_STATE_POINTERS_PS,
                                      spec::CommandId::_3DSTATE_CONSTANT_PS, 4};

// Sets the size of a stage's URB entries from whichever of its two commands was sent last (Settings keeps that one).
template <class Whole, class BySlice>
void set_entry(const Resolver& from, uint32_t& slots) {
  constexpr uint32_t kUnitSlots = 4;  // 64 bytes
  if (from.settings().has(Whole::kId)) {
    slots = (from.get<Whole>().urb_entry_allocation_size + 1u) * kUnitSlots;
  } else if (from.settings().has(BySlice::kId)) {
    slots = (from.get<BySlice>().urb_entry_allocation_size + 1u) * kUnitSlots;
  }
}

void set_tables(Resolver& from, const StageCommands& stage, Shader& shader);
void set_constants(Resolver& from, const StageCommands& stage, Shader& shader);

void resolve_tessellation(Resolver& from, Tessellation& stage);
void resolve_geometry(Resolver& from, Geometry& stage);
void resolve_stream_output(Resolver& from, StreamOutput& stage);

}  // namespace halogen::pipe3d
