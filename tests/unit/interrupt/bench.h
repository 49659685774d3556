// InterruptBench: an interrupt unit with its registers and no other unit. The test acts as the device, the engines and
// the driver.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "interrupt/interrupt_unit.h"
#include "mmio/mmio_space.h"
#include "spec/device_model.h"

namespace halogen::interrupt {

struct InterruptBench final : InterruptListener {
  explicit InterruptBench(std::string_view device)
      : model(*spec::find_device(device)),
        space(model, mmio::RegisterMap::for_device(model), mmio::SteeringConfig::for_device(model.id), log,
              "gpu0.mmio"),
        unit(model, space, *this, log, "gpu0.irq") {}

  void on_interrupt_level(bool asserted) override {
    EXPECT_NE(asserted, level) << "only changes are reported";
    level = asserted;
    rises += asserted ? 1 : 0;
  }
  void on_status_report(unsigned engine, uint32_t status) override { reports.emplace_back(engine, status); }

  // Access registers as a driver does, on the path of the streamer, which needs no wake request.
  uint32_t read(uint32_t offset) { return space.read_dword(offset, mmio::MmioSpace::Origin::command_streamer); }
  void write(uint32_t offset, uint32_t value) {
    space.write_dword(offset, value, mmio::kAllLanes, mmio::MmioSpace::Origin::command_streamer);
  }
  // Reads a register without side effects.
  uint32_t peek(uint32_t offset) const {
    const mmio::RegisterSlot* slot = space.bank().find(offset);
    return slot == nullptr ? 0 : space.bank().peek(*slot);
  }

  unsigned engine(std::string_view name) const {
    for (unsigned i = 0; i < model.engines.size(); ++i) {
      if (model.engines[i].name == name) {
        return i;
      }
    }
    ADD_FAILURE() << name;
    return 0;
  }
  void user(std::string_view name) { unit.raise(engine(name), EngineCause::user); }

  std::vector<std::pair<unsigned, uint32_t>> take_reports() { return std::exchange(reports, {}); }

  const spec::DeviceModel& model;
  EventLog log;
  bool level = false;
  unsigned rises = 0;  // messages that would have been sent
  std::vector<std::pair<unsigned, uint32_t>> reports;
  mmio::MmioSpace space;
  InterruptUnit unit;
};

}  // namespace halogen::interrupt
