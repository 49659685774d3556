// i915_gem_drop_caches of debugfs: engines become idle, because somebody waits or by force.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace halogen::shim {

// As write(2) of that file, errno included.
ssize_t drop_caches(const void* text, size_t bytes);

}  // namespace halogen::shim
