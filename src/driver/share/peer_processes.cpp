#include "driver/share/peer_processes.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "driver/share/private_descriptor.h"

namespace halogen::driver {
namespace {

constexpr size_t kMaxKnown = 64;

// Writes the abstract socket name of a peer, which is not a file.
socklen_t name_of(uint64_t number, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("halogen-fences/{:016x}", number);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

// Returns the start time of a process. 0: it does not exist or is not visible.
uint64_t start_of(int process) {
  std::FILE* const file = std::fopen(fmt::format("/proc/{}/stat", process).c_str(), "re");
  if (file == nullptr) return 0;
  char text[1024];
  const size_t length = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  const std::string_view all(text, length);
  size_t at = all.rfind(')');  // the program's name may contain any character
  constexpr int kStart = 20;   // number of the field after the name
  for (int field = 0; field < kStart && at != std::string_view::npos; ++field) at = all.find(' ', at + 1);
  if (at == std::string_view::npos) return 0;
  uint64_t value = 0;
  for (++at; at < all.size() && all[at] >= '0' && all[at] <= '9'; ++at) {
    value = value * 10 + static_cast<uint64_t>(all[at] - '0');
  }
  return value;
}

}  // namespace

PeerProcesses::~PeerProcesses() {
  for (const auto& [number, pidfd] : pidfds_) {
    if (pidfd >= 0) close(pidfd);
  }
  if (socket_ >= 0) close(socket_);
}

const PeerProcess& PeerProcesses::self() {
  if (self_.number != 0) return self_;
  while (self_.number == 0) {
    if (getrandom(&self_.number, sizeof self_.number, 0) != static_cast<ssize_t>(sizeof self_.number)) {
      self_.number = static_cast<uint64_t>(getpid()) << 32 | reinterpret_cast<uintptr_t>(this) >> 4;
    }
  }
  self_.process = getpid();
  self_.started = start_of(self_.process);
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) == 0) self_.space = space.st_ino;
  name_ = fmt::format("{}[{}]", program_invocation_short_name, getpid());
  socket_ = keep_private(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address;
  const socklen_t length = name_of(self_.number, address);
  if (socket_ >= 0 && bind(socket_, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
    close(socket_);
    socket_ = -1;
  }
  self_.has_wake_socket = socket_ >= 0;
  return self_;
}

// Wakes a peer. If its socket is full, the peer has unread wake-ups and will read them. A peer that has exited needs
// no wake-up.
bool PeerProcesses::wake(uint64_t number) {
  self();
  sockaddr_un address;
  const socklen_t length = name_of(number, address);
  const char word = 'r';
  if (socket_ < 0) return true;
  const ssize_t sent =
      sendto(socket_, &word, 1, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
  return sent >= 0 || errno != ECONNREFUSED;
}

bool PeerProcesses::still_listens(const PeerProcess& peer) {
  if (!peer.has_wake_socket || wake(peer.number)) return true;
  const auto known = pidfds_.find(peer.number);
  if (known != pidfds_.end() && known->second >= 0) close(known->second);
  pidfds_[peer.number] = kDead;
  return false;
}

bool PeerProcesses::take_wakeups() const {
  constexpr int kMax = 1000;  // bounds the work if a peer sends without end
  bool woken = false;
  char word = 0;
  for (int i = 0; socket_ >= 0 && i < kMax && recv(socket_, &word, 1, MSG_DONTWAIT) >= 0; ++i) woken = true;
  return woken;
}

int PeerProcesses::find_pidfd(const PeerProcess& peer) {
  const PeerProcess& here = self();
  if (peer.number == here.number) return -1;
  const auto known = pidfds_.find(peer.number);
  if (known != pidfds_.end()) {
    pollfd end{.fd = known->second, .events = POLLIN, .revents = 0};
    if (known->second >= 0 && poll(&end, 1, 0) == 1) {
      close(known->second);
      known->second = kDead;
    }
    return known->second;
  }
  if (peer.space != here.space || peer.process <= 0) return -1;
  if (pidfds_.size() >= kMaxKnown) {  // the ids come from other processes: their number is limited
    for (const auto& [number, pidfd] : pidfds_) {
      if (pidfd >= 0) close(pidfd);
    }
    pidfds_.clear();
  }
  int pidfd = keep_private(static_cast<int>(syscall(SYS_pidfd_open, peer.process, 0)));
  const bool gone = pidfd < 0 && errno == ESRCH;
  const uint64_t started = gone ? 0 : start_of(peer.process);
  pollfd end{.fd = pidfd, .events = POLLIN, .revents = 0};
  if (gone || (started != 0 && started != peer.started) || (pidfd >= 0 && poll(&end, 1, 0) == 1)) {
    if (pidfd >= 0) close(pidfd);
    pidfd = kDead;
  }
  pidfds_[peer.number] = pidfd;
  return pidfd;
}

}  // namespace halogen::driver
