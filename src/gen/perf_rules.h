// Rules of drivers for the observation unit that differ between chips: the registers that a metric set may write.
// Linux 6.1 i915_perf.c. The lists of registers are in spec/tables/perf_registers.toml.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/descriptors.h"

namespace halogen {

struct PerfRules {
  spec::DeviceMask devices;
  bool exists;                    // the device has a unit whose reports go to a buffer
  std::string_view mux{};         // range table: the signal network
  std::string_view boolean{};     // range table: triggers and custom events
  bool configures_debug = false;  // drivers choose which events write reports
  bool hides_idle = false;        // drivers replace the context id of a report that no context caused
};

const PerfRules& perf_rules(spec::DeviceId device);

// The registers of the events of the execution units, in the order in which drivers write them to a context.
std::span<const spec::RegisterDesc* const> flexible_registers();

// Returns whether a range table of PerfRules has the register at this offset.
bool is_perf_register(std::string_view table, uint32_t offset);

// Returns the value without the bits that a metric set may not change.
uint32_t allowed_perf_value(uint32_t offset, uint32_t value);

}  // namespace halogen
