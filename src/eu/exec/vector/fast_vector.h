// Whole vectors of 32-bit lanes by the host's AVX2: moves, sums, products, multiply-adds and planes of F whose operands
// are scalars or lie in a row. They leave the same bits as the routine that would run otherwise, and leave to it what
// they do not know: other rounding modes, alternate floats, a result that is no number.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

// After all others have had their choice.
void choose_vector(Prepared& prepared, const EuRules& rules);

}  // namespace halogen::eu
