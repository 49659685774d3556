#include "driver/share/private_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "driver/gem/file_key.h"

namespace halogen::driver {
namespace {

constexpr rlim_t kMaxAbove = 65536;  // the host's descriptor table is as long as the highest number
constexpr rlim_t kUsual = 700;

bool has_room_above(const rlimit& limit) {
  return limit.rlim_cur < limit.rlim_max && limit.rlim_cur <= kMaxAbove;
}

int first_of(const rlimit& limit) {
  return static_cast<int>(has_room_above(limit) ? limit.rlim_cur : std::min(limit.rlim_cur / 2, kUsual));
}

}  // namespace

std::mutex& limit_guard() {
  static std::mutex guard;
  return guard;
}

RaisedLimit::RaisedLimit() : lock_(limit_guard()) {
  if (getrlimit(RLIMIT_NOFILE, &before_) != 0 || !has_room_above(before_)) return;
  const rlimit all{.rlim_cur = before_.rlim_max, .rlim_max = before_.rlim_max};
  raised_ = setrlimit(RLIMIT_NOFILE, &all) == 0;
}

RaisedLimit::~RaisedLimit() {
  const int error = errno;
  if (raised_) setrlimit(RLIMIT_NOFILE, &before_);
  errno = error;
}

int RaisedLimit::keep(int descriptor) const {
  if (descriptor < 0) return descriptor;
  const int first = first_of(before_);
  const int moved = descriptor < first ? fcntl(descriptor, F_DUPFD_CLOEXEC, first) : -1;
  if (moved >= 0) {
    close(descriptor);
    descriptor = moved;
  }
  fcntl(descriptor, F_SETSIG, kPrivateMark);
  return descriptor;
}

int keep_private(int descriptor) {
  if (descriptor < 0) return descriptor;
  const RaisedLimit limit;
  return limit.keep(descriptor);
}

}  // namespace halogen::driver
