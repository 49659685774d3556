// halogen vm: boots Linux in QEMU with the device and runs a command in the guest.
#include <signal.h>
#include <sys/signalfd.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "executor_option.h"
#include "file.h"
#include "guest_setup.h"
#include "launch.h"
#include "register_lines.h"
#include "reports.h"
#include "sandbox_option.h"

namespace halogen::cli {
namespace {

struct Options {
  std::string device;
  std::string stepping;
  std::string image;
  std::string kernel;
  std::string trace;
  std::string report;
  std::string executor;
  std::string registers;
  std::vector<std::string> added;
  std::vector<std::string> command;
  bool log = false;
  bool events = false;
  SandboxOption sandbox;
};

// Prints the first events to stderr.
class EventPrinter final : public EventSink {
 public:
  void on_event(const Event& event) override {
    if (++count_ <= kMax) fmt::print(stderr, "event: {}\n", event.to_string());
  }

 private:
  static constexpr uint64_t kMax = 2000;
  uint64_t count_ = 0;
};

int fail(const std::string& sentence) {
  fmt::print(stderr, "halogen vm: {}\n", sentence);
  return kExitUse;
}

// Returns the ending signals as a descriptor, so that the machine and its files are cleaned up first.
vm::File ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return vm::File(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Returns 128 + the number of the signal, as shells do. 0: no signal.
int status_of_signal(const vm::File& signals) {
  signalfd_siginfo info{};
  if (!vm::read_all(signals.descriptor(), std::as_writable_bytes(std::span(&info, 1)))) return 0;
  return 128 + static_cast<int>(info.ssi_signo);
}

int run(const Options& options) {
  if (options.command.empty()) return fail("no command given; write it after --.");
  vm::LaunchOptions launch;
  launch.model = spec::find_device(options.device);
  if (launch.model == nullptr) {
    return fail(fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", options.device));
  }
  for (const std::string& path : {options.report, options.registers, options.trace}) {
    if (path.empty()) continue;
    if (const auto made = prepare_output(path); !made) return fail(made.message());
  }
  launch.device = vm::guest_device_options(*launch.model);
  const auto executor = executor_of(options.executor);
  if (!executor) return fail(executor.message());
  launch.device.executor = *executor;
  launch.device.stepping = options.stepping;
  if (const auto checked = device::check_options(*launch.model, launch.device); !checked) {
    return fail(checked.message() + ".");
  }
  launch.module_options = vm::module_options(*launch.model);
  const std::string source = HALOGEN_SOURCE_DIR;
  launch.image = options.image.empty() ? source + "/build/vm" : options.image;
  if (!options.kernel.empty()) {
    const std::string stem = std::filesystem::path(options.kernel).stem().string();
    if (options.image.empty()) launch.image = fmt::format("{}/build/vm-{}", source, stem);
    const auto made = vm::make_image(source + "/scripts/vm-image.sh", options.kernel, launch.image);
    if (!made) return fail(made.message());
  }
  if (!options.trace.empty()) vm::leave_out_stolen_memory(*launch.model, launch.device);
  launch.trace = options.trace;
  launch.added = options.added;
  launch.command = options.command;
  launch.show_kernel_log = options.log;
  EventPrinter printer;
  if (options.events) launch.events = &printer;
  const vm::File signals = ending_signals();
  launch.stop = signals.descriptor();
  launch.confine = [&options](pid_t emulator) {
    sandbox::Rights rights{.child = emulator};
    for (const std::string& path : {options.report, options.registers}) {
      if (!path.empty()) rights.write.push_back(path);
    }
    return confine("vm", options.sandbox, rights);
  };
  const auto result = vm::launch(launch);
  if (!result) return fail(result.message());
  if (!options.report.empty()) {
    std::ofstream out(options.report);
    out << result->fidelity.to_json(options.device) << '\n';
    if (!out) return fail(fmt::format("{}: cannot write the file.", options.report));
  }
  if (!options.registers.empty()) {
    std::ofstream out(options.registers);
    for (const vm::RegisterUse& use : result->registers) {
      out << register_line(use.offset, use.reads != 0, use.writes != 0, use.answer) << '\n';
    }
    if (!out.flush()) return fail(fmt::format("{}: cannot write the file.", options.registers));
  }
  fmt::print(stderr, "halogen vm: {} BAR accesses ({} to BAR 0, {} to BAR 2), {} interrupts\n", result->bar_accesses,
             result->by_bar[0], result->by_bar[2], result->interrupts);
  if (result->recorded) {
    const vm::RecordedRun& recorded = *result->recorded;
    fmt::print(stderr, "halogen vm: recorded {} of {} commands, memory={:#018x} compared={} unjudged={} different={}\n",
               recorded.commands, result->commands, recorded.memory_hash, recorded.comparisons, recorded.unjudged,
               recorded.differences);
    if (!recorded.fault.empty()) {
      fmt::print(stderr, "halogen vm: {}.\n", recorded.fault);
      return kExitFault;
    }
  }
  if (result->status) return *result->status;
  fmt::print(stderr, "halogen vm: {}\n", result->ending);
  const int signalled = status_of_signal(signals);
  return signalled != 0 ? signalled : kExitFault;
}

}  // namespace

void add_vm(CLI::App& app, int& status, const std::vector<std::string>& behind) {
  auto options = std::make_shared<Options>();
  options->command = behind;
  CLI::App* command = app.add_subcommand("vm", "boot Linux in QEMU with the device and run a command in the guest");
  command->add_option("--device", options->device, "the device")->required()->type_name("D");
  command->add_option("--stepping", options->stepping, "stepping of the device, if it has several (gm45: a or b)")
      ->type_name("S");
  command->add_option("--image", options->image, "folder with the guest image (scripts/vm-image.sh)");
  command->add_option("--kernel", options->kernel, "Debian package of a kernel to use instead")->type_name("DEB");
  command->add_option("--add", options->added, "file of the host to add to the guest's /bin")->type_name("FILE");
  add_executor_option(*command, options->executor);
  command->add_option("--report", options->report, "write the fidelity report (JSON)")->type_name("F");
  command
      ->add_option("--registers", options->registers,
                   "write the list of registers that the guest accessed, with their class")
      ->type_name("F");
  command->add_option("--trace", options->trace, "record an AUB trace; halogen replay plays it")->type_name("FILE");
  command->add_flag("--log", options->log, "print the guest kernel's whole log");
  command->add_flag("--events", options->events, "print events of the model on stderr");
  add_sandbox_option(*command, options->sandbox);
  command->footer(
      "Usage: halogen vm --device D [OPTIONS] -- COMMAND...\n"
      "The guest is Debian's kernel with busybox; its i915 driver is loaded before the command runs.\n"
      "Exit: the command's status; 1 also if the guest ended before it; 2 wrong usage or a missing file; 128 + the\n"
      "number of the signal that ended it.");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace halogen::cli
