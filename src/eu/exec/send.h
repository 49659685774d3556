// Executes messages (the send family) and waits for other threads (wait, sync).
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

// Returns the move of src0 to the first message register that a send of Gen4 and Gen5 implies. It writes one register,
// and a second one only if the send is compressed: Mesa's sends of sixteen channels have their parameters after a
// header of floats.
Instruction implied_move_of(const Instruction& send);

Step execute_send(Frame& frame, const Prepared& prepared);
Step execute_wait(Frame& frame, const Prepared& prepared);
Step execute_sync(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
