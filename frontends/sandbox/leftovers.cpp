#include "sandbox/leftovers.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace halogen::sandbox {
namespace {

// Runs in the child, so it makes only calls that are allowed after a fork.
[[noreturn]] void remove_at_end(int pipe, const std::vector<std::string>& files, const std::string& folder) {
  ::setsid();  // signals of a terminal end the parent, not this process
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_IGN);
  if (pipe != 0) ::dup2(pipe, 0);
  ::close_range(1, ~0u, 0);  // the parent's pipes must not stay open after it ends
  char byte = 0;
  while (::read(0, &byte, 1) < 0 && errno == EINTR) {
  }
  for (const std::string& file : files) ::unlink(file.c_str());
  if (!folder.empty()) ::rmdir(folder.c_str());
  ::_exit(0);
}

}  // namespace

Result<Leftovers> Leftovers::watch(const std::vector<std::string>& files, const std::string& folder) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error{fmt::format("cannot create a pipe: {}.", std::strerror(errno))};
  }
  const pid_t child = ::fork();
  if (child == 0) remove_at_end(ends[0], files, folder);
  ::close(ends[0]);
  if (child > 0) return Leftovers(child, ends[1]);
  ::close(ends[1]);
  return Error{fmt::format("cannot create a process: {}.", std::strerror(errno))};
}

Leftovers::Leftovers(Leftovers&& other) noexcept
    : process_(std::exchange(other.process_, 0)), pipe_(std::exchange(other.pipe_, -1)) {}

Leftovers::~Leftovers() {
  if (pipe_ >= 0) ::close(pipe_);
  while (process_ > 0 && ::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace halogen::sandbox
