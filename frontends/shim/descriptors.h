// Descriptors of our own: out of the way of the program's, which expects the lowest numbers.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace halogen::shim {

// The same at a higher number; the old one is closed.
inline int move_up(int descriptor) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto first = static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 2, 700));
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, first);
  if (moved < 0) return descriptor;
  ::close(descriptor);
  return moved;
}

}  // namespace halogen::shim
