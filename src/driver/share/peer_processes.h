// Drivers in other processes. Each process that shares something has a random id, which it writes to the shared memory.
// By this id another process can wake it and find out whether it is still alive. Nothing is created before the first
// use.
//
// Without a socket, waiters poll.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "driver/share/lock_patience.h"

namespace halogen::driver {

// A process as described in shared memory. Other processes may have written anything there.
struct PeerProcess {
  uint64_t number = 0;
  uint64_t space = 0;    // inode of the PID namespace
  uint64_t started = 0;  // in ticks since boot, because PIDs are reused
  int process = 0;
  bool has_wake_socket = false;
};

class PeerProcesses {
 public:
  PeerProcesses() = default;
  ~PeerProcesses();
  PeerProcesses(const PeerProcesses&) = delete;
  PeerProcesses& operator=(const PeerProcesses&) = delete;

  LockPatience& lock_patience() { return lock_patience_; }
  const PeerProcess& self();
  const std::string& name() const { return name_; }  // of this process, as shown for fences
  bool wake(uint64_t number);                        // false: no process listens
  // Returns a socket that is readable after a wake-up. -1: no socket.
  int wake_socket() const { return socket_; }
  // Returns whether a wake-up came since the last call. Does not need the driver's lock.
  bool take_wakeups() const;

  bool is_alive(const PeerProcess& peer) { return find_pidfd(peer) != kDead; }
  // Returns false if the process called exec() or lives in another PID namespace and its wake-up socket is gone.
  bool still_listens(const PeerProcess& peer);
  // Returns a descriptor that becomes readable when the process ends. -1: not available. It must not be closed.
  int pidfd_of(const PeerProcess& peer) {
    const int found = find_pidfd(peer);
    return found == kDead ? -1 : found;
  }

 private:
  static constexpr int kDead = -2;
  int find_pidfd(const PeerProcess& peer);

  LockPatience lock_patience_;
  PeerProcess self_;
  std::string name_;
  int socket_ = -1;
  std::map<uint64_t, int> pidfds_;
};

}  // namespace halogen::driver
