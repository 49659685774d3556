#include "launch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cpio.h"
#include "device_server.h"
#include "guest_setup.h"
#include "process.h"

namespace halogen::vm {
namespace {

namespace fs = std::filesystem;

// Port of isa-debug-exit: a write ends the machine at once, with an odd status that cannot hold the command's.
constexpr uint16_t kExitPort = 0xf4;
// The second serial line ends in a pipe that receives the command's status. The pipe is read after the machine has
// ended, so a guest that writes without end only fills the pipe.
constexpr std::string_view kStatusPipe = "status";
constexpr std::string_view kStatusLine = "/dev/ttyS1";
constexpr unsigned kStartTimeoutSeconds = 120;    // until the emulator is ready
constexpr std::chrono::seconds kExitTimeout{60};  // between the end of the machine and of its emulator

// On a busy host the guest's clocks seem to jump: its kernel must neither give up nor complain.
constexpr std::string_view kClockOptions = "no_timer_check nowatchdog rcupdate.rcu_cpu_stall_suppress=1";

// A temporary folder for sockets and the initramfs.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create() {
    std::string name = (fs::temp_directory_path() / "halogen-vm-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return Error{fmt::format("cannot create {}.", name)};
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

Result<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code ignored;
  if (!in || fs::is_directory(path, ignored)) return Error{fmt::format("cannot read {}.", path.string())};
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// Returns the script that /init of the base image runs as /halogen/run.
std::string run_script(const LaunchOptions& options) {
  std::string script = "#!/bin/sh\n";
  for (const std::string& word : options.command) script += quoted(word) + " ";
  return script + fmt::format("\nstatus=$?\necho $status >{}\nexit $status\n", kStatusLine);
}

Result<void> write_file_system(const LaunchOptions& options, const std::string& path) {
  const auto base = read_file(fs::path(options.image) / "base.cpio");
  if (!base) return base.error();
  CpioArchive archive;
  archive.add_folder("halogen");
  archive.add_file("halogen/run", run_script(options), true);
  archive.add_file("halogen/module-options", options.module_options, false);
  for (const std::string& file : options.added) {
    const auto content = read_file(file);
    if (!content) return content.error();
    archive.add_file("bin/" + fs::path(file).filename().string(), *content, true);
  }
  std::ofstream out(path, std::ios::binary);
  out << *base << archive.finish();
  return out ? Result<void>{} : Error{fmt::format("{}: cannot write the file.", path)};
}

std::vector<std::string> arguments(const LaunchOptions& options, const TemporaryFolder& folder, int proxy) {
  const std::string console = options.show_kernel_log ? "console=ttyS0" : "console=ttyS0 quiet loglevel=0";
  return {options.emulator,
          "-M",
          "q35,memory-backend=ram",
          "-object",
          fmt::format("memory-backend-memfd,id=ram,size={},share=on", kGuestMemoryBytes),
          "-m",
          fmt::format("{}M", kGuestMemoryBytes >> 20),
          "-cpu",
          "Nehalem,-hypervisor",  // otherwise i915 reads its error state byte by byte
          "-smp",
          "1",
          "-accel",
          "tcg",
          "-vga",
          "none",
          "-display",
          "none",
          "-nodefaults",
          "-no-reboot",
          "-S",
          "-device",
          fmt::format("x-pci-proxy-dev,fd={},addr=2.0", proxy),
          "-device",
          fmt::format("isa-debug-exit,iobase={:#x},iosize=0x04", kExitPort),
          "-serial",
          "stdio",
          "-chardev",
          fmt::format("pipe,id=status,path={}", folder.file(kStatusPipe)),
          "-serial",
          "chardev:status",
          "-qtest",
          fmt::format("unix:{},server=on,wait=off", folder.file("qtest")),
          "-qtest-log",
          "/dev/null",
          "-qmp",
          fmt::format("unix:{},server=on,wait=off", folder.file("monitor")),
          "-kernel",
          (fs::path(options.image) / "vmlinux").string(),
          "-initrd",
          folder.file("files.cpio"),
          "-append",
          fmt::format("{} {} panic=-1 mem={}M", console, kClockOptions,
                      end_of_guest_memory(*options.model, options.device) >> 20)};
}

// Does the firmware's part: stolen memory and table size in the host bridge, where early chipsets keep them.
void poke_host_bridge(MachineLink& machine, uint16_t graphics_control) {
  constexpr uint16_t kAddressPort = 0xcf8;
  constexpr uint16_t kGraphicsControlPort = 0xcfe;  // offset 52h, after the dword at 50h
  machine.out_long(kAddressPort, 0x8000'0050);
  machine.out_word(kGraphicsControlPort, graphics_control);
}

Result<void> check_image(const LaunchOptions& options) {
  for (const char* file : {"vmlinux", "base.cpio"}) {
    if (!fs::exists(fs::path(options.image) / file)) {
      return Error{fmt::format("{}/{} does not exist; create it with scripts/vm-image.sh.", options.image, file)};
    }
  }
  return {};
}

// Creates the pipes of the second serial line. QEMU opens both; this process reads what the guest writes.
Result<File> make_status_pipe(const TemporaryFolder& folder) {
  const std::string name = folder.file(kStatusPipe);
  for (const char* way : {".in", ".out"}) {
    if (mkfifo((name + way).c_str(), 0600) != 0) return Error{fmt::format("cannot create {}{}.", name, way)};
  }
  File pipe(open((name + ".out").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return pipe ? Result<File>(std::move(pipe)) : Error{fmt::format("cannot open {}.out.", name)};
}

// Returns the status that the guest wrote to its second serial line.
std::optional<int> status_in(const File& pipe) {
  std::array<char, 64> text{};
  const ssize_t got = read(pipe.descriptor(), text.data(), text.size());
  int status = 0;
  if (got <= 0 || std::from_chars(text.data(), text.data() + got, status).ec != std::errc{}) return {};
  return status >= 0 && status <= 255 ? std::optional(status) : std::nullopt;
}

// Starts a stopped machine while a server answers its requests: BARs are sized before it opens its sockets. Ends early
// when asked to.
class Starter {
 public:
  Starter(DeviceServer& server, const Process& emulator, const TemporaryFolder& folder)
      : server_(server),
        graphics_control_(server.device().config().ggc()),
        thread_([this, &emulator, &folder](const std::stop_token& stop) {
          const auto started = run(stop, folder);
          problem_ = started ? std::string() : started.message();
          if (!started) emulator.ask_to_end();
        }) {}

  // Empty: the machine runs.
  const std::string& finish() {
    thread_.request_stop();
    thread_.join();
    return problem_;
  }

 private:
  Result<void> run(const std::stop_token& stop, const TemporaryFolder& folder) {
    auto qtest = connect_to(folder.file("qtest"), kStartTimeoutSeconds, stop);
    if (!qtest) return qtest.error();
    link_.emplace(std::move(*qtest));
    poke_host_bridge(*link_, graphics_control_);
    server_.set_machine(*link_);
    return start_machine(folder.file("monitor"), kStartTimeoutSeconds, stop);
  }

  DeviceServer& server_;
  uint16_t graphics_control_;
  std::optional<MachineLink> link_;  // used by the server once it knows it
  std::string problem_;
  std::jthread thread_;
};

}  // namespace

Result<void> make_image(const std::string& script, const std::string& package, const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(package, ignored)) return Error{fmt::format("cannot read {}.", package)};
  const fs::path made = fs::path(folder) / "base.cpio";
  if (fs::exists(made) && fs::last_write_time(made) > fs::last_write_time(package)) return {};
  auto process = Process::start({script, "--kernel", package, folder}, -1);
  if (!process) return process.error();
  if (process->wait().status != 0) return Error{fmt::format("{} failed to create an image from {}.", script, package)};
  return {};
}

Result<LaunchResult> launch(const LaunchOptions& options) {
  if (const auto checked = check_image(options); !checked) return checked.error();
  auto folder = TemporaryFolder::create();
  if (!folder) return folder.error();
  if (const auto written = write_file_system(options, folder->file("files.cpio")); !written) return written.error();

  const auto status_pipe = make_status_pipe(*folder);
  if (!status_pipe) return status_pipe.error();

  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return Error{"cannot create a socket pair."};
  DeviceServer server{ProxyLink(File(pair[0])), options.events};
  std::unique_ptr<Recorder> recorder;
  if (!options.trace.empty()) {
    auto sink = trace::create_file(options.trace);
    if (!sink) return sink.error();
    auto made =
        Recorder::create(*options.model, std::move(*sink), options.device.table_enabled, options.device.local_tables);
    if (!made) return made.error();
    recorder = std::move(*made);
    server.record_to(*recorder);
  }
  if (const auto made = server.create_device(*options.model, options.device); !made) return made.error();

  auto emulator = [&]() -> Result<Process> {
    const File theirs(pair[1]);
    return Process::start(arguments(options, *folder, pair[1]), pair[1]);
  }();
  if (!emulator) {
    return Error{fmt::format("{} Install the package qemu-system-x86.", emulator.message())};
  }
  Starter starter(server, *emulator, *folder);
  const auto served = server.serve(options.stop);
  // From here on, waiting for the emulator means that it is ending.
  const bool leaves = served && !server.was_stopped() && emulator->wait_for(kExitTimeout, options.stop);
  if (!leaves) emulator->end();
  const std::string problem = starter.finish();
  if (!served) return served.error();
  const Ending ended = emulator->wait();
  LaunchResult result;
  result.status = status_in(*status_pipe);
  if (server.was_stopped()) {
    result.status.reset();
    result.ending = "the machine was stopped by a signal.";
  } else if (!result.status && !problem.empty()) {
    return Error{fmt::format("{} ended {} before the machine ran: {}", options.emulator, ended.to_string(), problem)};
  } else if (!result.status && ended.status != 0) {
    result.ending = fmt::format("{} ended {} before the command did.", options.emulator, ended.to_string());
  } else if (!result.status) {
    result.ending = "the guest ended before the command did.";
  }
  if (recorder != nullptr) {
    const auto recorded = recorder->finish();
    if (!recorded) return recorded.error();
    result.recorded = *recorded;
  }
  result.bar_accesses = server.statistics().bar_accesses;
  result.by_bar = server.statistics().by_bar;
  result.interrupts = server.statistics().messages + server.statistics().lines;
  for (const auto& [offset, touches] : server.statistics().registers) {
    result.registers.push_back(
        {offset, touches.reads, touches.writes, mmio::answer_at(server.device().mmio(), offset)});
  }
  result.commands = commands_of(server.device());
  result.fidelity = server.device().fidelity();
  return result;
}

}  // namespace halogen::vm
