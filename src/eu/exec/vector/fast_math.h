// MATH of floats in plain registers. It leaves the same bits as execute_alu; what is unusual (NaN, other rounding) goes
// there.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

void choose_math(Prepared& prepared, const EuRules& rules);

}  // namespace halogen::eu
