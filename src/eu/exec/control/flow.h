// Flow control. With channel IPs (Gen6 and later) every channel has its own IP. Channels at the lowest IP of the
// deepest call run first, so that channels of structured code join where they join in hardware. With mask stacks (Gen4
// and Gen5) all channels share one IP, and stacks of masks enable them.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

// Returns the handler of a flow instruction. Null: the model has no such instruction.
Handler flow_handler(Op op, FlowModel model);

// Moves the active channels to `ip`, then chooses the channels that run next.
void continue_at(Thread& thread, uint32_t ip);

// Raises the illegal opcode exception, or stops the thread.
Step illegal_instruction(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
