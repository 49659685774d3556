// halogen walk: prints a page walk through the tables of an AUB trace.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "commands.h"
#include "decode/trace_walk.h"
#include "numbers.h"
#include "stdout_sink.h"

namespace halogen::cli {
namespace {

struct Options {
  std::string file;
  std::string address;
  std::string device;
  std::optional<size_t> context;
  bool global = false;
  bool json = false;
};

Result<decode::WalkReport> walk(const Options& options) {
  decode::WalkQuery query;
  if (!options.device.empty()) {
    query.device = spec::find_device(options.device);
    if (query.device == nullptr) {
      return Error{fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", options.device)};
    }
  }
  const auto address = parse_address("--va", options.address);
  if (!address) return address.error();
  query.address = *address;
  query.global = options.global;
  query.context = options.context;
  return decode::walk_trace(options.file, query);
}

int run(const Options& options) {
  const auto report = walk(options);
  if (!report) {
    fmt::print(stderr, "halogen walk: {}\n", report.message());
    return kExitUse;
  }
  StdoutSink sink;
  sink.write(options.json ? report->to_json() : report->to_text());
  if (!sink.finish()) return kExitUse;
  return report->mapped() ? 0 : kExitFault;
}

}  // namespace

void add_walk(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("walk", "print a page walk, level by level, through the tables of an AUB trace");
  command->add_option("file", options->file, "an AUB trace (also .xz)")->required()->type_name("FILE");
  command->add_option("--va", options->address, "graphics address")->required()->type_name("ADDR");
  command->add_flag("--ggtt", options->global, "walk the global table instead of a context's tables");
  command->add_option("--context", options->context, "number of the submitted context, from 0 (default: the last)")
      ->type_name("N");
  command->add_option("--device", options->device, "walk as this device (default: the one named by the trace)");
  command->add_flag("--json", options->json, "print one JSON object instead of text");
  command->footer(
      "Prints every level with the entry's address, raw value and fields; then the page, or the fault.\n"
      "Uses the tables at the end of the trace. Exit: 0 mapped; 1 a fault; 2 wrong usage or bad file.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
