// The steps of IEEE division and square root: invm, rsqtm and madm. Between steps a value is wider than its register:
// an mme register holds the bits below the register's mantissa.
#pragma once

#include "eu/exec/general/alu.h"

namespace halogen::eu {

Result macro_lane(const Frame& frame, const Prepared& prepared, const SourceSet& sources, unsigned lane);

}  // namespace halogen::eu
