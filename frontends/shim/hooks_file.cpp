// Operations on any descriptor, for ours: nodes, streams, sync files, sync objects and shared buffers are sockets,
// pipes and files for the host, and these calls hide that. Programs that close all descriptors must not close the
// driver's own. Descriptors are recognised by their mark alone, so that signal handlers may call.
//
// Not supported: readv(2) and rarer calls.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "descriptors.h"
#include "door.h"
#include "driver/gem/file_key.h"
#include "drop_caches.h"
#include "limit_files.h"
#include "monitor.h"
#include "next.h"
#include "polling.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::driver::kNodeMark;
using halogen::driver::kSharedBufferMark;
using halogen::driver::kStreamMark;
using halogen::driver::kSyncFileMark;
using halogen::driver::kSyncObjectMark;
using halogen::shim::Door;
using halogen::shim::for_each_private;
using halogen::shim::is_ours;
using halogen::shim::is_private;
using halogen::shim::kControlMark;
using halogen::shim::kEventMark;
using halogen::shim::kLimitMark;
using halogen::shim::mark_of;
using halogen::shim::Paths;

int halogen::shim::mark_of(int descriptor) {
  const int error = errno;
  const int mark = fcntl(descriptor, F_GETSIG);
  errno = error;
  const bool known = mark == kNodeMark || mark == kSyncFileMark || mark == kSharedBufferMark ||
                     mark == kSyncObjectMark || mark == kStreamMark || mark == kControlMark || mark == kLimitMark ||
                     mark == kEventMark;
  return known ? mark : 0;
}

namespace {

ssize_t refuse() {
  errno = EINVAL;
  return -1;
}

// A stream can be read only.
ssize_t refuse_write(int mark) {
  errno = mark == kStreamMark ? EBADF : EINVAL;
  return -1;
}

// Reads whole events from a node: as many as are available and fit.
ssize_t read_events(int descriptor, void* into, size_t bytes) {
  auto* const bytes_out = static_cast<char*>(into);
  for (size_t done = 0;;) {
    const int wait = done == 0 ? 0 : MSG_DONTWAIT;
    const int error = errno;
    const ssize_t next = recv(descriptor, nullptr, 0, MSG_PEEK | MSG_TRUNC | wait);
    if (next <= 0 && done == 0) return next;
    if (next <= 0 || static_cast<size_t>(next) > bytes - done) {
      errno = error;
      return static_cast<ssize_t>(done);
    }
    const ssize_t got = recv(descriptor, bytes_out + done, bytes - done, MSG_DONTWAIT);
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (got == 0 || errno != EAGAIN) {
      return done == 0 ? got : static_cast<ssize_t>(done);
    }
  }
}

template <class Real>
ssize_t read_any(const void* caller, int descriptor, void* into, size_t bytes, Real real) {
  const int mark = is_ours(caller) ? 0 : mark_of(descriptor);
  if (mark == 0 || mark == kControlMark || mark == kLimitMark) return real();
  if (mark == kStreamMark) return Door::read_stream(descriptor, into, bytes);
  if (mark == kEventMark) return halogen::shim::read_event(descriptor, into, bytes);
  return mark == kNodeMark ? read_events(descriptor, into, bytes) : refuse();
}

bool cannot_write(const void* caller, int descriptor) {
  return !is_ours(caller) && mark_of(descriptor) != 0;
}

// A node is always at position 0; a shared buffer reports its size only.
off_t seek(const void* caller, int descriptor, off_t offset, int whence, off_t (*real)(int, off_t, int)) {
  const int mark = is_ours(caller) ? 0 : mark_of(descriptor);
  if (mark == kNodeMark) return 0;
  if (mark == kSharedBufferMark && (offset != 0 || (whence != SEEK_SET && whence != SEEK_END))) {
    return static_cast<off_t>(refuse());
  }
  if (mark == kSyncObjectMark || mark == kStreamMark || mark == kEventMark) {
    errno = ESPIPE;
    return -1;
  }
  const off_t place = real(descriptor, offset, whence);
  if (mark != kSharedBufferMark || whence != SEEK_END || place < 0) return place;
  return place - static_cast<off_t>(halogen::driver::Buffer::kBehind);
}

// A shared buffer is readable when all writers are done, and writable when all users are done. Its fences are polled
// instead.
class Fences {
 public:
  Fences(pollfd* list, nfds_t count) : list_(list), count_(count) {
    if (Paths::get() == nullptr) return;
    for (nfds_t i = 0; i < count; ++i) {
      if (list[i].fd < 0 || mark_of(list[i].fd) != kSharedBufferMark) continue;
      if (copy_.empty()) copy_.assign(list, list + count);
      for (const short event : {short{POLLIN}, short{POLLOUT}}) {
        if ((list[i].events & event) == 0) continue;
        const int file = Door::fence_file(list[i].fd, event == POLLOUT);
        if (file < 0) continue;
        copy_.push_back({.fd = file, .events = POLLIN, .revents = 0});
        asked_.push_back({i, event});
      }
      copy_[i].fd = -1;
    }
  }
  ~Fences() {
    for (size_t i = 0; i < asked_.size(); ++i) close(copy_[count_ + i].fd);
  }
  Fences(const Fences&) = delete;
  Fences& operator=(const Fences&) = delete;

  pollfd* list() { return copy_.empty() ? list_ : copy_.data(); }
  nfds_t count() const { return copy_.empty() ? count_ : copy_.size(); }
  int answer(int result) {
    if (copy_.empty() || result < 0) return result;
    for (nfds_t i = 0; i < count_; ++i) list_[i].revents = copy_[i].revents;
    for (size_t i = 0; i < asked_.size(); ++i) {
      if (copy_[count_ + i].revents == 0) continue;
      list_[asked_[i].index].revents = static_cast<short>(list_[asked_[i].index].revents | asked_[i].event);
    }
    int ready = 0;
    for (nfds_t i = 0; i < count_; ++i) ready += list_[i].revents != 0;
    return ready;
  }

 private:
  struct Asked {
    nfds_t index;
    short event;
  };
  pollfd* list_;
  nfds_t count_;
  std::vector<pollfd> copy_;
  std::vector<Asked> asked_;
};

// Returns whether a descriptor belongs to the driver itself. Without a door no descriptor does.
bool is_hidden(const void* caller, int descriptor) {
  if (is_ours(caller) || !Door::is_there()) return false;
  const int error = errno;
  const bool hidden = is_private(descriptor);
  errno = error;
  return hidden;
}

// Closes all descriptors except ours.
int close_all(unsigned first, unsigned last, int flags) {
  const auto real = HALOGEN_NEXT(int(unsigned, unsigned, int), "close_range");
  if (first > last || !Door::is_there()) return real(first, last, flags);
  std::vector<unsigned> kept;
  for_each_private([&](int descriptor) {
    const auto number = static_cast<unsigned>(descriptor);
    if (number >= first && number <= last) kept.push_back(number);
  });
  std::sort(kept.begin(), kept.end());
  for (const unsigned number : kept) {
    if (number > first) {
      if (const int result = real(first, number - 1, flags); result != 0) return result;
    }
    first = number + 1;
  }
  return first <= last ? real(first, last, flags) : 0;
}

// If the device's clock does not follow the host's, time passes for streams of performance counters while a program
// polls them. `timeout`: null for no limit.
void pass_time(const pollfd* list, nfds_t count, const timespec* timeout) {
  constexpr uint64_t kLongest = 1'000'000'000;
  if (!Door::is_there()) return;
  for (nfds_t i = 0; i < count; ++i) {
    if (list[i].fd < 0 || (list[i].events & POLLIN) == 0 || mark_of(list[i].fd) != kStreamMark) continue;
    const uint64_t asked = timeout == nullptr ? kLongest
                                              : static_cast<uint64_t>(timeout->tv_sec) * kLongest +
                                                    static_cast<uint64_t>(timeout->tv_nsec);
    Door::pass_stream_time(list[i].fd, std::min(asked, 100 * kLongest));
  }
}

// The other end of a sync file's pipe is closed after its fence signalled: programs must not see that.
int without_ends(pollfd* list, nfds_t count, int result) {
  for (nfds_t i = 0; result > 0 && i < count; ++i) {
    if ((list[i].revents & POLLHUP) == 0 || mark_of(list[i].fd) != kSyncFileMark) continue;
    list[i].revents = static_cast<short>((list[i].revents & ~POLLHUP) | (list[i].events & POLLIN));
    if (list[i].revents == 0) --result;
  }
  return result;
}

int wait_for(const void* caller, pollfd* list, nfds_t count, int timeout) {
  const auto real = HALOGEN_NEXT(int(pollfd*, nfds_t, int), "poll");
  if (is_ours(caller)) return real(list, count, timeout);
  Fences fences(list, count);
  const timespec time{.tv_sec = timeout / 1000, .tv_nsec = timeout % 1000 * 1'000'000L};
  pass_time(list, count, timeout < 0 ? nullptr : &time);
  return without_ends(list, count, fences.answer(real(fences.list(), fences.count(), timeout)));
}

int wait_for(const void* caller, pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals) {
  const auto real = HALOGEN_NEXT(int(pollfd*, nfds_t, const timespec*, const sigset_t*), "ppoll");
  if (is_ours(caller)) return real(list, count, timeout, signals);
  Fences fences(list, count);
  pass_time(list, count, timeout);
  return without_ends(list, count, fences.answer(real(fences.list(), fences.count(), timeout, signals)));
}

}  // namespace

int halogen::shim::poll_as_program(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals) {
  return wait_for(nullptr, list, count, timeout, signals);
}

namespace {

// Implements select(2) with poll(2), if a shared buffer, a sync file or a stream is in one of the sets.
class Selection {
 public:
  static bool is_needed(int count, std::initializer_list<const fd_set*> sets) {
    if (count <= 0 || count > FD_SETSIZE || Paths::get() == nullptr) return false;
    for (int i = 0; i < count; ++i) {
      const bool asked = std::any_of(sets.begin(), sets.end(), [&](const fd_set* set) { return has(set, i); });
      if (!asked) continue;
      const int mark = mark_of(i);
      if (mark == kSharedBufferMark || mark == kSyncFileMark || mark == kStreamMark) return true;
    }
    return false;
  }

  Selection(int count, fd_set* in, fd_set* out, fd_set* special) : in_(in), out_(out), special_(special) {
    for (int i = 0; i < count; ++i) {
      const int events = (has(in, i) ? POLLIN : 0) | (has(out, i) ? POLLOUT : 0) | (has(special, i) ? POLLPRI : 0);
      if (events != 0) list_.push_back({.fd = i, .events = static_cast<short>(events), .revents = 0});
    }
  }

  int wait(const timespec* timeout, const sigset_t* signals) {
    if (const int result = wait_for(nullptr, list_.data(), list_.size(), timeout, signals); result < 0) return result;
    int ready = 0;
    for (const pollfd& each : list_) {
      if ((each.revents & POLLNVAL) != 0) {
        errno = EBADF;
        return -1;
      }
    }
    for (const pollfd& each : list_) {
      ready += answer(in_, each, POLLIN | POLLHUP | POLLERR) + answer(out_, each, POLLOUT | POLLERR) +
               answer(special_, each, POLLPRI);
    }
    return ready;
  }

 private:
  static bool has(const fd_set* set, int descriptor) { return set != nullptr && FD_ISSET(descriptor, set); }
  static int answer(fd_set* set, const pollfd& each, int events) {
    if (!has(set, each.fd)) return 0;
    if ((each.revents & events) != 0) return 1;
    FD_CLR(each.fd, set);
    return 0;
  }

  fd_set* in_;
  fd_set* out_;
  fd_set* special_;
  std::vector<pollfd> list_;
};

}  // namespace

HALOGEN_EXPORT ssize_t read(int descriptor, void* into, size_t bytes) {
  return read_any(__builtin_return_address(0), descriptor, into, bytes,
                  [&] { return HALOGEN_NEXT(ssize_t(int, void*, size_t), "read")(descriptor, into, bytes); });
}
HALOGEN_EXPORT ssize_t __read_chk(int descriptor, void* into, size_t bytes, size_t room) {
  return read_any(__builtin_return_address(0), descriptor, into, bytes, [&] {
    return HALOGEN_NEXT(ssize_t(int, void*, size_t, size_t), "__read_chk")(descriptor, into, bytes, room);
  });
}
HALOGEN_EXPORT ssize_t write(int descriptor, const void* from, size_t bytes) {
  const int mark = is_ours(__builtin_return_address(0)) ? 0 : mark_of(descriptor);
  if (mark == kControlMark) return halogen::shim::drop_caches(from, bytes);
  if (mark == kLimitMark) return halogen::shim::write_limit(descriptor, from, bytes);
  if (mark != 0) return refuse_write(mark);
  return HALOGEN_NEXT(ssize_t(int, const void*, size_t), "write")(descriptor, from, bytes);
}

HALOGEN_EXPORT ssize_t writev(int descriptor, const iovec* from, int count) {
  if (cannot_write(__builtin_return_address(0), descriptor)) return refuse_write(mark_of(descriptor));
  return HALOGEN_NEXT(ssize_t(int, const iovec*, int), "writev")(descriptor, from, count);
}

HALOGEN_EXPORT off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  return seek(__builtin_return_address(0), descriptor, offset, whence, HALOGEN_NEXT(off_t(int, off_t, int), "lseek"));
}
HALOGEN_EXPORT off64_t lseek64(int descriptor, off64_t offset, int whence) noexcept {
  return seek(__builtin_return_address(0), descriptor, offset, whence, HALOGEN_NEXT(off_t(int, off_t, int), "lseek64"));
}

HALOGEN_EXPORT int poll(pollfd* list, nfds_t count, int timeout) {
  return wait_for(__builtin_return_address(0), list, count, timeout);
}
HALOGEN_EXPORT int __poll_chk(pollfd* list, nfds_t count, int timeout, size_t) {
  return wait_for(__builtin_return_address(0), list, count, timeout);
}
HALOGEN_EXPORT int ppoll(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals) {
  return wait_for(__builtin_return_address(0), list, count, timeout, signals);
}
HALOGEN_EXPORT int __ppoll_chk(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* signals, size_t) {
  return wait_for(__builtin_return_address(0), list, count, timeout, signals);
}

HALOGEN_EXPORT int select(int count, fd_set* in, fd_set* out, fd_set* special, timeval* timeout) {
  if (is_ours(__builtin_return_address(0)) || !Selection::is_needed(count, {in, out, special})) {
    return HALOGEN_NEXT(int(int, fd_set*, fd_set*, fd_set*, timeval*), "select")(count, in, out, special, timeout);
  }
  if (timeout == nullptr) return Selection(count, in, out, special).wait(nullptr, nullptr);
  if (timeout->tv_sec < 0 || timeout->tv_usec < 0) return static_cast<int>(refuse());
  const timespec given{.tv_sec = timeout->tv_sec + timeout->tv_usec / 1'000'000,
                       .tv_nsec = timeout->tv_usec % 1'000'000 * 1000};
  timespec before{}, after{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const int result = Selection(count, in, out, special).wait(&given, nullptr);
  clock_gettime(CLOCK_MONOTONIC, &after);
  // Linux returns the remaining time.
  const int64_t microseconds = (given.tv_sec - (after.tv_sec - before.tv_sec)) * int64_t{1'000'000} +
                               (given.tv_nsec - (after.tv_nsec - before.tv_nsec)) / 1000;
  *timeout = {.tv_sec = microseconds > 0 ? microseconds / 1'000'000 : 0,
              .tv_usec = microseconds > 0 ? microseconds % 1'000'000 : 0};
  return result;
}
HALOGEN_EXPORT int pselect(int count, fd_set* in, fd_set* out, fd_set* special, const timespec* timeout,
                           const sigset_t* signals) {
  if (is_ours(__builtin_return_address(0)) || !Selection::is_needed(count, {in, out, special})) {
    const auto real = HALOGEN_NEXT(int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*), "pselect");
    return real(count, in, out, special, timeout, signals);
  }
  return Selection(count, in, out, special).wait(timeout, signals);
}

HALOGEN_EXPORT int close(int descriptor) {
  if (is_hidden(__builtin_return_address(0), descriptor)) {
    errno = EBADF;
    return -1;
  }
  halogen::shim::forget_epoll(descriptor);
  return HALOGEN_NEXT(int(int), "close")(descriptor);
}
HALOGEN_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  return close_all(first, last, flags);
}
HALOGEN_EXPORT void closefrom(int first) noexcept {
  close_all(static_cast<unsigned>(first < 0 ? 0 : first), ~0u, 0);
}
HALOGEN_EXPORT int dup2(int from, int to) noexcept {
  if (is_hidden(__builtin_return_address(0), to)) {
    errno = EBUSY;
    return -1;
  }
  return HALOGEN_NEXT(int(int, int), "dup2")(from, to);
}
HALOGEN_EXPORT int dup3(int from, int to, int flags) noexcept {
  if (is_hidden(__builtin_return_address(0), to)) {
    errno = EBUSY;
    return -1;
  }
  return HALOGEN_NEXT(int(int, int, int), "dup3")(from, to, flags);
}
