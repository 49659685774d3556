// A row of a table of ioctls.
#pragma once

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>

#include "driver/calls/ioctls.h"
#include "driver/gem/user_memory.h"

namespace halogen::driver {

struct IoctlEntry {
  unsigned number;
  int (*function)(Call&, unsigned long, uint64_t);
};

// Copies the argument with the size that the program passed: missing bytes are zero on the way in and dropped on the
// way out.
template <class Argument, int (*Function)(Call&, Argument&)>
int with_argument(Call& call, unsigned long request, uint64_t address) {
  Argument argument{};
  const size_t bytes = std::min<size_t>(sizeof argument, _IOC_SIZE(request));
  if ((_IOC_DIR(request) & _IOC_WRITE) != 0 && !read_user(address, &argument, bytes)) return -EFAULT;
  const int result = Function(call, argument);
  // Also after an error: a wait that timed out reports the remaining time.
  if ((_IOC_DIR(request) & _IOC_READ) != 0 && !write_user(address, &argument, bytes)) return -EFAULT;
  return result;
}

}  // namespace halogen::driver
