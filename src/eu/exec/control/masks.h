// Which lanes of an instruction are enabled: dispatch and flow masks, the flag register, predicates.
#pragma once

#include <cstdint>

#include "eu/exec/prepared.h"

namespace halogen::eu {

// Channels of the thread that flow control lets run now.
inline uint32_t running_channels(const Thread& thread, const EuRules& rules) {
  if (rules.flow == FlowModel::channel_ip) {
    return thread.active;
  }
  const MaskStacks& masks = thread.masks;
  return masks.active & masks.if_mask & masks.loop_mask & masks.continue_mask & thread.dispatch_mask;
}

// Bit i: lane i of the instruction may run, its predicate aside.
inline uint32_t enabled_lanes(const Frame& frame, const ir::MaskRule& mask) {
  return mask.all_channels ? mask.lanes
                           : (running_channels(frame.thread, frame.rules) >> mask.first_channel) & mask.lanes;
}

// Bit i: the predicate of lane i holds. Without predication all of them do.
uint32_t predicated_lanes(const Thread& thread, const ir::MaskRule& mask);
inline uint32_t predicate_lanes(const Thread& thread, const ir::MaskRule& mask) {
  return mask.predicate == Predicate::none ? mask.lanes : predicated_lanes(thread, mask);
}

// The flag bits of lanes in `lanes` become those of `values`.
void write_flag(Thread& thread, const ir::Lowered& lowered, uint32_t lanes, uint32_t values);

}  // namespace halogen::eu
