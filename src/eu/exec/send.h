// Messages: the send family, and what waits for other threads (wait, sync).
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

// Gen4 and 5: src0, if there is one, goes to the first message register, as a move would put it there. One register,
// and the next with it only when the send is compressed: Mesa's sends of sixteen channels have their parameters behind
// a header of floats. Returns that move.
Instruction implied_move_of(const Instruction& send);

Step execute_send(Frame& frame, const Prepared& prepared);
Step execute_wait(Frame& frame, const Prepared& prepared);
Step execute_sync(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
