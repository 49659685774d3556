// Operations whose lanes read more than their own elements: dot products, planes, sums of absolute differences, indexed
// moves.
#pragma once

#include "eu/exec/general/alu.h"

namespace halogen::eu {

Result group_lane(const Frame& frame, const Prepared& prepared, const SourceSet& sources, unsigned lane);
Result indexed_copy_lane(const Frame& frame, const Prepared& prepared, unsigned lane);

}  // namespace halogen::eu
