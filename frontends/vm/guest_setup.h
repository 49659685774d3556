// The options of a device in the machine of launch.h, and its guest's kernel options.
#pragma once

#include <cstdint>
#include <string>

#include "device/options.h"
#include "spec/device_model.h"

namespace halogen::vm {

inline constexpr uint64_t kGuestMemoryBytes = uint64_t{1} << 30;

// Returns the settings of firmware: stolen memory at the top of the guest's memory, BARs that fit below 4 GiB.
device::DeviceOptions guest_device_options(const spec::DeviceModel& model);
// Removes stolen memory from the guest's memory, for recording, because a replay has none.
void leave_out_stolen_memory(const spec::DeviceModel& model, device::DeviceOptions& options);
// Returns the address from which on the guest's kernel must not use memory.
uint64_t end_of_guest_memory(const spec::DeviceModel& model, const device::DeviceOptions& options);
// Returns the options of the i915 module.
std::string module_options(const spec::DeviceModel& model);

}  // namespace halogen::vm
