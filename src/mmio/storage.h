// Whether units act on a register of a device, as the description says. RegisterBank::is_acted_on says it of the units
// that exist.
#pragma once

#include "mmio/register_map.h"

namespace halogen::mmio {

// Returns whether no unit of the device acts on the register.
bool is_storage(const RegisterSlot& slot, spec::DeviceId device);

}  // namespace halogen::mmio
