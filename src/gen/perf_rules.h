// What drivers allow and do around the observation unit, where chips differ: the registers that a metric set may write.
// Linux 6.1 i915_perf.c (register lists and masks of values).
#pragma once

#include <cstdint>
#include <span>

#include "spec/descriptors.h"

namespace halogen {

struct RegisterRange {
  uint32_t first;
  uint32_t last;
};

struct PerfRules {
  spec::DeviceMask devices;
  std::span<const RegisterRange> mux;       // the signal network
  std::span<const RegisterRange> boolean;   // triggers and custom events
  std::span<const RegisterRange> flexible;  // events of the execution units
  bool configures_debug;                    // drivers choose which events write reports
  bool hides_idle;                          // drivers replace the context id of a report that no context caused
};

// Null: the device has no unit whose reports go to a buffer.
const PerfRules* perf_rules(spec::DeviceId device);

// Returns the value without the bits that a metric set may not change.
uint32_t allowed_perf_value(uint32_t offset, uint32_t value);

}  // namespace halogen
