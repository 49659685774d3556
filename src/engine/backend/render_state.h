// State that both pipelines of a render engine share: the selected pipeline and the base addresses. It belongs to the
// context and is saved with it, as the commands that set it. The pool of binding tables is one of the 3D pipeline's
// commands: see binding_tables.h.
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
  bool pipeline_masked = false;  // one of its commands had mask bits
  bool has_bases = false;        // STATE_BASE_ADDRESS has set one
  message::StateBases bases;

  // True: the command sets some of this state, and it is done.
  bool change(spec::GenId gen, spec::CommandId command, std::span<const uint32_t> dwords);
  // Appends commands that bring the state back.
  void append_commands(spec::GenId gen, std::vector<uint32_t>& out) const;

  bool operator==(const RenderState&) const = default;
};

}  // namespace halogen::engine
