// Flow control of Gen4 and Gen5: one IP, masks, stacks of masks. A push to a full stack leaves the stack unchanged and
// sets the overflow bit of cr0.1. A pop from an empty stack leaves the mask unchanged.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

Handler stack_handler(Op op);

}  // namespace halogen::eu
