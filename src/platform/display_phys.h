// Power of Cherryview's display PHYs (two, the first with two channels) and their pixel clock generators: a PHY has
// power while its well is on, and lanes are down while they are neither used nor forced. Source: Linux i915
// intel_display_power_well.c. Generators lock immediately. Not modelled: lanes used by a port.
#pragma once

#include <cstdint>

#include "hw/display_power.h"
#include "mmio/mmio_space.h"
#include "mmio/register.h"
#include "platform/sideband.h"

namespace halogen::platform {

class DisplayPhys final : public mmio::RegisterHandler {
 public:
  DisplayPhys(const spec::DeviceModel& model, mmio::MmioSpace& mmio, const Sideband& sideband);

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;

 private:
  uint32_t status() const;

  spec::GenId gen_;
  const Sideband& sideband_;
  mmio::Register<hw::DISPLAY_PHY_CONTROL> control_;
  mmio::Register<hw::DPLL_CHV> clock_b_;  // of pipe B
};

}  // namespace halogen::platform
