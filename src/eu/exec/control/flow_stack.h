// Flow control of Gen4 and 5: one IP, masks, stacks of masks. A push on a full stack keeps the stack and says so in
// cr0.1; a pop from an empty one keeps the mask.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

Handler stack_handler(Op op);

}  // namespace halogen::eu
