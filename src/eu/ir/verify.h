// Checks the invariants of lowered code on which executors rely. A failed check is a bug in the lowering, not in the
// guest's code.
#pragma once

#include <string>

#include "eu/ir/blocks.h"

namespace halogen::eu::ir {

// Return a description of the first broken invariant, or an empty string.
std::string verify(const Lowered& lowered);
std::string verify(const BlockList& list);

}  // namespace halogen::eu::ir
