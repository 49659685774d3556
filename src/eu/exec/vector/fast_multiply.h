// The two steps of a 32 by 32 bit multiplication, which Gen11 and later write for every product of dwords: MUL to the
// accumulator, MACH without writing it. They leave the same bits as execute_alu.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

void choose_multiply(Prepared& prepared, const EuRules& rules);

}  // namespace halogen::eu
