// Registers by the names of spec/payloads: r0 as threads start with it, and the header of the message that is sent
// next.
#pragma once

#include <optional>

#include "debugger/view.h"
#include "eu/isa/instruction.h"

namespace halogen::debugger {

// Returns the fields of r0 and of the header that `next` sends. `next`: the instruction at ip, if it is known.
Answer show_payload(const compute::Moment& moment, const std::optional<eu::Instruction>& next);

}  // namespace halogen::debugger
