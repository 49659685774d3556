// Looks after fences of other processes: a thread that sleeps until one of their pipes can be read, another process
// rings or one ends. It starts with the first thing that is shared.
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
  // `changed` is called with the lock held, after fences were signalled or somebody rang.
  RemoteFenceWatcher(std::mutex& mutex, PeerProcesses& peers, std::function<void()> changed);
  ~RemoteFenceWatcher();
  RemoteFenceWatcher(const RemoteFenceWatcher&) = delete;
  RemoteFenceWatcher& operator=(const RemoteFenceWatcher&) = delete;

  // With the lock held.
  void add(const std::shared_ptr<WatchedFence>& fence);
  void listen();  // to others who ring

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
