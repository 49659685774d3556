// Resolves Settings to a PipelineState: commands of the context and the structures that they point to. There is one
// file per form in which generations hold their state; resolve_parts.h has the common code.
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
  std::array<uint32_t, 4> stream_offsets{};  // position of the next vertex, in bytes, or in vertices on Gen6
  message::BindingTables tables;
  spec::UnreadFields* unread = nullptr;  // collects fields that are set and that the model does not read
};

// Resolves the state. False: a fault stopped a read of it.
bool resolve(const ResolveInput& input, PipelineState& state);

}  // namespace halogen::pipe3d
