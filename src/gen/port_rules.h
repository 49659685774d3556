// VGA registers that software may access as I/O ports only, by generation (G45 PRM vol. 1b 5.2, seed 003).
#pragma once

#include "spec/descriptors.h"

namespace halogen {

struct PortRules {
  spec::GenMask gens;
  bool graphics_6_and_misc;  // GR06 and MSR
};

const PortRules& port_rules(spec::GenId gen);

}  // namespace halogen
