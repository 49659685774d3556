// The engine map of a context: plain engines, holes, balanced and parallel slots.
#pragma once

#include <cstdint>

#include <libdrm/i915_drm.h>

#include "driver/gem/context.h"

namespace halogen::driver {

// Returns 0, or a negative errno without any change.
int set_engine_map(Gpu& gpu, Context& context, const drm_i915_gem_context_param& parameter);

}  // namespace halogen::driver
