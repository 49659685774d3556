// How well an instruction is modelled: its class in the fidelity report, and why. Every operation, type and operand
// that can be executed has one.
#pragma once

#include <string_view>

#include "base/fidelity.h"
#include "eu/exec/prepared.h"

namespace halogen::eu {

struct InstructionClass {
  FidelityClass fidelity = FidelityClass::exact;
  std::string_view reason;  // never empty unless exact
};

InstructionClass class_of(const Prepared& prepared);

}  // namespace halogen::eu
