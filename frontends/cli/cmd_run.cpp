// halogen run: runs a program that sees the device through the DRM interface.
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <elf.h>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "commands.h"
#include "counters_option.h"
#include "driver/core/tracepoints.h"
#include "executor_option.h"
#include "reports.h"
#include "settings.h"
#include "tree.h"

namespace halogen::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string device;
  std::string report;
  std::string trace;
  std::string events;
  std::string frames;
  driver::CounterFileOptions counters;
  std::string executor;
  unsigned threads = 0;
  bool check_rules = false;
  std::vector<std::string> command;
};

int fail(const std::string& sentence) {
  fmt::print(stderr, "halogen run: {}\n", sentence);
  return kExitUse;
}

// Returns the file that a shell would start. Empty: none.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = getenv("PATH");
  std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
  for (size_t start = 0; start <= folders.size();) {
    const size_t end = std::min(folders.find(':', start), folders.size());
    const std::string folder = folders.substr(start, end - start);
    std::string file = (folder.empty() ? "." : folder) + "/" + name;
    struct stat info = {};
    if (access(file.c_str(), X_OK) == 0 && stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode)) return file;
    start = end + 1;
  }
  return {};
}

// Returns why a library cannot be preloaded into this program. Empty: it can, or it is unknown.
std::string refusal(const std::string& program) {
  struct stat info = {};
  if (stat(program.c_str(), &info) != 0) return {};
  const bool changes_user = (info.st_mode & S_ISUID) != 0 && info.st_uid != geteuid();
  const bool changes_group = (info.st_mode & S_ISGID) != 0 && (info.st_mode & S_IXGRP) != 0 && info.st_gid != getegid();
  if (changes_user || changes_group) return "runs as another user (setuid), so the library cannot be preloaded";
  std::ifstream in(program, std::ios::binary);
  Elf64_Ehdr header{};
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!in || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};  // a script
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "is a program for another CPU architecture";
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    in.seekg(static_cast<std::streamoff>(header.e_phoff + uint64_t{i} * header.e_phentsize));
    in.read(reinterpret_cast<char*>(&part), sizeof part);
    if (!in || part.p_type == PT_INTERP) return {};
  }
  return "is statically linked, so the library cannot be preloaded";
}

fs::path library() {
  std::error_code error;
  const fs::path tool = fs::read_symlink("/proc/self/exe", error);
  return tool.parent_path().parent_path() / "lib" / "libhalogen-drm.so";
}

void set_environment(const Options& options, const std::string& tree, const fs::path& preload) {
  std::string libraries = preload.string();
#ifdef HALOGEN_SANITIZER_LIBRARY
  libraries = std::string(HALOGEN_SANITIZER_LIBRARY) + ":" + libraries;  // must come first
#endif
  if (const char* const before = getenv("LD_PRELOAD"); before != nullptr && *before != '\0') {
    libraries += std::string(":") + before;
  }
  setenv("LD_PRELOAD", libraries.c_str(), 1);
  setenv(shim::kDeviceVariable, options.device.c_str(), 1);
  setenv(shim::kTreeVariable, tree.c_str(), 1);
  const auto set_file = [](const char* variable, const std::string& file) {
    if (file.empty()) {
      unsetenv(variable);
    } else {
      setenv(variable, fs::absolute(file).c_str(), 1);  // the program may change its working folder
    }
  };
  set_file(shim::kReportVariable, options.report);
  set_file(shim::kTraceVariable, options.trace);
  set_file(shim::kEventsVariable, options.events);
  set_file(shim::kFramesVariable, options.frames);
  set_counters_environment(options.counters);
  if (!options.executor.empty()) setenv(shim::kExecutorVariable, options.executor.c_str(), 1);
  if (options.check_rules) setenv(shim::kRulesVariable, "1", 1);
  if (options.threads != 0) setenv(shim::kThreadsVariable, std::to_string(options.threads).c_str(), 1);
}

pid_t child = -1;
void pass_on(int signal) {
  if (child > 0) kill(child, signal);
}

// Returns the program's status, or 128 + the signal that ended it.
int start_and_wait(const std::vector<std::string>& command, const std::string& program) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  struct sigaction action = {};
  action.sa_handler = pass_on;
  sigset_t ours, before;
  sigemptyset(&ours);
  for (const int number : {SIGTERM, SIGHUP, SIGINT, SIGQUIT}) sigaddset(&ours, number);
  sigprocmask(SIG_BLOCK, &ours, &before);
  posix_spawnattr_t start;
  posix_spawnattr_init(&start);
  sigset_t restored;
  sigemptyset(&restored);
  sigaddset(&restored, SIGPIPE);
  posix_spawnattr_setsigmask(&start, &before);
  posix_spawnattr_setsigdefault(&start, &restored);
  posix_spawnattr_setflags(&start, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t started = -1;
  const int error = posix_spawn(&started, program.c_str(), nullptr, &start, words.data(), environ);
  posix_spawnattr_destroy(&start);
  if (error != 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    fmt::print(stderr, "halogen run: cannot start {}: {}.\n", program, std::strerror(error));
    return error == ENOENT ? 127 : 126;
  }
  child = started;
  // The terminal also sends its signals to the program; the others must be forwarded.
  for (const int number : {SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  signal(SIGINT, SIG_IGN);
  signal(SIGQUIT, SIG_IGN);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail(std::strerror(errno));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Prints the results of the recorded traces. False: one does not replay to the same memory.
bool say_recorded(const std::string& tree) {
  std::ifstream in(tree + "/" + shim::kRecordedFile);
  bool good = true;
  for (std::string line; std::getline(in, line);) {
    good = good && line.front() != '!';
    fmt::print(stderr, "halogen run: {}\n", line.front() == '!' ? line.substr(2) : line);
  }
  return good;
}

int run(const Options& options) {
  if (options.command.empty()) return fail("no program given; write it after --.");
  const spec::DeviceModel* const model = spec::find_device(options.device);
  if (model == nullptr) {
    std::string small = options.device;
    for (char& each : small) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    if (spec::find_device(small) != nullptr) {
      return fail(fmt::format("unknown device \"{}\"; use {}.", options.device, small));
    }
    return fail(fmt::format("unknown device \"{}\"; run \"halogen devices\" for a list.", options.device));
  }
  if (const auto executor = executor_of(options.executor); !executor) return fail(executor.message());
  const std::string program = find_program(options.command.front());
  if (program.empty() || access(program.c_str(), F_OK) != 0) {
    fmt::print(stderr, "halogen run: program {} not found.\n", options.command.front());
    return 127;
  }
  if (const std::string reason = refusal(program); !reason.empty()) {
    return fail(fmt::format("{} {}.", program, reason));
  }
  const fs::path preload = library();
  if (!fs::exists(preload)) {
    return fail(fmt::format("{} does not exist; build it with scripts/build.sh.", preload.string()));
  }
  if (!options.report.empty()) {
    // A program that opens no device leaves an empty report. A file that cannot be written is reported now.
    if (const auto done = write_report(options.report, {}, model->name); !done) return fail(done.message());
  }
  if (!options.frames.empty()) {
    std::error_code error;
    fs::create_directories(options.frames, error);
    if (access(options.frames.c_str(), W_OK) != 0 || !fs::is_directory(options.frames, error)) {
      return fail(fmt::format("{}: not a writable folder.", options.frames));
    }
  }
  if (!options.trace.empty()) {
    if (!shim::can_record(*model)) {
      return fail(
          fmt::format("--trace is not supported on {}: its global table is outside the register BAR.", model->name));
    }
    if (!std::ofstream(options.trace)) return fail(fmt::format("{}: cannot write the file.", options.trace));
  }
  if (!options.events.empty()) {  // the content while nothing has happened
    std::ofstream out(options.events);
    out << driver::kEmptyEvents;
    if (!out.flush()) return fail(fmt::format("{}: cannot write the file.", options.events));
  }
  if (!options.counters.file.empty() && options.counters.file == options.events) {
    return fail(fmt::format("{}: --events and --counters need different files.", options.events));
  }
  if (const auto done = begin_counters(*model, options.counters); !done) return fail(done.message());
  const auto tree = shim::make_private_tree(*model);
  if (!tree) return fail(tree.message());
  const int held = shim::hold_tree(*tree);
  set_environment(options, *tree, preload);
  int status = start_and_wait(options.command, program);
  if (!options.trace.empty() && !say_recorded(*tree) && status == 0) status = kExitFault;
  if (held >= 0) close(held);
  shim::remove_unused_tree(*tree);  // children of the program may still run
  return status;
}

}  // namespace

void add_run(CLI::App& app, int& status, const std::vector<std::string>& behind) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("run", "run a program that sees the device as /dev/dri/renderD128 and card0");
  command->add_option("--device", options->device, "device name")->required();
  command->add_option("--report", options->report, "write the fidelity report (JSON); further processes append .PID")
      ->type_name("FILE");
  command->add_option("--trace", options->trace, "record the run as an AUB trace; further processes append .PID")
      ->type_name("FILE");
  command->add_option("--events", options->events, "record requests, fences and flips as trace events for Perfetto")
      ->type_name("FILE");
  command->add_option("--frames", options->frames, "write card0's screen as a PNG file after each change")
      ->type_name("FOLDER");
  add_counters_option(*command, options->counters);
  add_executor_option(*command, options->executor);
  command->add_option("--threads", options->threads, "host threads for the device's work (default: one per CPU)")
      ->check(CLI::Range(1, 64))
      ->type_name("N");
  command->add_flag("--check-rules", options->check_rules,
                    "report reads and writes that a forgotten resolve makes wrong (docs/compression.md)");
  command->footer(
      "Usage: halogen run --device D [OPTIONS] -- PROGRAM [ARGUMENTS]\n"
      "Exits with the program's status, or 128 + the number of the\n"
      "signal that ended it. docs/run-programs.md tells how to run GL, Vulkan and OpenCL programs.");
  command->allow_extras();
  command->callback([options, behind, command, &status] {
    if (const std::vector<std::string> others = command->remaining(); !others.empty()) {
      const std::string& first = others.front();
      status = fail(first.starts_with("-") ? fmt::format("unknown option {}.", first)
                                           : fmt::format("write the program and its arguments after --: -- {}", first));
      return;
    }
    options->command = behind;
    status = run(*options);
  });
}

}  // namespace halogen::cli
