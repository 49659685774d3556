// epoll(7) on shared buffers, which the host refuses, and on sync files, which are pipes for the host. They are kept in
// a list here instead of the host's set, and polled together with the set.
//
// Not supported: edge triggering (EPOLLET is ignored); a waiting thread does not see what another thread adds.
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "driver/gem/file_key.h"
#include "next.h"
#include "paths.h"
#include "polling.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::driver::FileKey;
using halogen::driver::key_of;
using halogen::shim::mark_of;
using halogen::shim::Paths;

namespace {

struct Interest {
  int descriptor;
  FileKey file;
  epoll_event event;
};
struct Sets {
  std::mutex guard;
  std::map<int, std::vector<Interest>> all;  // by the descriptor of the set
};
// Never destroyed: programs wait in exit handlers.
Sets& sets() {
  static Sets* const made = new Sets;
  return *made;
}
std::atomic<bool> any_set{false};

int refuse(int error) {
  errno = error;
  return -1;
}

bool is_watched(int descriptor) {
  const int mark = Paths::get() == nullptr ? 0 : mark_of(descriptor);
  return mark == halogen::driver::kSharedBufferMark || mark == halogen::driver::kSyncFileMark;
}

int control(int set, int operation, int descriptor, const epoll_event* event) {
  const std::optional<FileKey> file = key_of(descriptor);
  if (fcntl(set, F_GETFD) < 0 || !file) return refuse(EBADF);
  if (operation != EPOLL_CTL_DEL && event == nullptr) return refuse(EFAULT);
  const std::lock_guard lock(sets().guard);
  std::vector<Interest>& list = sets().all[set];
  const auto known = std::find_if(list.begin(), list.end(), [&](const Interest& each) {
    return each.descriptor == descriptor && each.file == *file;
  });
  switch (operation) {
    case EPOLL_CTL_ADD:
      if (known != list.end()) return refuse(EEXIST);
      list.push_back({descriptor, *file, *event});
      any_set = true;
      return 0;
    case EPOLL_CTL_MOD:
      if (known == list.end()) return refuse(ENOENT);
      known->event = *event;
      return 0;
    case EPOLL_CTL_DEL:
      if (known == list.end()) return refuse(ENOENT);
      list.erase(known);
      return 0;
    default:
      return refuse(EINVAL);
  }
}

// Returns our descriptors of this set that are still open.
std::vector<Interest> interests_of(int set) {
  if (!any_set) return {};
  const std::lock_guard lock(sets().guard);
  const auto found = sets().all.find(set);
  if (found == sets().all.end()) return {};
  std::erase_if(found->second, [](const Interest& each) { return key_of(each.descriptor) != each.file; });
  return found->second;
}

void disarm(int set, const Interest& shot) {
  const std::lock_guard lock(sets().guard);
  for (Interest& each : sets().all[set]) {
    if (each.descriptor == shot.descriptor && each.file == shot.file) each.event.events &= EPOLLONESHOT;
  }
}

timespec from_milliseconds(int milliseconds) {
  return {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1'000'000L};
}

// Returns events of the host's set without waiting, then ours.
int wait_for_both(int set, const std::vector<Interest>& ours, epoll_event* events, int most, const timespec* timeout,
                  const sigset_t* signals) {
  const auto real = HALOGEN_NEXT(int(int, epoll_event*, int, int), "epoll_wait");
  if (most <= 0) return refuse(EINVAL);
  std::vector<pollfd> list{{.fd = set, .events = POLLIN, .revents = 0}};
  for (const Interest& each : ours) {
    const auto wanted = static_cast<short>(each.event.events & (POLLIN | POLLOUT));
    list.push_back({.fd = wanted == 0 ? -1 : each.descriptor, .events = wanted, .revents = 0});
  }
  if (const int ready = halogen::shim::poll_as_program(list.data(), list.size(), timeout, signals); ready <= 0) {
    return ready;
  }
  int count = list[0].revents != 0 ? real(set, events, most, 0) : 0;
  if (count < 0) return count;
  for (size_t i = 0; i < ours.size() && count < most; ++i) {
    if (list[i + 1].revents == 0) continue;
    events[count] = ours[i].event;
    events[count++].events = static_cast<uint32_t>(list[i + 1].revents);
    if ((ours[i].event.events & EPOLLONESHOT) != 0) disarm(set, ours[i]);
  }
  return count;
}

}  // namespace

void halogen::shim::forget_epoll(int descriptor) {
  if (!any_set) return;
  const std::lock_guard lock(sets().guard);
  sets().all.erase(descriptor);
}

HALOGEN_EXPORT int epoll_ctl(int set, int operation, int descriptor, epoll_event* event) noexcept {
  if (is_watched(descriptor)) return control(set, operation, descriptor, event);
  return HALOGEN_NEXT(int(int, int, int, epoll_event*), "epoll_ctl")(set, operation, descriptor, event);
}
HALOGEN_EXPORT int epoll_wait(int set, epoll_event* events, int most, int timeout) {
  const std::vector<Interest> ours = interests_of(set);
  if (ours.empty()) return HALOGEN_NEXT(int(int, epoll_event*, int, int), "epoll_wait")(set, events, most, timeout);
  const timespec time = from_milliseconds(timeout);
  return wait_for_both(set, ours, events, most, timeout < 0 ? nullptr : &time, nullptr);
}
HALOGEN_EXPORT int epoll_pwait(int set, epoll_event* events, int most, int timeout, const sigset_t* signals) {
  const std::vector<Interest> ours = interests_of(set);
  if (ours.empty()) {
    const auto real = HALOGEN_NEXT(int(int, epoll_event*, int, int, const sigset_t*), "epoll_pwait");
    return real(set, events, most, timeout, signals);
  }
  const timespec time = from_milliseconds(timeout);
  return wait_for_both(set, ours, events, most, timeout < 0 ? nullptr : &time, signals);
}
HALOGEN_EXPORT int epoll_pwait2(int set, epoll_event* events, int most, const timespec* timeout,
                                const sigset_t* signals) {
  const std::vector<Interest> ours = interests_of(set);
  if (ours.empty()) {
    const auto real = HALOGEN_NEXT(int(int, epoll_event*, int, const timespec*, const sigset_t*), "epoll_pwait2");
    return real(set, events, most, timeout, signals);
  }
  return wait_for_both(set, ours, events, most, timeout, signals);
}
