#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "file.h"

namespace halogen::vm {
namespace {

// Runs in the child, so it makes only calls that are allowed between fork and exec.
[[noreturn]] void become(char* const* words, const std::vector<int>& kept, int told, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent ended before the request
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  for (const int each : kept) fcntl(each, F_SETFD, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, 0);
  execvp(words[0], words);
  const int problem = errno;
  const ssize_t ignored = write(told, &problem, sizeof(problem));
  _exit(ignored == sizeof(problem) ? 127 : 126);
}

}  // namespace

std::string Ending::to_string() const {
  return status ? fmt::format("with status {}", *status) : fmt::format("by signal {}", signal);
}

Result<Process> Process::start(const std::vector<std::string>& words, const std::vector<int>& kept) {
  std::vector<char*> raw;
  raw.reserve(words.size() + 1);
  for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Error{"cannot create a pipe."};
  const File asked(ends[0]);
  File told(ends[1]);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return Error{"cannot create a process."};
  if (child == 0) become(raw.data(), kept, told.descriptor(), parent);
  told = File();  // closes the pipe
  Process process(child);
  int problem = 0;
  if (!read_all(asked.descriptor(), std::as_writable_bytes(std::span(&problem, 1)))) return process;
  return Error{fmt::format("cannot start {}: {}.", words[0], std::strerror(problem))};
}

Process::Process(Process&& other) noexcept : process_(std::exchange(other.process_, 0)), collected_(other.collected_) {}

Process::~Process() {
  if (process_ <= 0) return;
  end();
  wait();
}

void Process::ask_to_end() const {
  if (process_ > 0) kill(process_, SIGTERM);
}

void Process::end() {
  if (process_ > 0) kill(process_, SIGKILL);
}

Ending Process::ending_of(int status) {
  if (WIFEXITED(status)) return {WEXITSTATUS(status), 0};
  return {std::nullopt, WTERMSIG(status)};
}

bool Process::wait_for(std::chrono::milliseconds time, int stop) {
  constexpr std::chrono::milliseconds kStep{10};
  for (std::chrono::milliseconds waited{0}; waited < time; waited += kStep) {
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == process_) {
      process_ = 0;
      collected_ = status;
      return true;
    }
    pollfd watched{stop, POLLIN, 0};
    if (poll(&watched, stop < 0 ? 0 : 1, static_cast<int>(kStep.count())) > 0) return false;
  }
  return false;
}

Ending Process::wait() {
  int status = collected_.value_or(0);
  while (!collected_ && waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = 0;
  return ending_of(status);
}

}  // namespace halogen::vm
