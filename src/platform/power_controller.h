// The power controller's mailbox (PCODE): software writes a command with the busy bit, the controller answers in the
// data registers and clears the bit, an error code in the place of the command. Source: Linux i915 intel_pcode.c and
// its callers; the controller itself is not documented. Answers come at once. Left out: what commands do to clocks and
// voltages, which the model does not have; commands that nobody describes are refused as illegal.
#pragma once

#include <cstdint>
#include <string>

#include "base/event.h"
#include "hw/pcode.h"
#include "mmio/mmio_space.h"

namespace halogen::platform {

class PowerController final : public mmio::RegisterHandler {
 public:
  PowerController(const spec::DeviceModel& model, mmio::MmioSpace& mmio, EventSink& events, std::string path);

  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  const spec::DeviceModel& model_;
  mmio::MmioSpace& mmio_;
  EventSink& events_;
  std::string path_;
  const mmio::RegisterSlot* data_;
};

}  // namespace halogen::platform
