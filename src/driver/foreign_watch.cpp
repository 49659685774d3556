#include "driver/foreign_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "driver/quiet_thread.h"

namespace halogen::driver {

ForeignWatch::ForeignWatch(std::mutex& mutex, std::function<void()> changed)
    : mutex_(mutex), changed_(std::move(changed)) {}

ForeignWatch::~ForeignWatch() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake();
    thread_.join();
  }
  if (bell_ >= 0) close(bell_);
}

void ForeignWatch::add(const std::shared_ptr<ForeignFence>& fence) {
  if (bell_ < 0) bell_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (bell_ < 0) {  // no way to look after it: better late than never
    fence->signal();
    return;
  }
  fences_.push_back(fence);
  if (!thread_.joinable()) thread_ = start_quietly([this] { run(); });
  wake();
}

void ForeignWatch::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(bell_, &one, sizeof one);
}

void ForeignWatch::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    std::vector<std::shared_ptr<ForeignFence>> looked_at;  // their descriptors stay open meanwhile
    std::vector<pollfd> list{{.fd = bell_, .events = POLLIN, .revents = 0}};
    bool any = false;
    std::erase_if(fences_, [&](const std::weak_ptr<ForeignFence>& each) {
      const std::shared_ptr<ForeignFence> fence = each.lock();
      if (!fence) return true;
      fence->look();
      any = any || fence->done;
      if (fence->done) return true;
      looked_at.push_back(fence);
      list.push_back({.fd = fence->descriptor(), .events = POLLIN, .revents = 0});
      return false;
    });
    if (any) changed_();
    lock.unlock();
    poll(list.data(), list.size(), -1);
    uint64_t rung = 0;
    [[maybe_unused]] const ssize_t got = read(bell_, &rung, sizeof rung);
    lock.lock();
  }
}

}  // namespace halogen::driver
