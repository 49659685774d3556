// Flow control. With channel IPs (Gen6 on) every channel has its own IP and the lowest IP of the deepest call runs
// first: structured code meets again where the hardware's own order makes it meet. With mask stacks (Gen4 and 5) all
// channels share one IP and stacks of masks say which of them run.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

// Handlers of all flow instructions, by generation's model. Null: not a flow instruction.
Handler flow_handler(Op op, FlowModel model);

// Active channels go on at `ip`; then those that run next are chosen.
void go_on_at(Thread& thread, uint32_t ip);

Step illegal_instruction(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
