// Watches fences of other processes. A thread sleeps until a fence's pipe becomes readable, a peer sends a wake-up, or
// a peer ends. It starts when the first object is shared.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "driver/share/peer_processes.h"
#include "driver/share/shared_fences.h"

namespace halogen::driver {

class RemoteFenceWatcher {
 public:
  // `changed` is called with the lock held, after fences were signalled or a wake-up came.
  RemoteFenceWatcher(std::mutex& mutex, PeerProcesses& peers, std::function<void()> changed);
  ~RemoteFenceWatcher();
  RemoteFenceWatcher(const RemoteFenceWatcher&) = delete;
  RemoteFenceWatcher& operator=(const RemoteFenceWatcher&) = delete;

  // Call with the lock held.
  void add(const std::shared_ptr<WatchedFence>& fence);
  void listen();  // starts to receive wake-ups of peers

 private:
  void run();
  void wake() const;

  std::mutex& mutex_;
  PeerProcesses& peers_;
  std::function<void()> changed_;
  std::vector<std::weak_ptr<WatchedFence>> fences_;
  int wake_fd_ = -1;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace halogen::driver
