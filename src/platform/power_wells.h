// Power wells of the display from Gen9 on. Firmware, driver, KVM redirection and debugging have a register of request
// bits each; a well is on while any register requests it, and every register shows its state. Wells switch immediately.
// Source: Linux i915 intel_display_power_well.c. Not modelled: access to registers of a well that is off.
#pragma once

#include <cstdint>

#include "mmio/mmio_space.h"

namespace halogen::platform {

class PowerWells final : public mmio::RegisterHandler {
 public:
  explicit PowerWells(mmio::MmioSpace& mmio);

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;

 private:
  mmio::MmioSpace& mmio_;
};

}  // namespace halogen::platform
