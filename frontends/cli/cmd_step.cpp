// halogen step: executes one thread of a kernel in an AUB trace, one instruction at a time.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "commands.h"
#include "debugger/session.h"
#include "engine/backend/thread_observer.h"
#include "stdout_sink.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"
#include "trace/player.h"

namespace halogen::cli {
namespace {

struct Options {
  std::string file;
  std::string device;
  std::string group;
  uint64_t dispatch = 1;
  uint32_t thread = 0;
  bool json = false;
};

// Parses X,Y,Z; missing axes are 0.
Result<std::array<uint32_t, 3>> parse_group(std::string_view text) {
  std::array<uint32_t, 3> out{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (size_t axis = 0; axis < out.size(); ++axis) {
    const auto [next, status] = std::from_chars(at, end, out[axis]);
    if (status != std::errc{}) break;
    if (next == end) return out;
    if (*next != ',') break;
    at = next + 1;
  }
  return Error{fmt::format("--group \"{}\" is not of the form X,Y,Z.", text)};
}

// Attaches the session to every engine during its lifetime.
class Sight {
 public:
  Sight(device::Device& device, debugger::Session& session) : device_(device) { set(&session); }
  ~Sight() { set(nullptr); }
  Sight(const Sight&) = delete;
  Sight& operator=(const Sight&) = delete;

 private:
  void set(debugger::Session* session) {
    for (unsigned number = 0; number < device_.engines().count(); ++number) {
      engine::observe_threads(device_.engines().engine(number), session);
    }
  }
  device::Device& device_;
};

Result<void> play(const Options& options, trace::Player& player, debugger::Session& session) {
  auto source = trace::open_file(options.file);
  if (!source) return source.error();
  trace::aub::Reader reader(**source, options.file);
  std::optional<Sight> sight;
  while (player.wants_more() && !session.is_over()) {
    const auto more = reader.next(player);
    if (!more) return more.error();
    if (!*more) break;
    if (!sight && player.device() != nullptr) sight.emplace(*player.device(), session);
  }
  if (!session.is_over()) player.finish();
  if (!player.failure().empty()) return Error{fmt::format("{}: {}.", options.file, player.failure())};
  return {};
}

Result<int> step(const Options& options) {
  const spec::DeviceModel* model = nullptr;
  if (!options.device.empty()) {
    model = spec::find_device(options.device);
    if (model == nullptr) {
      return Error{fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", options.device)};
    }
  }
  debugger::Target target{.dispatch = options.dispatch, .thread = options.thread};
  if (options.dispatch == 0) return Error{"--dispatch 0 is not valid; the first dispatch is 1."};
  if (!options.group.empty()) {
    const auto group = parse_group(options.group);
    if (!group) return group.error();
    target.group = *group;
  }
  StdoutSink out;
  const bool asks = ::isatty(STDIN_FILENO) != 0 && !options.json;
  debugger::Console console;
  console.json = options.json;
  console.put = [&](std::string_view text) { out.write(text); };
  console.next_line = [&]() -> std::optional<std::string> {
    if (asks) out.write("(step) ");
    std::string line;
    // Without a reader of the output, no more commands are read.
    if (!out.is_open() || !std::getline(std::cin, line)) return std::nullopt;
    return line;
  };
  trace::Player player(model);
  debugger::Session session(target, console,
                            [&](const memory::WalkContext& tables, uint64_t address, std::span<std::byte> to) {
                              return player.simulator()->read_context({.walk = tables}, address, to);
                            });
  if (const auto done = play(options, player, session); !done) return done.error();
  if (!session.failure().empty()) return Error{fmt::format("{}: {}", options.file, session.failure())};
  if (!session.has_begun()) {
    return Error{session.dispatches() < options.dispatch
                     ? fmt::format("{}: dispatch {} does not exist; the trace has {}.", options.file, options.dispatch,
                                   session.dispatches())
                     : fmt::format("{}: the group of dispatch {} never started.", options.file, options.dispatch)};
  }
  if (!session.is_over()) session.finish(player.simulator()->memory_hash());
  if (!out.finish()) return kExitUse;
  return session.had_errors() ? kExitUse : 0;
}

int run(const Options& options) {
  const auto status = step(options);
  if (!status) {
    fmt::print(stderr, "halogen step: {}\n", status.message());
    return kExitUse;
  }
  return *status;
}

}  // namespace

void add_step(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("step", "execute a thread of a kernel in an AUB trace step by step");
  command->add_option("file", options->file, "an AUB trace (also .xz)")->required()->type_name("FILE");
  command->add_option("--device", options->device, "play on this device (default: the one named by the trace)");
  command->add_option("--dispatch", options->dispatch, "number of the dispatch, from 1 (default: 1)")->type_name("N");
  command->add_option("--group", options->group, "thread group (default: the one that starts first)")
      ->type_name("X,Y,Z");
  command->add_option("--thread", options->thread, "thread of the group, from 0 (default: 0)")->type_name("N");
  command->add_flag("--json", options->json, "print answers as JSON, one object per line");
  command->footer("Commands are read from standard input, one per line:\n" + debugger::help_text() +
                  "Exit: 0 done; 2 wrong usage, bad file, or a command failed.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
