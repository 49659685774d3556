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
inline uint32_t enabled_lanes(const Frame& frame, const Prepared& prepared) {
  return prepared.in.no_mask
             ? prepared.lanes
             : (running_channels(frame.thread, frame.rules) >> (prepared.in.first_channel & 31)) & prepared.lanes;
}

// Bit i: the predicate of lane i holds. All of them without predication.
uint32_t predicate_lanes(const Frame& frame, const Prepared& prepared);

// The bits of lanes in `mask` become those of `values`.
void write_flag(Frame& frame, const Prepared& prepared, uint32_t mask, uint32_t values);

}  // namespace halogen::eu
