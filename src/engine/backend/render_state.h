// State that both pipelines of a render engine share: the selected pipeline and the base addresses. It belongs to the
// context and is saved with it, as the commands that set it. The pool of binding tables is set by a command of the 3D
// pipeline: see binding_tables.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "message/environment.h"
#include "spec/descriptors.h"
#include "spec/item_ids.h"

namespace halogen::engine {

struct RenderState {
  uint8_t pipeline = 0;          // PIPELINE_SELECT
  bool pipeline_masked = false;  // a PIPELINE_SELECT had mask bits
  bool has_bases = false;        // STATE_BASE_ADDRESS has set a base
  message::StateBases bases;

  // Applies a command. True: the command sets part of this state.
  bool change(spec::GenId gen, spec::CommandId command, std::span<const uint32_t> dwords);
  // Appends commands that restore the state.
  void append_commands(spec::GenId gen, std::vector<uint32_t>& out) const;

  bool operator==(const RenderState&) const = default;
};

}  // namespace halogen::engine
