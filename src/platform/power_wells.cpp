#include "platform/power_wells.h"

namespace halogen {
namespace {

constexpr uint32_t kRequests = 0xaaaa'aaaa;  // each above its state bit

}  // namespace

PowerWells::PowerWells(MmioSpace& mmio) : mmio_(mmio) {
  for (const char* name : {"PWR_WELL_CTL", "PWR_WELL_CTL_AUX", "PWR_WELL_CTL_DDI"}) {
    mmio_.bank().attach(name, *this);
  }
}

uint32_t PowerWells::on_read(const RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  uint32_t requests = 0;
  for (const RegisterSlot& party : mmio_.bank().map().slots_of(slot.desc->name)) {
    requests |= mmio_.bank().peek(party) & kRequests;
  }
  return (stored & kRequests) | requests >> 1;
}

}  // namespace halogen
