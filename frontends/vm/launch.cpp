#include "launch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
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
#include "sandbox/leftovers.h"

namespace halogen::vm {
namespace {

namespace fs = std::filesystem;

// The port of isa-debug-exit. A write ends the machine at once, with an odd status that cannot hold the command's.
constexpr uint16_t kExitPort = 0xf4;
// The second serial line ends in a pipe that receives the command's status. The pipe is read after the machine has
// ended, so a guest that writes without end only fills the pipe.
constexpr std::string_view kStatusPipe = "status", kStatusInput = "status.in", kStatusOutput = "status.out";
constexpr std::string_view kStatusLine = "/dev/ttyS1";
constexpr unsigned kStartTimeoutSeconds = 120;    // for each answer of the emulator before the guest runs
constexpr std::chrono::seconds kExitTimeout{60};  // between the end of the machine and of its emulator

// On a busy host the guest's clocks seem to jump; its kernel must neither give up nor complain.
constexpr std::string_view kClockOptions = "no_timer_check nowatchdog rcupdate.rcu_cpu_stall_suppress=1";

constexpr std::string_view kFiles = "files.cpio";  // the guest's first file system

// A temporary folder for files that the emulator opens. A process of its own removes it, because this process is
// confined then and may be killed.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create() {
    std::string name = (fs::temp_directory_path() / "halogen-vm-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return Error{fmt::format("cannot create {}.", name)};
    std::vector<std::string> files;
    for (const std::string_view file : {kFiles, kStatusInput, kStatusOutput}) {
      files.push_back((fs::path(name) / file).string());
    }
    auto leftovers = sandbox::Leftovers::watch(files, name);
    if (!leftovers) {
      rmdir(name.c_str());
      return leftovers.error();
    }
    return TemporaryFolder(name, std::move(leftovers).value());
  }
  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  TemporaryFolder(fs::path path, sandbox::Leftovers leftovers)
      : path_(std::move(path)), leftovers_(std::move(leftovers)) {}

  fs::path path_;
  sandbox::Leftovers leftovers_;
};

// Two connected sockets, of which the emulator inherits one.
struct Pair {
  File ours;
  File theirs;

  static Result<Pair> create() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return Error{fmt::format("cannot create a socket pair: {}.", std::strerror(errno))};
    }
    return Pair{File(ends[0]), File(ends[1])};
  }
};

// The connections to the emulator.
struct Connections {
  Pair proxy, qtest, monitor;

  static Result<Connections> create() {
    auto proxy = Pair::create(), qtest = Pair::create(), monitor = Pair::create();
    for (const auto* each : {&proxy, &qtest, &monitor}) {
      if (!*each) return each->error();
    }
    return Connections{std::move(*proxy), std::move(*qtest), std::move(*monitor)};
  }
  std::vector<int> inherited() const {
    return {proxy.theirs.descriptor(), qtest.theirs.descriptor(), monitor.theirs.descriptor()};
  }
  // Closes the sockets that the emulator has inherited, so that the connections end when it ends.
  void close_theirs() {
    for (Pair* each : {&proxy, &qtest, &monitor}) static_cast<void>(File(std::move(each->theirs)));
  }
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

std::vector<std::string> arguments(const LaunchOptions& options, const TemporaryFolder& folder, const Connections& to) {
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
          "-sandbox",
          "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
          "-device",
          fmt::format("x-pci-proxy-dev,fd={},addr=2.0", to.proxy.theirs.descriptor()),
          "-device",
          fmt::format("isa-debug-exit,iobase={:#x},iosize=0x04", kExitPort),
          "-serial",
          "stdio",
          "-chardev",
          fmt::format("pipe,id=status,path={}", folder.file(kStatusPipe)),
          "-serial",
          "chardev:status",
          "-chardev",
          fmt::format("socket,id=qtest,fd={}", to.qtest.theirs.descriptor()),
          "-qtest",
          "chardev:qtest",
          "-qtest-log",
          "/dev/null",
          "-chardev",
          fmt::format("socket,id=monitor,fd={}", to.monitor.theirs.descriptor()),
          "-mon",
          "chardev=monitor,mode=control",
          "-kernel",
          (fs::path(options.image) / "vmlinux").string(),
          "-initrd",
          folder.file(kFiles),
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
  for (const std::string_view name : {kStatusInput, kStatusOutput}) {
    const std::string path = folder.file(name);
    if (mkfifo(path.c_str(), 0600) != 0) return Error{fmt::format("cannot create {}.", path)};
  }
  const std::string output = folder.file(kStatusOutput);
  File pipe(open(output.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return pipe ? Result<File>(std::move(pipe)) : Error{fmt::format("cannot open {}.", output)};
}

// Returns the status that the guest wrote to its second serial line.
std::optional<int> status_in(const File& pipe) {
  std::array<char, 64> text{};
  const ssize_t got = read(pipe.descriptor(), text.data(), text.size());
  int status = 0;
  if (got <= 0 || std::from_chars(text.data(), text.data() + got, status).ec != std::errc{}) return {};
  return status >= 0 && status <= 255 ? std::optional(status) : std::nullopt;
}

// Starts a stopped machine while a server answers its requests, because BARs are sized before the monitor answers. Ends
// early on a stop request. Then closes the connection, because the monitor has commands that reach files and programs
// of the host.
class Starter {
 public:
  Starter(const File& monitor, const Process& emulator)
      : thread_([this, &monitor, &emulator](const std::stop_token& stop) {
          const auto started = start_machine(monitor, kStartTimeoutSeconds, stop);
          problem_ = started ? std::string() : started.message();
          shutdown(monitor.descriptor(), SHUT_RDWR);
          if (!started) emulator.ask_to_end();
        }) {}

  // Empty: the machine runs.
  const std::string& finish() {
    thread_.request_stop();
    thread_.join();
    return problem_;
  }

 private:
  std::string problem_;
  std::jthread thread_;
};

}  // namespace

Result<void> make_image(const std::string& script, const std::string& package, const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_regular_file(package, ignored)) return Error{fmt::format("cannot read {}.", package)};
  const fs::path made = fs::path(folder) / "base.cpio";
  if (fs::exists(made) && fs::last_write_time(made) > fs::last_write_time(package)) return {};
  auto process = Process::start({script, "--kernel", package, folder});
  if (!process) return process.error();
  if (process->wait().status != 0) return Error{fmt::format("{} failed to create an image from {}.", script, package)};
  return {};
}

Result<LaunchResult> launch(const LaunchOptions& options) {
  if (const auto checked = check_image(options); !checked) return checked.error();
  auto folder = TemporaryFolder::create();
  if (!folder) return folder.error();
  if (const auto written = write_file_system(options, folder->file(kFiles)); !written) return written.error();

  const auto status_pipe = make_status_pipe(*folder);
  if (!status_pipe) return status_pipe.error();

  auto to = Connections::create();
  if (!to) return to.error();
  MachineLink machine(std::move(to->qtest.ours));
  DeviceServer server{ProxyLink(std::move(to->proxy.ours)), options.events};
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
  auto emulator = Process::start(arguments(options, *folder, *to), to->inherited());
  if (!emulator) {
    return Error{fmt::format("{} QEMU is in the package qemu-system-x86.", emulator.message())};
  }
  to->close_theirs();
  if (options.confine) {
    if (const auto confined = options.confine(emulator->number()); !confined) return confined.error();
  }
  if (const auto made = server.create_device(*options.model, options.device); !made) return made.error();
  poke_host_bridge(machine, server.device().config().ggc());
  server.set_machine(machine);
  Starter starter(to->monitor.ours, *emulator);
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
