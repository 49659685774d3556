// Helpers for tests of fences: a gate held by another process, batches that wait for it, and the calls.
#pragma once

#include <linux/sync_file.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <initializer_list>
#include <memory>
#include <vector>

#include "door.h"
#include "driver/sync/sync_file.h"

namespace halogen::driver {

// A sync file that the driver under test did not create.
class Gate {
 public:
  Gate() : descriptor_(files_.create(fence_)) {}
  ~Gate() { ::close(descriptor_); }
  int descriptor() const { return descriptor_; }
  void open(int error = 0) { fence_->signal(error); }

 private:
  SyncFiles files_{[](const auto&) {}};
  std::shared_ptr<Fence> fence_ = std::make_shared<Fence>();
  int descriptor_;
};

class SyncDoor : public Door {
 protected:
  // The hang limit is long enough that slow work on a busy host does not count as a hang.
  void SetUp() override { boot({.hang_after = std::chrono::milliseconds(400)}); }
  uint32_t sync_object(bool signalled = false) {
    drm_syncobj_create create{.handle = 0, .flags = signalled ? DRM_SYNCOBJ_CREATE_SIGNALED : 0u};
    EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_CREATE, create), 0);
    return create.handle;
  }
  int wait_objects(std::vector<uint32_t> handles, uint32_t flags = 0, int64_t timeout = 0, uint32_t* first = nullptr) {
    drm_syncobj_wait wait{};
    wait.handles = reinterpret_cast<uintptr_t>(handles.data());
    wait.count_handles = static_cast<uint32_t>(handles.size());
    wait.flags = flags;
    wait.timeout_nsec = timeout;
    const int result = call(DRM_IOCTL_SYNCOBJ_WAIT, wait);
    if (first != nullptr) *first = wait.first_signaled;
    return result;
  }
  int wait_points(std::vector<uint32_t> handles, std::vector<uint64_t> points, uint32_t flags = 0,
                  int64_t timeout = 0) {
    drm_syncobj_timeline_wait wait{};
    wait.handles = reinterpret_cast<uintptr_t>(handles.data());
    wait.points = reinterpret_cast<uintptr_t>(points.data());
    wait.count_handles = static_cast<uint32_t>(handles.size());
    wait.flags = flags;
    wait.timeout_nsec = timeout;
    return call(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, wait);
  }
  uint64_t query(uint32_t handle, uint32_t flags = 0) {
    uint64_t point = ~uint64_t{0};
    drm_syncobj_timeline_array array{reinterpret_cast<uintptr_t>(&handle), reinterpret_cast<uintptr_t>(&point), 1,
                                     flags};
    EXPECT_EQ(call(DRM_IOCTL_SYNCOBJ_QUERY, array), 0);
    return point;
  }
  int signal_point(uint32_t handle, uint64_t point) {
    drm_syncobj_timeline_array array{reinterpret_cast<uintptr_t>(&handle), reinterpret_cast<uintptr_t>(&point), 1, 0};
    return call(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, array);
  }
  int import_sync_file(uint32_t handle, int descriptor) {
    drm_syncobj_handle import{handle, DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE, descriptor, 0};
    return call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, import);
  }

  uint32_t context() {
    drm_i915_gem_context_create_ext create{};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create), 0);
    return create.ctx_id;
  }
  struct Run {
    uint64_t flags = 0;
    uint32_t context = 0;
    int in = -1;                                       // a sync file
    std::vector<drm_i915_gem_exec_fence> fences = {};  // an array
    std::vector<drm_i915_gem_exec_object2> more = {};  // buffers before the batch
    uint32_t batch = 0;                                // 0: a batch that does nothing
  };
  // Returns 0 or an errno; `out` receives the descriptor of an output fence.
  int run(const Run& what, int* out = nullptr) {
    std::vector<drm_i915_gem_exec_object2> objects = what.more;
    objects.emplace_back();
    objects.back().handle = what.batch != 0 ? what.batch : make_empty();
    drm_i915_gem_execbuffer2 execute{};
    execute.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
    execute.buffer_count = static_cast<uint32_t>(objects.size());
    execute.flags = what.flags;
    execute.rsvd1 = what.context;
    if (what.in >= 0) {
      if ((what.flags & I915_EXEC_FENCE_SUBMIT) == 0) execute.flags |= I915_EXEC_FENCE_IN;
      execute.rsvd2 = static_cast<uint32_t>(what.in);
    }
    if (!what.fences.empty()) {
      execute.flags |= I915_EXEC_FENCE_ARRAY;
      execute.num_cliprects = static_cast<uint32_t>(what.fences.size());
      execute.cliprects_ptr = reinterpret_cast<uintptr_t>(what.fences.data());
    }
    if (out != nullptr) execute.flags |= I915_EXEC_FENCE_OUT;
    const int result = call(DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, execute);
    if (out != nullptr && result == 0) {
      *out = static_cast<int>(execute.rsvd2 >> 32);
      descriptors_.push_back(*out);
    }
    return result;
  }
  // Submits a batch that never ends by itself.
  int run_endless(uint32_t in_context, int* out, std::vector<drm_i915_gem_exec_fence> fences = {}) {
    std::vector<drm_i915_gem_exec_object2> objects{make_endless(relocation_)};
    drm_i915_gem_execbuffer2 execute{};
    execute.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
    execute.buffer_count = 1;
    execute.flags = I915_EXEC_FENCE_OUT | (fences.empty() ? 0 : I915_EXEC_FENCE_ARRAY);
    execute.num_cliprects = static_cast<uint32_t>(fences.size());
    execute.cliprects_ptr = fences.empty() ? 0 : reinterpret_cast<uintptr_t>(fences.data());
    execute.rsvd1 = in_context;
    const int result = call(DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, execute);
    *out = static_cast<int>(execute.rsvd2 >> 32);
    if (result == 0) descriptors_.push_back(*out);
    return result;
  }
  // Returns whether the descriptor is readable; with `wait`, waits for it.
  static bool readable(int descriptor, bool wait = false) {
    pollfd end{.fd = descriptor, .events = POLLIN, .revents = 0};
    return poll(&end, 1, wait ? -1 : 0) == 1 && (end.revents & POLLIN) != 0;
  }
  int status(int descriptor) {
    sync_file_info info{};
    EXPECT_EQ(driver->descriptor_ioctl(descriptor, SYNC_IOC_FILE_INFO, reinterpret_cast<uintptr_t>(&info)), 0);
    return info.status;
  }
  bool has_blitter() const {
    return std::ranges::any_of(model().engines, [](const spec::EngineModel& engine) {
      return engine.engine_class == spec::EngineClass::blit;
    });
  }

  void TearDown() override {
    for (const int each : descriptors_) ::close(each);
    Door::TearDown();
  }
  std::vector<int> descriptors_;
  drm_i915_gem_relocation_entry relocation_{};
};

}  // namespace halogen::driver
