// Checks lowered code. An executor may rely on what is checked here; a lowering that breaks it is our own bug.
#pragma once

#include <string>

#include "eu/ir/blocks.h"

namespace halogen::eu::ir {

// Return what is wrong, or an empty string.
std::string verify(const Lowered& lowered);
std::string verify(const Program& program);

}  // namespace halogen::eu::ir
