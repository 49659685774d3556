// Engines as a program numbers them for a context: plain ones, holes, balanced and parallel ones.
#pragma once

#include <cstdint>

#include <libdrm/i915_drm.h>

#include "driver/gem/context.h"

namespace halogen::driver {

// 0, or a negative errno and nothing is changed.
int set_engine_map(Gpu& gpu, Context& context, const drm_i915_gem_context_param& parameter);

}  // namespace halogen::driver
