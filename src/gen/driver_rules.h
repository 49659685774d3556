// The differences between generations when a driver starts, and when it recovers from a hang. Facts that only Linux
// decides are in `interface` of spec/devices.toml.
#pragma once

#include "spec/descriptors.h"

namespace halogen {

struct DriverRules {
  spec::GenMask gens;
  bool ggtt_enable_bit;           // PGTBL_CTL enables the global table; else it is always enabled
  bool reset_covers_all_engines;  // else each engine has a reset of its own
};

const DriverRules& driver_rules(spec::GenId gen);

}  // namespace halogen
