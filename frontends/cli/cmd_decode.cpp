// halogen decode: prints traces, captures and raw dwords.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "commands.h"
#include "decode/file_decoder.h"
#include "numbers.h"
#include "sandbox_option.h"
#include "stdout_sink.h"

namespace halogen::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string device;
  std::string engine;
  std::string address;
  bool json = false;
  bool payloads = false;
  bool summary = false;
  SandboxOption sandbox;
};

bool wants_color() {
  return ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

Result<decode::FileOptions> file_options(const Options& options, StdoutSink& sink) {
  decode::FileOptions result;
  if (!options.device.empty()) {
    result.device = spec::find_device(options.device);
    if (result.device == nullptr) {
      return Error{fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", options.device)};
    }
  }
  if (!options.engine.empty()) {
    for (unsigned i = 0; i < spec::kEngineClassCount; ++i) {
      const auto engine = static_cast<spec::EngineClass>(i);
      if (spec::name_of(engine) == options.engine) result.engine = engine;
    }
    if (!result.engine) {
      return Error{fmt::format("unknown engine class \"{}\"; give render, blit, video, vebox, compute or posh.",
                               options.engine)};
    }
  }
  if (!options.address.empty()) {
    const auto address = parse_address("--address", options.address);
    if (!address) return address.error();
    if (address->value % sizeof(uint32_t) != 0) {
      return Error{fmt::format("--address {:#x} is not a multiple of 4.", address->value)};
    }
    result.address = *address;
  }
  if (options.summary) return result;
  const auto write = [&sink](std::string_view text) { return sink.write(text); };
  const bool json = options.json;
  const decode::OutputStyle style{.color = !json && wants_color(), .payloads = options.payloads};
  result.make_output = [write, json, style](const decode::RegisterNames& registers) {
    return json ? decode::make_json_output(write, style, &registers)
                : decode::make_text_output(write, style, &registers);
  };
  return result;
}

std::string summary_line(const decode::FileResult& result, bool json) {
  const decode::Counts& c = result.counts;
  if (json) {
    return fmt::format(
        R"({{"file":{},"commands":{},"unknown":{},"leftover_dwords":{},"unknown_records":{},"records":{},"bad_length":{},"unmapped":{},"runaway":{}}})"
        "\n",
        json_quote(result.name), c.commands, c.unknown, c.leftover_dwords, c.unknown_records, c.records, c.bad_length,
        c.unmapped, c.runaway);
  }
  return fmt::format("{} commands={} unknown={} leftover_dwords={} unknown_records={}\n", result.name, c.commands,
                     c.unknown, c.leftover_dwords, c.unknown_records);
}

// Reports faults that the summary line does not count.
void report_other_faults(const decode::FileResult& result) {
  const auto say = [&](uint64_t count, const char* one, const char* many) {
    if (count != 0) fmt::print(stderr, "halogen decode: {}: {} {}.\n", result.name, count, count == 1 ? one : many);
  };
  say(result.counts.bad_length, "command has a length that its description does not allow",
      "commands have a length that their description does not allow");
  say(result.counts.unmapped, "stream leads to unmapped memory", "streams lead to unmapped memory");
  say(result.counts.runaway, "stream is endless", "streams are endless");
}

int run(const Options& options) {
  StdoutSink sink;
  const auto settings = file_options(options, sink);
  if (!settings) {
    fmt::print(stderr, "halogen decode: {}\n", settings.message());
    return kExitUse;
  }
  if (const auto confined = confine("decode", options.sandbox, {.read = options.files}); !confined) {
    fmt::print(stderr, "halogen decode: {}\n", confined.message());
    return kExitUse;
  }
  int status = 0;
  for (const std::string& file : options.files) {
    const auto done = decode::decode_path(file, *settings, [&](const decode::FileResult& result) {
      if (options.summary) sink.write(summary_line(result, options.json));
      report_other_faults(result);
      if (result.counts.faulty() && status == 0) status = kExitFault;
      return sink.is_open();
    });
    if (!done) {
      fmt::print(stderr, "halogen decode: {}\n", done.message());
      status = kExitUse;
    }
    if (!sink.is_open()) break;
  }
  return sink.finish() ? status : kExitUse;
}

}  // namespace

void add_decode(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("decode", "print an AUB trace, an execbuffer capture folder or raw dwords");
  command
      ->add_option("files", options->files,
                   "AUB traces (also .xz), exec folders of captures or folders above them, raw dwords")
      ->required()
      ->type_name("FILE");
  command->add_option("--device", options->device, "decode for this device (default: the one named by the file)");
  command->add_option("--engine", options->engine,
                      "engine class for raw dwords and captures: render, blit, video, vebox, compute, posh");
  command->add_option("--address", options->address, "address of raw dwords in memory")->type_name("ADDR");
  command->add_flag("--json", options->json, "print JSON lines instead of text");
  command->add_flag("--payloads", options->payloads,
                    "print the registers that threads start with, below each command or state that starts threads");
  command->add_flag("--summary", options->summary,
                    "print one line per file: counts of commands and of what was not understood");
  add_sandbox_option(*command, options->sandbox);
  command->footer(
      "Raw dwords are little-endian binary, or text: hexadecimal dwords, '#' and '//' comments, 'ADDRESS:' in front.\n"
      "Every command is printed with its fields and the state they point to; --summary only counts.\n"
      "JSON: one object per line. kind \"command\": name, address, space, level (0 ring, 1 batch, 2 second level), "
      "dwords,\n"
      "fields (numbers, booleans, \"0x..\" for addresses, names for named values), registers (names of register "
      "fields),\n"
      "reserved (bits with a wrong value), faults, with --payloads threads and payload (registers by field), and "
      "state: a list of the targets of pointers, in the same form, "
      "with "
      "kind\n"
      "\"structure\", \"kernel\", \"data\" or \"missing\". Other lines: kind \"unknown_command\", \"record\", "
      "\"heading\".\n"
      "Exit: 0 all understood; 1 unknown commands or records, leftover dwords or other faults; 2 wrong usage or bad "
      "file.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
