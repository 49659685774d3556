// The events of i915's performance monitoring unit (PMU): which of them a device has, and their values. Times are those
// of the devices' virtual clocks; the values of all devices of a run are added (driver/perf/load_page.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/perf/load_page.h"
#include "spec/device_model.h"

namespace halogen::shim {

// The number that stands for the PMU in perf_event_open(2). The host's kernel gives out small numbers.
inline constexpr uint32_t kPmuType = 915;
// The CPU on which events must be opened.
inline constexpr int kPmuCpu = 0;

// Returns the name of its folder in sysfs: discrete boards have their address in it.
std::string pmu_name(const spec::DeviceModel& model);

struct PmuEvent {
  std::string name;
  uint64_t config = 0;
  const char* unit = "";  // empty: a number
};
std::vector<PmuEvent> pmu_events(const spec::DeviceModel& model);

// Returns 0, -ENODEV if the device does not have the event, or -ENOENT if there is no such event.
int check_pmu_event(const spec::DeviceModel& model, uint64_t config);
// Returns what the event has counted since the run began. 0: there is no such event.
uint64_t pmu_value(const spec::DeviceModel& model, const driver::LoadPage& page, uint64_t config);

}  // namespace halogen::shim
