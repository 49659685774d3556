// i915_gem_drop_caches of debugfs: makes the engines idle, by waiting or by force.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace halogen::shim {

// Behaves like write(2) on that file, including errno.
ssize_t drop_caches(const void* text, size_t bytes);

}  // namespace halogen::shim
