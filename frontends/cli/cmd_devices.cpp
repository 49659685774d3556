// halogen devices: lists the devices of the model.
#include <fmt/format.h>

#include <vector>

#include "base/json.h"
#include "commands.h"
#include "spec/device_model.h"
#include "stdout_sink.h"

namespace halogen::cli {
namespace {

std::string engine_names(const spec::DeviceModel& device) {
  std::vector<std::string_view> names;
  for (const spec::EngineModel& engine : device.engines) names.push_back(engine.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string to_json(const spec::DeviceModel& device) {
  std::vector<std::string> engines;
  for (const spec::EngineModel& engine : device.engines) {
    engines.push_back(fmt::format(R"({{"name":{},"class":{},"base":"{:#x}"}})", json_quote(engine.name),
                                  json_quote(spec::name_of(engine.engine_class)), engine.mmio_base));
  }
  return fmt::format(
      R"({{"name":{},"names":{},"pci":"{:#06x}","generation":{},"engines":[{}],"eus":{},"local_memory_bytes":{},"supported":{}}})",
      json_quote(device.name), json_quote(device.names), device.pci_id, json_quote(spec::name_of(device.gen)),
      fmt::join(engines, ","), device.topology.slices * device.topology.subslices * device.topology.eus,
      device.local_bytes, json_quote(device.supported));
}

int run(bool json) {
  std::string text;
  if (json) {
    std::vector<std::string> rows;
    for (const spec::DeviceModel& device : spec::device_models()) rows.push_back(to_json(device));
    text = fmt::format("[{}]\n", fmt::join(rows, ",\n "));
  } else {
    text = fmt::format("{:<7} {:<7} {:<7} {:<32} {}\n", "device", "pci id", "gen", "engines",
                       "executed commands and tested front ends");
    for (const spec::DeviceModel& device : spec::device_models()) {
      text += fmt::format("{:<7} {:#06x}  {:<7} {:<32} {}\n", device.name, device.pci_id, spec::name_of(device.gen),
                          engine_names(device), device.supported);
    }
  }
  StdoutSink sink;
  sink.write(text);
  return sink.finish() ? 0 : kExitUse;
}

}  // namespace

void add_devices(CLI::App& app, int& status) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("devices", "list the devices: PCI id, generation, engines, what the model supports");
  command->add_flag("--json", *json, "print a JSON array of objects");
  command->footer(
      "Commands that the model does not execute are decoded, and named in the reports of run, replay, serve and vm.");
  command->callback([json, &status] { status = run(*json); });
}

}  // namespace halogen::cli
