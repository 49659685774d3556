// Specialised routines for what kernels do most: plain operands, one type. They leave the same bits as execute_alu;
// what they do not know stays with it.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

void choose_fast(Prepared& prepared, const EuRules& rules);

}  // namespace halogen::eu
