// How statistics registers count, by generation.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

struct CountRules {
  spec::GenMask gens;
  // Step of PS_INVOCATION_COUNT for a pixel; drivers divide by it (WaDividePSInvocationCountBy4).
  uint8_t pixel_step;
};

const CountRules& count_rules(spec::GenId gen);

}  // namespace halogen
