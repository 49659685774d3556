// MAD and MAC of floats with an accumulator among their operands, as compilers write them for Gen11 and later. They
// leave the same bits as execute_alu; what is unusual (NaN, other rounding) goes there.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

void choose_accumulate(Prepared& prepared, const EuRules& rules);

}  // namespace halogen::eu
