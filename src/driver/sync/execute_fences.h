// The fences of a batch: those it waits for and those it signals.
#pragma once

#include <libdrm/i915_drm.h>

#include <vector>

#include "driver/calls/ioctls.h"

namespace halogen::driver {

class ExecuteFences {
 public:
  // Returns 0 or a negative errno.
  int read(Call& call, const drm_i915_gem_execbuffer2& arguments);
  // Adds the partners to the request, and what it waits for to `waits`.
  void hold(Request& request, OpenFences& waits) const;
  // Stores the request's fence in the sync objects that the call asks to signal.
  void fill(const FenceRef& done) const;

 private:
  int read_array(Call& call, const drm_i915_gem_execbuffer2& arguments);
  int read_timelines(Call& call, uint64_t extension);

  std::vector<FenceRef> waits_;
  FenceRef partner_;  // a fence whose request must have started
  struct Target {
    SyncObjectRef object;
    uint64_t point = 0;  // 0: a binary sync object
  };
  std::vector<Target> targets_;
};

}  // namespace halogen::driver
