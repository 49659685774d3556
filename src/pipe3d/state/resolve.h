// Settings to a PipelineState: commands of the context, and what they point to in memory. One file for each way in
// which generations hold their state; what they share is in resolve_parts.h.
#pragma once

#include <array>
#include <cstdint>

#include "gen/generation.h"
#include "memory/address_space.h"
#include "pipe3d/state/pipeline_state.h"
#include "pipe3d/state/settings.h"
#include "spec/unread.h"

namespace halogen::pipe3d {

struct ResolveInput {
  const Generation* generation = nullptr;
  const Settings* settings = nullptr;
  message::StateBases bases;
  memory::AddressSpace* space = nullptr;
  std::array<uint32_t, 4> stream_offsets{};  // where the next vertex goes: in bytes; on Gen6 in vertices
  message::BindingTables tables;
  spec::UnreadFields* unread = nullptr;  // collects set fields that the model does not read
};

// False: memory refused to give a part of the state.
bool resolve(const ResolveInput& input, PipelineState& state);

}  // namespace halogen::pipe3d
