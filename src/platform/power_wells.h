// Power wells of the display from Gen9 on: each party (firmware, driver, KVM redirection, debugging) has a register of
// request bits; a well is on while any of them asks for it, and every register shows that. Wells switch at once.
// Source: Linux i915 intel_display_power_well.c. Left out: what a sleeping well does to its registers.
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
