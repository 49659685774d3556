// halogen serve: offers the device through a socket, with the protocol of Intel's simulator.
#include <fmt/format.h>

#include <csignal>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "commands.h"
#include "executor_option.h"
#include "reports.h"
#include "stdout_sink.h"
#include "tbx/server.h"

namespace halogen::cli {
namespace {

struct Options {
  std::optional<uint16_t> port;
  std::string device;
  std::string report;
  std::string executor;
  std::string trace;
  bool shared = false;
};

// The signals that end the server: blocked in every thread, and waited for.
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
  settings.port = *options.port;
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
  auto server = tbx::Server::listen(std::move(settings));
  if (!server) return server.error();
  StdoutSink out;
  out.write(fmt::format("listening on 127.0.0.1:{}\n", (*server)->port()));
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
  CLI::App* command = app.add_subcommand("serve", "serve the device to simulator clients over TBX, on 127.0.0.1 only");
  command->add_option("--tbx", options->port, "TCP port; 0 picks a free one")->required()->type_name("PORT");
  command->add_option("--device", options->device, "device name")->required();
  add_executor_option(*command, options->executor);
  command->add_option("--report", options->report, "write the fidelity report of all connections (JSON)")
      ->type_name("FILE");
  command
      ->add_option("--trace", options->trace,
                   "record the input as an AUB trace; further connections add -2, -3 to the name")
      ->type_name("FILE");
  command->add_flag("--shared", options->shared, "use one device for all connections instead of one each");
  command->footer(
      "Prints \"listening on 127.0.0.1:PORT\" when it is ready, serves any number of clients and ends on SIGTERM.\n"
      "docs/serve-tbx.md tells how to point Intel's OpenCL driver at it.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
