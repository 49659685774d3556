#include "tbx/peer_user.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace halogen::tbx {
namespace {

// Columns of /proc/net/tcp (Linux, Documentation/networking/proc_net_tcp.rst), divided by spaces.
constexpr size_t kLocal = 1, kRemote = 2, kUser = 7, kInode = 9, kColumns = 10;

// Splits the first columns of a line. False: the line has fewer.
bool split(std::string_view line, std::array<std::string_view, kColumns>& columns) {
  for (std::string_view& column : columns) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    column = line.substr(0, line.find(' '));
    if (column.empty()) return false;
    line.remove_prefix(column.size());
  }
  return true;
}

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Returns an address as the table prints it: bytes of the network as a word of this machine, the port as a number.
std::string printed(const sockaddr_in& address) {
  return fmt::format("{:08X}:{:04X}", address.sin_addr.s_addr, ntohs(address.sin_port));
}

// Returns the same for a mapped address in an IPv6 table: ::ffff:a.b.c.d, as four words.
std::string printed_mapped(const sockaddr_in& address) {
  return fmt::format("{:016X}{:08X}{}", 0, htonl(0xffff), printed(address));
}

std::string text_of(int table) {
  std::string text;
  std::array<char, 16384> part;
  for (;;) {
    const ssize_t got = ::pread(table, part.data(), part.size(), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), static_cast<size_t>(got));
  }
}

}  // namespace

std::optional<uid_t> user_in_table(std::string_view table, const sockaddr_in& local, const sockaddr_in& remote) {
  const std::array<std::string, 2> locals{printed(local), printed_mapped(local)};
  const std::array<std::string, 2> remotes{printed(remote), printed_mapped(remote)};
  while (!table.empty()) {
    const std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    std::array<std::string_view, kColumns> columns;
    if (!split(line, columns)) continue;
    const bool here = (columns[kLocal] == locals[0] && columns[kRemote] == remotes[0]) ||
                      (columns[kLocal] == locals[1] && columns[kRemote] == remotes[1]);
    if (!here) continue;
    const auto inode = number<uint64_t>(columns[kInode]);
    if (inode && *inode != 0) return number<uid_t>(columns[kUser]);
  }
  return {};
}

Result<PeerUsers> PeerUsers::open() {
  const int table = ::open("/proc/self/net/tcp", O_RDONLY | O_CLOEXEC);
  if (table < 0) {
    return Error{
        fmt::format("cannot read /proc/net/tcp, which names the users of connections: {}; mount /proc, use a "
                    "unix socket, or accept other users (--any-user).",
                    std::strerror(errno))};
  }
  return PeerUsers(table, ::open("/proc/self/net/tcp6", O_RDONLY | O_CLOEXEC));
}

PeerUsers::PeerUsers(PeerUsers&& other) noexcept
    : table_(std::exchange(other.table_, -1)), table6_(std::exchange(other.table6_, -1)) {}

PeerUsers::~PeerUsers() {
  for (const int table : {table_, table6_}) {
    if (table >= 0) ::close(table);
  }
}

std::optional<uid_t> PeerUsers::of(int socket) const {
  sockaddr_storage place{};
  socklen_t bytes = sizeof place;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&place), &bytes) != 0) return {};
  if (place.ss_family == AF_UNIX) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return {};
    return peer.uid;
  }
  if (place.ss_family != AF_INET) return {};
  sockaddr_in ours{};
  sockaddr_in theirs{};
  std::memcpy(&ours, &place, sizeof ours);
  bytes = sizeof theirs;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &bytes) != 0) return {};
  // The tables are read in parts while they change, so that a row can be missed.
  constexpr unsigned kAttempts = 3;
  for (unsigned i = 0; i < kAttempts; ++i) {
    for (const int table : {table_, table6_}) {
      if (table < 0) continue;
      if (const auto user = user_in_table(text_of(table), theirs, ours)) return user;
    }
  }
  return {};
}

}  // namespace halogen::tbx
