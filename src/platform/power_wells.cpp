#include "platform/power_wells.h"

namespace halogen::platform {

PowerWells::PowerWells(mmio::MmioSpace& mmio) : mmio_(mmio) {
  for (const char* name : {"PWR_WELL_CTL", "PWR_WELL_CTL_AUX", "PWR_WELL_CTL_DDI"}) {
    mmio_.bank().attach(name, *this);
  }
}

// Software writes request bits; the state bit of a well is below its request bit.
uint32_t PowerWells::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  const uint32_t mask = slot.policy.rw;
  uint32_t requests = 0;
  for (const mmio::RegisterSlot& party : mmio_.bank().map().slots_of(slot.desc->name)) {
    requests |= mmio_.bank().peek(party) & mask;
  }
  return (stored & mask) | requests >> 1;
}

}  // namespace halogen::platform
