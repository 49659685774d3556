// The clock of the render engine and the EUs, by device. Virtual time does not depend on it: performance counters count
// it, and frequency registers and files show it.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

struct ClockRules {
  spec::DeviceMask devices;
  // A multiple of 50 MHz and of 16.67 MHz, the units of registers. Below half of the maximum, because drivers compare a
  // frequency that they measure over one tick of TIMESTAMP with the maximum.
  uint32_t render_mhz;
  uint32_t max_mhz;

  constexpr uint64_t render_hz() const { return uint64_t{render_mhz} * 1'000'000; }
};

const ClockRules& clock_rules(spec::DeviceId device);

}  // namespace halogen
