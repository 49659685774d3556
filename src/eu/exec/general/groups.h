// Operations whose lanes look at more than their own elements: dot products, planes, sums of differences, moves by
// address.
#pragma once

#include "eu/exec/general/alu.h"

namespace halogen::eu {

Result group_lane(const Frame& frame, const Prepared& prepared, const SourceSet& sources, unsigned lane);
Result indexed_copy_lane(const Frame& frame, const Prepared& prepared, unsigned lane);

}  // namespace halogen::eu
