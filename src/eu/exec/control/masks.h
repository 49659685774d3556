// The enabled lanes of an instruction: dispatch and flow masks, the flag register, predicates.
#pragma once

#include <cstdint>

#include "eu/exec/prepared.h"

namespace halogen::eu {

// Returns the channels of the thread that flow control enables.
inline uint32_t running_channels(const Thread& thread, const EuRules& rules) {
  if (rules.flow == FlowModel::channel_ip) {
    return thread.active;
  }
  const MaskStacks& masks = thread.masks;
  return masks.active & masks.if_mask & masks.loop_mask & masks.continue_mask & thread.dispatch_mask;
}

// Returns the lanes that flow control enables, whatever their predicate. Bit i: lane i.
inline uint32_t enabled_lanes(const Frame& frame, const ir::MaskRule& mask) {
  return mask.all_channels ? mask.lanes
                           : (running_channels(frame.thread, frame.rules) >> mask.first_channel) & mask.lanes;
}

// Return the lanes whose predicate holds: all lanes if there is no predicate. predicated_lanes() requires a predicate.
uint32_t predicated_lanes(const Thread& thread, const ir::MaskRule& mask);
inline uint32_t predicate_lanes(const Thread& thread, const ir::MaskRule& mask) {
  return mask.predicate == Predicate::none ? mask.lanes : predicated_lanes(thread, mask);
}

// Writes the flag bits of the lanes in `lanes` from `values`.
void write_flag(Thread& thread, const ir::Lowered& lowered, uint32_t lanes, uint32_t values);

}  // namespace halogen::eu
