// Threads of hull shaders, by generation (Mesa).
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

struct HullRules {
  uint8_t instance_shift = 17;  // of the instance's number in r0.2
};

const HullRules& hull_rules(spec::GenId gen);

}  // namespace halogen
