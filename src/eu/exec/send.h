// Messages: the send family, and what waits for other threads (wait, sync).
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

Step execute_send(Frame& frame, const Prepared& prepared);
Step execute_wait(Frame& frame, const Prepared& prepared);
Step execute_sync(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
