// Prints lowered code as text, for debugging and for tests.
//
//   add.f grf[1280 +4]:f <- grf[320 +4]:f, -grf[448]:f                8 lanes of floats, the second source is a scalar
//   (f0.0) copy.ud grf[64 +4]:ud <- grf{...}:ud  sat  flag f0.0 greater  acc d
//
// Numbers in brackets are bytes: the offset of lane 0 in the file, then the stride.
#pragma once

#include <string>

#include "eu/ir/blocks.h"

namespace halogen::eu::ir {

std::string print(const Lowered& lowered);
std::string print(const BlockList& list);

}  // namespace halogen::eu::ir
