#include "platform/power_controller.h"

#include <algorithm>
#include <utility>

#include "spec/packed.h"
#include "spec/packing.h"

namespace halogen::platform {
namespace {

using Command = hw::PcodeCommand;

bool is_known(spec::GenId gen, Command command) {
  const spec::Layout* layout = hw::PCODE_MAILBOX::kDesc.layout(gen);
  const auto field = std::ranges::find(layout->fields, "command", &spec::FieldDesc::name);
  return !field->enumeration->name_of(static_cast<uint64_t>(command), gen).empty();
}

// Returns the new value of the data register. Commands that set something succeed without effect.
uint32_t answer(Command command, uint32_t data) {
  constexpr uint32_t kReadyForChange = 1;  // the display clock may change
  constexpr uint32_t kInitialized = 1;     // memory and board are initialised
  switch (command) {
    case Command::CDCLK_CONTROL:
      return kReadyForChange;
    case Command::DG1_STATUS:
      return kInitialized;
    default:
      return data;
  }
}

}  // namespace

PowerController::PowerController(const spec::DeviceModel& model, mmio::MmioSpace& mmio, EventSink& events,
                                 std::string path)
    : model_(model), mmio_(mmio), events_(events), path_(std::move(path)), data_(mmio.bank()) {
  if (data_.exists()) {
    mmio_.bank().attach("PCODE_MAILBOX", *this);
  }
}

uint32_t PowerController::on_write(const mmio::RegisterWrite& write) {
  auto order = spec::unpack_register<hw::PCODE_MAILBOX>(model_.gen, write.next);
  if (!order.run_busy) {
    return write.next;
  }
  const Command command = order.command;
  hw::PcodeError error = hw::PcodeError::SUCCESS;
  if (is_known(model_.gen, command)) {
    data_.set_raw(answer(command, data_.raw32()));
  } else {
    error = hw::PcodeError::ILLEGAL_CMD;
    events_.on_event({EventKind::unsupported, "PCODE_MAILBOX", path_, write.slot.offset, write.value,
                      "power controller command not implemented"});
  }
  order.run_busy = false;
  order.command = static_cast<Command>(error);
  return spec::packed32(order, model_.gen);
}

}  // namespace halogen::platform
