// Looks after fences of other processes: a thread that sleeps until one of their pipes can be read. It starts with the
// first such fence.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "driver/sync_file.h"

namespace halogen::driver {

class ForeignWatch {
 public:
  // `changed` is called with the lock held, after fences were signalled.
  ForeignWatch(std::mutex& mutex, std::function<void()> changed);
  ~ForeignWatch();
  ForeignWatch(const ForeignWatch&) = delete;
  ForeignWatch& operator=(const ForeignWatch&) = delete;

  void add(const std::shared_ptr<ForeignFence>& fence);  // with the lock held

 private:
  void run();
  void wake() const;

  std::mutex& mutex_;
  std::function<void()> changed_;
  std::vector<std::weak_ptr<ForeignFence>> fences_;
  int bell_ = -1;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace halogen::driver
