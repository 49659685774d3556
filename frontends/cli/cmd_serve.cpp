// halogen serve: offers the device through a socket, with the protocol of Intel's simulator.
#include <fmt/format.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "commands.h"
#include "executor_option.h"
#include "reports.h"
#include "sandbox/leftovers.h"
#include "sandbox_option.h"
#include "stdout_sink.h"
#include "tbx/server.h"

namespace halogen::cli {
namespace {

struct Options {
  std::string place;  // a port, or unix:PATH
  std::string device;
  std::string report;
  std::string executor;
  std::string trace;
  uint64_t memory = 4096;
  bool shared = false;
  bool any_user = false;
  SandboxOption sandbox;
};

constexpr std::string_view kUnix = "unix:";
constexpr uint64_t kMaxMemory = uint64_t{1} << 20;  // MiB

// Reads --tbx: a port or a path.
Result<void> set_place(const std::string& text, tbx::ServerOptions& settings) {
  if (text.starts_with(kUnix)) {
    settings.path = text.substr(kUnix.size());
    if (!settings.path.empty()) return {};
  } else {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), settings.port);
    if (problem == std::errc{} && end == text.data() + text.size()) return {};
  }
  return Error{fmt::format("--tbx \"{}\" is neither a port (0 to 65535) nor unix:PATH.", text)};
}

// Creates the outputs of this process, and confines it to them. Call when the server listens.
Result<void> confine_serve(const Options& options) {
  sandbox::Rights rights{.accept = true};
  if (!options.report.empty()) rights.write.push_back(options.report);
  if (!options.trace.empty()) rights.write.push_back(options.trace);
  for (const std::string& file : rights.write) {
    if (const auto made = prepare_output(file); !made) return made.error();
  }
  if (!options.trace.empty()) {  // further connections add files beside the first
    const auto folder = std::filesystem::path(options.trace).parent_path();
    rights.folders.push_back(folder.empty() ? "." : folder.string());
  }
  return confine("serve", options.sandbox, rights);
}

// Returns the signals that end the server. They are blocked in every thread, and serve() waits for them.
sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

Result<int> serve(const Options& options) {
  tbx::ServerOptions settings;
  settings.model = spec::find_device(options.device);
  if (settings.model == nullptr) {
    return Error{fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", options.device)};
  }
  const auto executor = executor_of(options.executor);
  if (!executor) return executor.error();
  settings.executor = *executor;
  if (const auto set = set_place(options.place, settings); !set) return set.error();
  settings.any_user = options.any_user;
  if (options.memory == 0 || options.memory > kMaxMemory) {
    return Error{fmt::format("--memory {} is not between 1 and {} MiB.", options.memory, kMaxMemory)};
  }
  settings.pages = options.memory << (20 - 12);
  settings.shared = options.shared;
  settings.trace = options.trace;
  if (!options.trace.empty() && !can_write(options.trace)) {
    return Error{fmt::format("{}: cannot write the file.", options.trace)};
  }
  std::mutex writing;
  const auto log = [&writing](std::string_view line) {
    const std::lock_guard lock(writing);
    fmt::print(stderr, "halogen serve: {}\n", line);
  };
  settings.log = log;
  bool failed = false;
  settings.reported = [&options, &failed, log, name = settings.model->name](const FidelityReport& report) {
    if (options.report.empty()) return;
    if (const auto done = write_report(options.report, report, name); !done) {
      failed = true;
      log(done.message());
    }
  };
  settings.reported({});  // a file that cannot be written is reported now
  if (failed) return kExitUse;

  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const std::string path = settings.path;
  auto server = tbx::Server::listen(std::move(settings));
  if (!server) return server.error();
  std::optional<sandbox::Leftovers> leftovers;
  if (!path.empty()) {
    auto watched = sandbox::Leftovers::watch({std::filesystem::absolute(path)}, {});
    if (!watched) return watched.error();
    leftovers.emplace(std::move(watched).value());
  }
  if (const auto confined = confine_serve(options); !confined) return confined.error();
  StdoutSink out;
  out.write(fmt::format("listening on {}\n", (*server)->place()));
  std::thread running([&] { (*server)->run(); });
  int which = 0;
  sigwait(&signals, &which);
  (*server)->stop();
  running.join();
  return out.finish() && !failed ? 0 : kExitUse;
}

int run(const Options& options) {
  const auto status = serve(options);
  if (!status) {
    fmt::print(stderr, "halogen serve: {}\n", status.message());
    return kExitUse;
  }
  return *status;
}

}  // namespace

void add_serve(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("serve", "serve the device to simulator clients of this user over TBX");
  command
      ->add_option(
          "--tbx", options->place,
          "TCP port on 127.0.0.1 (0 picks a free one), or unix:PATH: a unix socket that only this user can use")
      ->required()
      ->type_name("PORT");
  command->add_flag("--any-user", options->any_user, "serve all users of this machine, not only this one");
  command
      ->add_option("--memory", options->memory,
                   "memory limit of all connections together, in MiB; of one connection: half of it (default: 4096)")
      ->type_name("MIB");
  command->add_option("--device", options->device, "device name")->required();
  add_executor_option(*command, options->executor);
  command->add_option("--report", options->report, "write the fidelity report of all connections (JSON)")
      ->type_name("FILE");
  command
      ->add_option("--trace", options->trace,
                   "record the input as an AUB trace; further connections add -2, -3 to the name and replace no file")
      ->type_name("FILE");
  command->add_flag("--shared", options->shared, "use one device for all connections instead of one each");
  add_sandbox_option(*command, options->sandbox);
  command->footer(
      "Prints \"listening on 127.0.0.1:PORT\" (or unix:PATH) when it is ready, serves any number of clients and ends "
      "on SIGTERM.\n"
      "docs/serve-tbx.md tells how to point Intel's OpenCL driver at it.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
