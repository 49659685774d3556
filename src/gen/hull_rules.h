// Threads of hull shaders, by generation (Mesa). Gen4 to Gen6 have no hull shaders and no row.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

struct HullRules {
  spec::GenMask gens;
  uint8_t instance_shift;  // of the instance's number in r0.2
};

const HullRules& hull_rules(spec::GenId gen);

}  // namespace halogen
