// The fences that a batch names: those it shall wait for and those it shall become.
#pragma once

#include <libdrm/i915_drm.h>

#include <vector>

#include "driver/calls/ioctls.h"

namespace halogen::driver {

class ExecuteFences {
 public:
  // 0 or a negative errno.
  int read(Call& call, const drm_i915_gem_execbuffer2& arguments);
  // What the request must wait for.
  void hold(Request& request) const;
  // The request goes into the sync objects that want it.
  void fill(const FenceRef& done) const;

 private:
  int read_array(Call& call, const drm_i915_gem_execbuffer2& arguments);
  int read_timelines(Call& call, uint64_t extension);

  std::vector<FenceRef> waits_;
  FenceRef partner_;  // shall have started
  struct Target {
    SyncObjectRef object;
    uint64_t point = 0;  // 0: the object holds the request alone
  };
  std::vector<Target> targets_;
};

// The request waits for this fence, unless that is needless.
void add_wait(Request& request, const FenceRef& fence);

}  // namespace halogen::driver
