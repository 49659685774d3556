// The meaning of PCI configuration space, by chip: how sizes are coded in the graphics control register, and how a
// reset ends. The registers and capabilities themselves are in spec/pci. Sources: Linux i915, intel-gtt and
// early-quirks.c.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/pci.h"

namespace halogen {

// How a reset by GDRST in configuration space ends: software clears the request, and a status bit is set until then; or
// the request clears itself.
enum class ConfigReset : uint8_t { none, held, clears_itself };

ConfigReset config_reset(const spec::DeviceModel& model);

// Returns offset and value of the graphics control register (GGC): stolen memory and size of the global table, as
// software reads them. A size that the register cannot express becomes the next smaller one.
spec::PciWrite graphics_control(const spec::DeviceModel& model, uint64_t stolen_bytes, uint64_t gtt_bytes);

}  // namespace halogen
