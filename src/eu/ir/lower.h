// From an instruction to its lowered form: the only reader of EuRules beside flow control.
#pragma once

#include "eu/ir/lowered.h"
#include "gen/eu_rules.h"

namespace halogen::eu::ir {

// Instructions of flow control, messages and waits have Operation::none: their masks and predicates are lowered, their
// effects belong to the block's end (blocks.h).
Lowered lower(const Instruction& in, const EuRules& rules);

// Returns the type in which an instruction computes.
Type execution_type(const Instruction& in);

}  // namespace halogen::eu::ir
