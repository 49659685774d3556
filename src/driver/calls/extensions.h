// Linked lists of extensions in the program's memory.
#pragma once

#include <cerrno>
#include <cstdint>

#include <libdrm/i915_drm.h>

#include "driver/gem/user_memory.h"

namespace halogen::driver {

// Calls `function` with the name and the address of each extension, until it returns an error.
template <class Function>
int for_each_extension(uint64_t first, const Function& function) {
  constexpr int kMax = 512;
  int count = 0;
  for (uint64_t next = first; next != 0; ++count) {
    if (count == kMax) return -E2BIG;
    const auto extension = read_user<i915_user_extension>(next);
    if (!extension) return -EFAULT;
    if (extension->flags != 0) return -EINVAL;
    for (const __u32 reserved : extension->rsvd) {
      if (reserved != 0) return -EINVAL;
    }
    if (const int result = function(extension->name, next); result != 0) return result;
    next = extension->next_extension;
  }
  return 0;
}

}  // namespace halogen::driver
