// The steps of IEEE division and square root: invm, rsqtm and madm. Between steps a value is wider than its register:
// what lies below the register's mantissa stands in an mme register.
#pragma once

#include "eu/exec/general/alu.h"

namespace halogen::eu {

Result macro_lane(const Frame& frame, const Prepared& prepared, const SourceSet& sources, unsigned lane);

}  // namespace halogen::eu
