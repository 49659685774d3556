// The fidelity class of an instruction and its reason. Every operation, type and operand that can be executed has a
// class.
#pragma once

#include <string_view>

#include "base/fidelity.h"
#include "eu/exec/prepared.h"

namespace halogen::eu {

struct InstructionClass {
  FidelityClass fidelity = FidelityClass::exact;
  std::string_view reason;  // empty only if exact
};

InstructionClass class_of(const Prepared& prepared);

}  // namespace halogen::eu
