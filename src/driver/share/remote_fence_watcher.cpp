#include "driver/share/remote_fence_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "driver/core/quiet_thread.h"
#include "driver/share/private_descriptor.h"

namespace halogen::driver {

ForeignWatch::ForeignWatch(std::mutex& mutex, Neighbours& neighbours, std::function<void()> changed)
    : mutex_(mutex), neighbours_(neighbours), changed_(std::move(changed)) {}

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

void ForeignWatch::add(const std::shared_ptr<WatchedFence>& fence) {
  fences_.push_back(fence);
  listen();
  if (bell_ < 0) {  // no way to look after it: better early than never
    fences_.pop_back();
    fence->signal();
    return;
  }
  wake();
}

void ForeignWatch::listen() {
  if (bell_ < 0) bell_ = keep_private(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (bell_ < 0 || thread_.joinable()) return;
  neighbours_.self();
  thread_ = start_quietly([this] { run(); });
}

void ForeignWatch::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(bell_, &one, sizeof one);
}

void ForeignWatch::run() {
  constexpr int kPatient = 1000, kDeaf = 10;  // milliseconds, for what nobody tells
  std::unique_lock lock(mutex_);
  bool rang = false;
  while (!stop_) {
    std::vector<std::shared_ptr<WatchedFence>> looked_at;  // their descriptors stay open meanwhile
    std::vector<pollfd> list{{.fd = bell_, .events = POLLIN, .revents = 0},
                             {.fd = neighbours_.bell(), .events = POLLIN, .revents = 0}};
    const bool deaf = neighbours_.bell() < 0;
    bool any = rang || deaf;
    int timeout = deaf ? kDeaf : -1;
    for (const std::weak_ptr<WatchedFence>& each : std::exchange(fences_, {})) {
      const std::shared_ptr<WatchedFence> fence = each.lock();
      if (!fence) continue;
      fence->look();
      any = any || fence->done;
      if (fence->done) continue;
      fences_.push_back(fence);
      looked_at.push_back(fence);
      for (const int descriptor : {fence->descriptor(), fence->life()}) {
        const auto same = [&](const pollfd& other) { return other.fd == descriptor; };
        if (descriptor < 0 || std::any_of(list.begin(), list.end(), same)) continue;
        list.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
      }
      if (fence->needs_patience() && !deaf) timeout = kPatient;
    }
    if (any) changed_();
    lock.unlock();
    poll(list.data(), list.size(), timeout);
    uint64_t word = 0;
    [[maybe_unused]] const ssize_t got = read(bell_, &word, sizeof word);
    rang = neighbours_.take_ring();
    lock.lock();
  }
}

}  // namespace halogen::driver
