// What a program can do to any descriptor, on ours: nodes, sync files and shared buffers are something else to the host
// (a socket, a pipe, a file), and these calls must not show it. Descriptors are known by their mark alone, so that
// signals' handlers may call.
//
// Left out: epoll(7) on shared buffers, which the host refuses; readv(2) and what is rarer.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "door.h"
#include "driver/file_key.h"
#include "next.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::driver::kNodeMark;
using halogen::driver::kSharedBufferMark;
using halogen::driver::kSyncFileMark;
using halogen::shim::Door;
using halogen::shim::is_ours;

namespace {

// 0: not one of ours.
int mark_of(int descriptor) {
  const int error = errno;
  const int mark = fcntl(descriptor, F_GETSIG);
  errno = error;
  return mark == kNodeMark || mark == kSyncFileMark || mark == kSharedBufferMark ? mark : 0;
}

ssize_t refuse() {
  errno = EINVAL;
  return -1;
}

bool cannot_read(const void* caller, int descriptor) {
  if (is_ours(caller)) return false;
  const int mark = mark_of(descriptor);
  return mark == kSyncFileMark || mark == kSharedBufferMark;  // nodes give events
}

bool cannot_write(const void* caller, int descriptor) {
  return !is_ours(caller) && mark_of(descriptor) != 0;
}

// A node is always at its start; a shared buffer tells its size, and nothing else.
off_t seek(const void* caller, int descriptor, off_t offset, int whence, off_t (*real)(int, off_t, int)) {
  const int mark = is_ours(caller) ? 0 : mark_of(descriptor);
  if (mark == kNodeMark) return 0;
  if (mark == kSharedBufferMark && (offset != 0 || (whence != SEEK_SET && whence != SEEK_END))) {
    return static_cast<off_t>(refuse());
  }
  return real(descriptor, offset, whence);
}

// A shared buffer is ready to be read when those who write it are done, and to be written when all are. Its fences are
// asked in its place.
class Fences {
 public:
  Fences(pollfd* list, nfds_t count) : list_(list), count_(count) {
    if (Door::to_tell() == nullptr) return;
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

int wait_for(const void* caller, pollfd* list, nfds_t count, int timeout) {
  const auto real = HALOGEN_NEXT(int(pollfd*, nfds_t, int), "poll");
  if (is_ours(caller)) return real(list, count, timeout);
  Fences fences(list, count);
  return fences.answer(real(fences.list(), fences.count(), timeout));
}

}  // namespace

HALOGEN_EXPORT ssize_t read(int descriptor, void* into, size_t bytes) {
  if (cannot_read(__builtin_return_address(0), descriptor)) return refuse();
  return HALOGEN_NEXT(ssize_t(int, void*, size_t), "read")(descriptor, into, bytes);
}
HALOGEN_EXPORT ssize_t __read_chk(int descriptor, void* into, size_t bytes, size_t room) {
  if (cannot_read(__builtin_return_address(0), descriptor)) return refuse();
  return HALOGEN_NEXT(ssize_t(int, void*, size_t, size_t), "__read_chk")(descriptor, into, bytes, room);
}
HALOGEN_EXPORT ssize_t write(int descriptor, const void* from, size_t bytes) {
  if (cannot_write(__builtin_return_address(0), descriptor)) return refuse();
  return HALOGEN_NEXT(ssize_t(int, const void*, size_t), "write")(descriptor, from, bytes);
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
  const auto real = HALOGEN_NEXT(int(pollfd*, nfds_t, const timespec*, const sigset_t*), "ppoll");
  if (is_ours(__builtin_return_address(0))) return real(list, count, timeout, signals);
  Fences fences(list, count);
  return fences.answer(real(fences.list(), fences.count(), timeout, signals));
}
