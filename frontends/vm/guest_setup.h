// What a device must be like to live in the machine that launch.h starts, and what its guest must be told.
#pragma once

#include <cstdint>
#include <string>

#include "device/options.h"
#include "spec/device_model.h"

namespace halogen::vm {

inline constexpr uint64_t kGuestMemoryBytes = uint64_t{1} << 30;

// Firmware's choices: stolen memory at the top of the guest's, BARs that fit below 4 GiB.
device::DeviceOptions guest_device_options(const spec::DeviceModel& model);
// For a trace: no stolen memory in the guest's, because the machine of a replay has none.
void leave_out_stolen_memory(const spec::DeviceModel& model, device::DeviceOptions& options);
// The guest kernel must leave memory from here on alone.
uint64_t end_of_guest_memory(const spec::DeviceModel& model, const device::DeviceOptions& options);
// For the i915 module.
std::string module_options(const spec::DeviceModel& model);

}  // namespace halogen::vm
