// halogen registers: lists the registers that the model has at given offsets.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "device/device.h"
#include "numbers.h"
#include "register_lines.h"
#include "stdout_sink.h"

namespace halogen::cli {
namespace {

struct Options {
  std::string device;
  std::vector<std::string> offsets;
};

int fail(const std::string& sentence) {
  fmt::print(stderr, "halogen registers: {}\n", sentence);
  return kExitUse;
}

// A host without memory.
class NoHost final : public device::Host {
 public:
  bool read_memory(PhysAddr /*address*/, std::span<std::byte> /*out*/) override { return false; }
  bool write_memory(PhysAddr /*address*/, std::span<const std::byte> /*data*/) override { return false; }
  void set_interrupt_line(bool /*asserted*/) override {}
  void send_message_interrupt(PhysAddr /*address*/, uint32_t /*data*/) override {}
  void on_event(const Event& /*event*/) override {}
};

int run(const Options& options) {
  const spec::DeviceModel* model = spec::find_device(options.device);
  if (model == nullptr) {
    return fail(fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", options.device));
  }
  NoHost host;
  const auto device = device::Device::create(*model, host);
  if (!device) return fail(device.message());
  mmio::MmioSpace& space = (*device)->mmio();
  StdoutSink sink;
  const auto show = [&](uint32_t offset) {
    return sink.write(register_line(offset, false, false, mmio::answer_at(space, offset)) + "\n");
  };
  for (const std::string& text : options.offsets) {
    const auto offset = parse_address("the offset", text);
    if (!offset || offset->value % 4 != 0 || offset->value >= model->mmio_bytes) {
      return fail(fmt::format("\"{}\" is not a register offset of {}: give a multiple of 4 below {:#x}.", text,
                              options.device, model->mmio_bytes));
    }
    show(static_cast<uint32_t>(offset->value));
  }
  for (uint32_t offset = 0; options.offsets.empty() && offset < model->mmio_bytes; offset += 4) {
    if (mmio::answer_at(space, offset).answer != mmio::AnswerClass::unclaimed && !show(offset)) break;
  }
  return sink.finish() ? 0 : kExitUse;
}

}  // namespace

void add_registers(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("registers", "list the registers that the model has at given offsets");
  command->add_option("--device", options->device, "the device")->required()->type_name("D");
  command->add_option("offset", options->offsets, "register offsets (default: all that the model has)");
  command->footer("Prints one line per register: offset, --, class (semantics, storage, unclaimed), name.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
