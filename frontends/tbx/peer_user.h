// The user behind a connection. A unix socket reports it; for TCP on this machine, the host kernel's connection table
// does, because clients of the protocol cannot send anything that would prove it.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <optional>
#include <string_view>

#include "base/result.h"

namespace halogen::tbx {

class PeerUsers {
 public:
  // Opens the tables, which stay open because a confined process cannot open them later.
  static Result<PeerUsers> open();
  PeerUsers(PeerUsers&& other) noexcept;
  PeerUsers& operator=(PeerUsers&&) = delete;
  ~PeerUsers();

  // Returns the user of the peer of a connected socket (IPv4 or unix). No value: the user is not known, or the peer has
  // closed its socket, which then has no user.
  std::optional<uid_t> of(int socket) const;

 private:
  PeerUsers(int table, int table6) : table_(table), table6_(table6) {}

  int table_;   // /proc/net/tcp
  int table6_;  // /proc/net/tcp6; -1: the host has no IPv6
};

// Returns the user of the socket that is bound to `local` and connected to `remote`. `table`: the text of
// /proc/net/tcp, or of /proc/net/tcp6, which lists IPv6 sockets with IPv4-mapped addresses. A socket that its process
// has closed is listed as user 0 without an inode, and is skipped.
std::optional<uid_t> user_in_table(std::string_view table, const sockaddr_in& local, const sockaddr_in& remote);

}  // namespace halogen::tbx
