#include "driver/share/remote_fence_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/own_thread.h"
#include "driver/share/private_descriptor.h"

namespace halogen::driver {

RemoteFenceWatcher::RemoteFenceWatcher(std::mutex& mutex, PeerProcesses& peers, std::function<void()> changed)
    : mutex_(mutex), peers_(peers), changed_(std::move(changed)) {}

RemoteFenceWatcher::~RemoteFenceWatcher() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake();
    thread_.join();
  }
  if (wake_fd_ >= 0) close(wake_fd_);
}

void RemoteFenceWatcher::add(const std::shared_ptr<WatchedFence>& fence) {
  fences_.push_back(fence);
  listen();
  if (wake_fd_ < 0) {  // the fence cannot be watched: signal it early rather than never
    fences_.pop_back();
    fence->signal();
    return;
  }
  wake();
}

void RemoteFenceWatcher::listen() {
  if (wake_fd_ < 0) wake_fd_ = keep_private(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (wake_fd_ < 0 || thread_.joinable()) return;
  peers_.self();
  thread_ = start_own_thread([this] { run(); });
}

void RemoteFenceWatcher::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof one);
}

void RemoteFenceWatcher::run() {
  constexpr int kStatePoll = 1000, kNoSocketPoll = 10;  // milliseconds between polls of state that sends no wake-up
  std::unique_lock lock(mutex_);
  bool woken = false;
  while (!stop_) {
    // Fences are not kept during poll(): it ends at their last use elsewhere. A number that another file gets meanwhile
    // wakes this thread once too often.
    std::vector<pollfd> list{{.fd = wake_fd_, .events = POLLIN, .revents = 0},
                             {.fd = peers_.wake_socket(), .events = POLLIN, .revents = 0}};
    const bool no_socket = peers_.wake_socket() < 0;
    bool any = woken || no_socket;
    int timeout = no_socket ? kNoSocketPoll : -1;
    for (size_t i = 0; i < fences_.size(); ++i) {  // look() may add to the list
      const std::shared_ptr<WatchedFence> fence = fences_[i].lock();
      if (!fence) continue;
      fence->look();
      any = any || fence->done;
      if (fence->done) continue;
      for (const int descriptor : {fence->descriptor(), fence->process_fd()}) {
        const auto same = [&](const pollfd& other) { return other.fd == descriptor; };
        if (descriptor < 0 || std::any_of(list.begin(), list.end(), same)) continue;
        list.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
      }
      if (fence->needs_polling() && !no_socket) timeout = kStatePoll;
    }
    if (any) changed_();
    std::erase_if(fences_, [](const std::weak_ptr<WatchedFence>& each) {
      const std::shared_ptr<WatchedFence> fence = each.lock();
      return !fence || fence->done;
    });
    lock.unlock();
    poll(list.data(), list.size(), timeout);
    uint64_t word = 0;
    [[maybe_unused]] const ssize_t got = read(wake_fd_, &word, sizeof word);
    woken = peers_.take_wakeups();
    lock.lock();
  }
}

}  // namespace halogen::driver
