// Cherryview's display transmitters (two, the first with two channels) and the pixel clock generators beside them, as
// far as power goes: a transmitter has power while its well is on, lanes are down while nobody uses or forces them.
// Source: Linux i915 intel_display_power_well.c. Generators lock at once. Left out: lanes in use by a port.
#pragma once

#include <cstdint>

#include "hw/display_power.h"
#include "mmio/mmio_space.h"
#include "platform/sideband.h"

namespace halogen::platform {

class DisplayPhys final : public mmio::RegisterHandler {
 public:
  DisplayPhys(const spec::DeviceModel& model, mmio::MmioSpace& mmio, const Sideband& sideband);

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;

 private:
  uint32_t status() const;

  spec::GenId gen_;
  mmio::MmioSpace& mmio_;
  const Sideband& sideband_;
  const mmio::RegisterSlot* control_;
};

}  // namespace halogen::platform
