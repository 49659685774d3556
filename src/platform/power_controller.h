// The mailbox of the power controller (PCODE): software writes a command with the busy bit; the controller answers in
// the data registers, clears the bit and replaces the command by an error code. Source: Linux i915 intel_pcode.c and
// its callers; the controller itself is not documented. Answers are immediate. Not modelled: effects of commands on
// clocks and voltages. Commands without public description are refused as illegal.
#pragma once

#include <cstdint>
#include <string>

#include "base/event.h"
#include "hw/pcode.h"
#include "mmio/mmio_space.h"
#include "mmio/register.h"

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
  mmio::Register<hw::PCODE_DATA> data_;
};

}  // namespace halogen::platform
