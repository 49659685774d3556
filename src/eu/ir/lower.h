// Lowers instructions: applies the generation's EuRules to operands, masks and operations.
#pragma once

#include "eu/ir/lowered.h"
#include "gen/eu_rules.h"

namespace halogen::eu::ir {

// Returns the lowered form of an instruction. Flow control, messages and waits have Operation::none: their masks and
// predicates are lowered, and the terminator of a block (blocks.h) holds their effects.
Lowered lower(const Instruction& in, const EuRules& rules);

// Returns the type in which an instruction computes.
Type execution_type(const Instruction& in);

}  // namespace halogen::eu::ir
