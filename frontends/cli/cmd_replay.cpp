// halogen replay: executes an AUB trace.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/stop_flag.h"
#include "commands.h"
#include "executor_option.h"
#include "numbers.h"
#include "reports.h"
#include "rule_notice.h"
#include "sandbox_option.h"
#include "stdout_sink.h"
#include "trace/aub_reader.h"
#include "trace/byte_source.h"
#include "trace/player.h"

namespace halogen::cli {
namespace fs = std::filesystem;
namespace {

struct Options {
  std::string file;
  std::string device;
  std::vector<std::string> dumps;
  std::string dump_folder;
  bool overwrite = false;
  std::string trace;
  std::string report;
  std::string executor;
  bool check_rules = false;
  bool allow_unchecked = false;
  SandboxOption sandbox;
};

struct Dump {
  trace::aub::MemorySpace space{};
  std::string context;  // for ppgtt: an engine, or the address of a context; empty: the context that ran last
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string file;
};

// Parses ggtt:ADDR:LEN=FILE, ppgtt:ADDR:LEN=FILE or ppgtt@CONTEXT:ADDR:LEN=FILE.
Result<Dump> parse_dump(const std::string& text) {
  const size_t colon = text.find(':');
  const size_t second = colon == std::string::npos ? colon : text.find(':', colon + 1);
  const size_t equals = second == std::string::npos ? second : text.find('=', second + 1);
  if (equals == std::string::npos || equals + 1 == text.size()) {
    return Error{fmt::format("--dump \"{}\" is not of the form ggtt:ADDR:LEN=FILE or ppgtt:ADDR:LEN=FILE.", text)};
  }
  const std::string_view all = text;
  const std::string_view whose = all.substr(0, colon);
  const size_t at = std::min(whose.find('@'), whose.size());
  const std::string_view space = whose.substr(0, at);
  if (space != "ppgtt" && (space != "ggtt" || at != whose.size())) {
    return Error{fmt::format("--dump \"{}\" must start with ggtt or ppgtt.", text)};
  }
  const auto address = parse_address("--dump", all.substr(colon + 1, second - colon - 1));
  if (!address) return address.error();
  const auto bytes = parse_address("--dump", all.substr(second + 1, equals - second - 1));
  if (!bytes) return bytes.error();
  constexpr uint64_t kMaxBytes = uint64_t{1} << 32;
  if (bytes->value > kMaxBytes) return Error{fmt::format("--dump \"{}\" is larger than the limit of 4 GB.", text)};
  return Dump{space == "ggtt" ? trace::aub::MemorySpace::ggtt : trace::aub::MemorySpace::ppgtt,
              at == whose.size() ? std::string() : std::string(whose.substr(at + 1)), address->value, bytes->value,
              text.substr(equals + 1)};
}

std::string name_of(const trace::Simulator::SeenContext& context, const spec::DeviceModel& model) {
  const std::string_view engine = model.engines[context.engine].name;
  return context.image == 0 ? std::string(engine) : fmt::format("{}@{:#x}", engine, context.image);
}

// Returns the context of a dump. Null: no context ran, and the dump names none.
Result<const trace::Simulator::SeenContext*> context_of(const Dump& dump, trace::Simulator& simulator) {
  const auto& seen = simulator.contexts();
  if (dump.context.empty()) return seen.empty() ? nullptr : &seen.back();
  const auto address = parse_address("--dump", dump.context);
  std::vector<std::string> names;
  for (auto each = seen.rbegin(); each != seen.rend(); ++each) {
    const std::string_view engine = simulator.model().engines[each->engine].name;
    names.push_back(name_of(*each, simulator.model()));
    const bool here = address.ok() && each->image != 0 && each->image == address->value;
    if (here || engine == dump.context || names.back() == dump.context) return &*each;
  }
  return Error{fmt::format("no context \"{}\" ran; {}.", dump.context,
                           names.empty() ? "none ran" : fmt::format("these ran: {}", fmt::join(names, ", ")))};
}

// Writes a dump; unmapped memory becomes zeros. False: a part was not mapped.
Result<bool> write_dump(const Dump& dump, trace::Player& player) {
  const trace::Simulator::SeenContext* context = nullptr;
  if (dump.space == trace::aub::MemorySpace::ppgtt) {
    const auto found = context_of(dump, *player.simulator());
    if (!found) return found.error();
    context = *found;
    if (dump.context.empty() && player.simulator()->contexts().size() > 1) {
      fmt::print(stderr, "halogen replay: {}: uses the tables of {}, the last of {} contexts that ran.\n", dump.file,
                 name_of(*context, player.simulator()->model()), player.simulator()->contexts().size());
    }
  }
  std::ofstream out(dump.file, std::ios::binary);
  std::vector<std::byte> part(size_t{1} << 20);
  bool mapped = true;
  for (uint64_t done = 0; done < dump.bytes && out; done += part.size()) {
    const auto bytes = std::span(part).first(std::min<uint64_t>(part.size(), dump.bytes - done));
    mapped &= context != nullptr && !dump.context.empty()
                  ? player.simulator()->read_context(*context, dump.address + done, bytes)
                  : player.read(dump.space, dump.address + done, bytes);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  if (!out.flush()) return Error{fmt::format("{}: cannot write the file.", dump.file)};
  return mapped;
}

// A progress line, on a terminal only, for long replays.
class Progress {
 public:
  explicit Progress(uint64_t total) : total_(total), shown_(::isatty(STDERR_FILENO) != 0 && total != 0) {}
  ~Progress() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void at(uint64_t bytes, uint64_t records) {
    if (!shown_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    drawn_ = true;
    fmt::print(stderr, "\r{:3} %  record {}", std::min<uint64_t>(100, bytes * 100 / total_), records);
  }

 private:
  uint64_t total_;
  bool shown_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
};

// Returns the file's size. 0: a pipe, or unknown.
uint64_t size_of(const std::string& file) {
  std::error_code failed;
  const uint64_t bytes = fs::file_size(file, failed);
  return failed ? 0 : bytes;
}

// Long records come in parts, so progress is also shown inside them.
class Watched final : public trace::aub::Visitor {
 public:
  Watched(trace::Player& player, const trace::ByteSource& source, uint64_t total)
      : player_(player), source_(source), progress_(total) {}

  void on(const trace::aub::Place& place, const trace::aub::Record& record) override {
    player_.on(place, record);
    progress_.at(source_.position(), place.index);
  }

 private:
  trace::Player& player_;
  const trace::ByteSource& source_;
  Progress progress_;
};

// Stops the work at SIGTERM or SIGINT, so that the report and the new trace are written. A process that has not ended
// after 900 ms, for example because it waits for input, exits without them.
class SignalWatch {
 public:
  SignalWatch() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGTERM, SIGINT}) sigaddset(&signals, number);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([this, signals] {
      constexpr std::chrono::milliseconds kLongest{900};
      int number = 0;
      sigwait(&signals, &number);
      number_ = number;
      stop.raise();
      std::this_thread::sleep_for(kLongest);
      _exit(status());
    }).detach();
  }
  int number() const { return number_; }
  int status() const { return 128 + number_; }

  StopFlag stop;

 private:
  std::atomic<int> number_{0};
};

Result<void> play(const Options& options, trace::Player& player) {
  auto source = trace::open_file(options.file);
  if (!source) return source.error();
  trace::aub::Reader reader(**source, options.file);
  Watched watched(player, **source, size_of(options.file));
  while (player.wants_more()) {
    const auto more = reader.next(watched);
    if (!more) return more.error();
    if (!*more) break;
  }
  player.finish();
  if (!player.failure().empty()) return Error{fmt::format("{}: {}.", options.file, player.failure())};
  return {};
}

std::string summary(const Options& options, trace::Player& player) {
  const trace::PlayCounts& c = player.counts();
  return fmt::format(
      "{} device={} records={} register_writes={} memory_writes={} checks={} failed={} unchecked={} skipped={} "
      "memory={:#018x}\n",
      options.file, player.device()->model().name, c.records, c.register_writes, c.memory_writes, c.checks,
      c.failed_checks, c.unchecked, c.skipped, player.simulator()->memory_hash());
}

void say_faults(trace::Player& player) {
  const auto say = [](const std::string& what) { fmt::print(stderr, "halogen replay: {}\n", what); };
  for (const std::string& fault : player.faults()) say(fault + ".");
  const uint64_t more =
      player.counts().failed_checks - std::min<uint64_t>(player.counts().failed_checks, player.faults().size());
  if (more != 0) say(fmt::format("{} more checks failed.", more));
  if (player.aborted()) say("the trace requests a stop after this timeout.");
  for (const auto& [kind, count] : player.skipped()) say(fmt::format("skipped: {}, {} times.", kind, count));
  if (player.counts().unchecked != 0) {
    say(fmt::format("{} checks are not supported (--allow-unchecked accepts them).", player.counts().unchecked));
  }
  if (player.counts().ignored_polls != 0) {
    say(fmt::format("{} polls timed out; the trace says to continue.", player.counts().ignored_polls));
  }
  if (player.counts().unmapped != 0) {
    say(fmt::format("{} writes hit unmapped memory, partly or completely.", player.counts().unmapped));
  }
  if (const std::string missing = not_executed(player.device()->fidelity()); !missing.empty()) {
    say(fmt::format("not executed: {}.", missing));
  }
}

// Describes how an engine is stuck at the end. Empty: it is not.
std::string_view how_stuck(const engine::EngineState& state) {
  switch (state.activity) {
    case engine::Activity::idle:
      return {};
    case engine::Activity::running:
      return "does not become idle";
    case engine::Activity::hung:
      return "hangs";
    case engine::Activity::waiting:
      break;
  }
  switch (state.wait.kind) {
    case engine::WaitKind::event:
      return "waits for an event that does not occur";
    case engine::WaitKind::semaphore:
      return "waits for a semaphore that is never signalled";
    case engine::WaitKind::page:
      return "waits for a page that is never provided";
    case engine::WaitKind::none:
    case engine::WaitKind::rest:    // the trace ends with a tail inside a command
    case engine::WaitKind::parser:  // and so does a parser that was stopped
      break;
  }
  return {};
}

bool hung(device::Device& device) {
  bool any = false;
  for (unsigned number = 0; number < device.engines().count(); ++number) {
    const std::string_view how = how_stuck(device.engines().engine(number).state());
    if (how.empty()) continue;
    fmt::print(stderr, "halogen replay: the engine {} {}.\n", device.model().engines[number].name, how);
    any = true;
  }
  return any;
}

// Creates the named outputs, and confines this process to them and to its input.
Result<void> confine_replay(const Options& options, const std::vector<Dump>& dumps) {
  sandbox::Rights rights{.read = {options.file}};
  for (const Dump& dump : dumps) rights.write.push_back(dump.file);
  if (!options.report.empty()) rights.write.push_back(options.report);
  for (const std::string& file : rights.write) {
    if (const auto made = prepare_output(file); !made) return made.error();
  }
  if (!options.dump_folder.empty()) rights.folders.push_back(options.dump_folder);
  rights.replace = options.overwrite;
  return confine("replay", options.sandbox, rights);
}

Result<int> replay(const Options& options) {
  const spec::DeviceModel* model = nullptr;
  if (!options.device.empty()) {
    model = spec::find_device(options.device);
    if (model == nullptr) {
      return Error{fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", options.device)};
    }
  }
  std::vector<Dump> dumps;
  for (const std::string& text : options.dumps) {
    const auto dump = parse_dump(text);
    if (!dump) return dump.error();
    dumps.push_back(*dump);
  }
  if (!options.dump_folder.empty() && !fs::is_directory(options.dump_folder)) {
    return Error{fmt::format("{}: not a folder.", options.dump_folder)};
  }
  std::unique_ptr<trace::ByteSink> sink;
  std::optional<trace::aub::Writer> writer;
  const auto executor = executor_of(options.executor);
  if (!executor) return executor.error();
  shim::RuleNotice rules(options.check_rules);
  trace::Player player(model, &rules);
  player.set_executor(*executor);
  if (options.check_rules) player.check_rules();
  player.allow_dumps(options.dump_folder, options.overwrite);
  if (!options.trace.empty()) {
    std::error_code ignored;
    if (fs::equivalent(options.trace, options.file, ignored)) {
      return Error{fmt::format("{}: same file as the trace to replay; give another file for --trace.", options.trace)};
    }
    auto created = trace::create_file(options.trace);
    if (!created) return created.error();
    sink = std::move(created).value();
    player.record_to(&writer.emplace(*sink));
  }
  if (const auto confined = confine_replay(options, dumps); !confined) return confined.error();
  static SignalWatch signals;  // lives as long as its thread, which is confined too
  player.set_stop(&signals.stop);
  if (const auto done = play(options, player); !done) return done.error();
  if (player.simulator() == nullptr && player.stopped()) return signals.status();
  if (player.simulator() == nullptr) return Error{fmt::format("{}: nothing to replay.", options.file)};
  if (writer) {
    if (const auto done = writer->finish(); !done) return done.error();
  }
  if (player.stopped()) dumps.clear();
  for (const Dump& dump : dumps) {
    const auto mapped = write_dump(dump, player);
    if (!mapped) return mapped.error();
    if (!*mapped) fmt::print(stderr, "halogen replay: {}: a part is not mapped and was written as zeros.\n", dump.file);
  }
  if (!options.report.empty()) {
    const auto done = write_report(options.report, player.device()->fidelity(), player.device()->model().name);
    if (!done) return done.error();
  }
  if (player.stopped()) {
    fmt::print(stderr, "halogen replay: {}: stopped by signal {} at record {}.\n", options.file, signals.number(),
               player.counts().records);
    return signals.status();
  }
  StdoutSink out;
  out.write(summary(options, player));
  say_faults(player);
  if (!out.finish()) return kExitUse;
  const bool unsure = player.counts().unchecked != 0 && !options.allow_unchecked;
  return hung(*player.device()) || unsure || player.counts().failed_checks != 0 ? kExitFault : 0;
}

int run(const Options& options) {
  const auto status = replay(options);
  if (!status) {
    fmt::print(stderr, "halogen replay: {}\n", status.message());
    return kExitUse;
  }
  return *status;
}

}  // namespace

void add_replay(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("replay", "execute an AUB trace on the device and check its expectations");
  command->add_option("file", options->file, "an AUB trace (also .xz)")->required()->type_name("FILE");
  command->add_option("--device", options->device, "play on this device (default: the one named by the trace)");
  command
      ->add_option(
          "--dump", options->dumps,
          "afterwards, memory by its address in the global table (ggtt:ADDR:LEN=FILE) or in the tables of the "
          "context that ran last (ppgtt:ADDR:LEN=FILE), or that ran last on an engine or whose logical context "
          "lies at an address of the global table (ppgtt@rcs0:..., ppgtt@0x6000:...)")
      ->type_name("WHAT")
      ->allow_extra_args(false);
  command->add_option("--dump-folder", options->dump_folder, "folder for dumps that the trace itself requests")
      ->type_name("FOLDER");
  command->add_flag("--overwrite", options->overwrite, "let these dumps replace files that exist in the folder");
  command->add_option("--trace", options->trace, "record what was played as a new AUB trace")->type_name("FILE");
  command->add_flag("--allow-unchecked", options->allow_unchecked,
                    "accept checks that are not supported (comparisons by CRC, registers of other devices)");
  add_executor_option(*command, options->executor);
  command->add_flag("--check-rules", options->check_rules,
                    "report reads and writes that a forgotten resolve makes wrong (docs/compression.md)");
  command->add_option("--report", options->report, "write the fidelity report (JSON)")->type_name("FILE");
  add_sandbox_option(*command, options->sandbox);
  command->footer(
      "Prints one line with counts of what was played; memory= is a hash of all memory at the end.\n"
      "Exit: 0 every expectation of the trace was met; 1 an expectation failed or could not be checked, a wait timed "
      "out or an "
      "engine "
      "hangs; 2 wrong usage or bad file; 128 + its number after a signal, with the report and the new trace up to "
      "there.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
