// Plans an instruction for arrays of lanes, if it is one of those: see lane_plan.h.
#pragma once

#include "eu/exec/prepared.h"

namespace halogen::eu {

void choose_lanes(Prepared& prepared, const EuRules& rules);
Step run_lanes(Frame& frame, const Prepared& prepared);

}  // namespace halogen::eu
