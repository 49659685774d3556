// Drivers of other processes. Each that shares something has a number that nobody can guess, which stands in the memory
// that they share; by it any other can wake it, and see whether it still lives. Nothing happens before the first use.
//
// Where no socket can be had, whoever waits looks again from time to time.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace halogen::driver {

// As it stands in shared memory: others may have written anything there.
struct PeerProcess {
  uint64_t number = 0;
  uint64_t space = 0;    // of process numbers
  uint64_t started = 0;  // in ticks since the host's start: process numbers are used again
  int process = 0;
  bool has_wake_socket = false;
};

class PeerProcesses {
 public:
  PeerProcesses() = default;
  ~PeerProcesses();
  PeerProcesses(const PeerProcesses&) = delete;
  PeerProcesses& operator=(const PeerProcesses&) = delete;

  const PeerProcess& self();
  const std::string& name() const { return name_; }  // of this process, as fences tell it
  bool wake(uint64_t number);                        // false: nobody is there to hear it
  // Can be read when somebody rang. -1: there is none.
  int wake_socket() const { return socket_; }
  // True: somebody rang since the last look. May be called without the driver's lock.
  bool take_wakeups() const;

  bool is_alive(const PeerProcess& peer) { return find_pidfd(peer) != kDead; }
  // The process may live on as another program, or where its number means nothing here: then nobody hears its bell.
  bool still_listens(const PeerProcess& peer);
  // A descriptor that can be read when it ends; -1: it cannot be told. Stays ours.
  int pidfd_of(const PeerProcess& peer) {
    const int found = find_pidfd(peer);
    return found == kDead ? -1 : found;
  }

 private:
  static constexpr int kDead = -2;
  int find_pidfd(const PeerProcess& peer);

  PeerProcess self_;
  std::string name_;
  int socket_ = -1;
  std::map<uint64_t, int> pidfds_;
};

}  // namespace halogen::driver
