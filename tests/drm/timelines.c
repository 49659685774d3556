// Timeline syncobjs.
#include <string.h>

#include "suite.h"

static uint32_t make(void) {
  struct drm_syncobj_create request = {0};
  require(call(DRM_IOCTL_SYNCOBJ_CREATE, &request) == 0, "a syncobj cannot be made");
  return request.handle;
}

static int array_call(unsigned long number, uint32_t handle, uint64_t* point, uint32_t flags) {
  struct drm_syncobj_timeline_array request = {
      .handles = (uintptr_t)&handle, .points = (uintptr_t)point, .count_handles = 1, .flags = flags};
  return call(number, &request);
}

static int signal_point(uint32_t handle, uint64_t point) {
  return array_call(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, handle, &point, 0);
}

static int wait_point(uint32_t handle, uint64_t point, uint32_t flags) {
  struct drm_syncobj_timeline_wait request = {
      .handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1, .flags = flags};
  return call(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &request);
}

static uint64_t point_of(uint32_t handle, uint32_t flags) {
  uint64_t point = 0x77;
  expect(key("query %u", flags), array_call(DRM_IOCTL_SYNCOBJ_QUERY, handle, &point, flags), 0);
  return point;
}

static void points(void) {
  const uint32_t handle = make();
  expect_number("at first", point_of(handle, 0), 0);
  expect("wait for 1", wait_point(handle, 1, 0), -EINVAL);
  expect("wait for submission", wait_point(handle, 1, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT), -ETIME);
  observe("wait until it is there", wait_point(handle, 1, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE));
  observe("wait for 0", wait_point(handle, 0, 0));
  expect("signal 5", signal_point(handle, 5), 0);
  expect_number("5", point_of(handle, 0), 5);
  expect("wait for 5", wait_point(handle, 5, 0), 0);
  expect("wait for 3", wait_point(handle, 3, 0), 0);
  expect("wait for 6", wait_point(handle, 6, 0), -EINVAL);
  observe("signal 3", signal_point(handle, 3));
  observe_number("after 3", point_of(handle, 0));
  observe("signal 5 again", signal_point(handle, 5));
  observe_number("after 5 again", point_of(handle, 0));
  expect("signal 9", signal_point(handle, 9), 0);
  expect_number("9", point_of(handle, 0), 9);
  expect_number("last submitted", point_of(handle, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 9);
  observe("signal 0", signal_point(handle, 0));
  observe_number("after 0", point_of(handle, 0));
  uint64_t point = 1;
  expect("query flags", array_call(DRM_IOCTL_SYNCOBJ_QUERY, handle, &point, 2), -EINVAL);
  expect("signal flags", array_call(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, handle, &point, 1), -EINVAL);
  expect("query null", array_call(DRM_IOCTL_SYNCOBJ_QUERY, handle, NULL, 0), -EFAULT);
  observe("signal null", array_call(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, handle, NULL, 0));
  expect("query unknown", array_call(DRM_IOCTL_SYNCOBJ_QUERY, 4711, &point, 0), -ENOENT);
  expect("signal unknown", signal_point(4711, 1), -ENOENT);
  expect("wait unknown", wait_point(4711, 1, 0), -ENOENT);
  for (unsigned bit = 0; bit < 5; ++bit) observe(key("wait flag %u", bit), wait_point(handle, 2, 1u << bit));
  struct drm_syncobj_timeline_array none = {.handles = (uintptr_t)&handle, .points = (uintptr_t)&point};
  expect("query none", call(DRM_IOCTL_SYNCOBJ_QUERY, &none), -EINVAL);
  expect("signal none", call(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &none), -EINVAL);
}

static void transfers(void) {
  const uint32_t from = make(), to = make();
  struct drm_syncobj_transfer request = {.src_handle = from, .dst_handle = to, .src_point = 4, .dst_point = 7};
  expect("nothing there", call(DRM_IOCTL_SYNCOBJ_TRANSFER, &request), -EINVAL);
  expect("signal", signal_point(from, 4), 0);
  expect("transfer", call(DRM_IOCTL_SYNCOBJ_TRANSFER, &request), 0);
  expect_number("point", point_of(to, 0), 7);
  request.dst_point = 0;
  expect("to one fence", call(DRM_IOCTL_SYNCOBJ_TRANSFER, &request), 0);
  expect("it is signalled", wait_point(to, 0, 0), 0);
  request.src_point = 9;
  expect("later point", call(DRM_IOCTL_SYNCOBJ_TRANSFER, &request), -EINVAL);
  request.src_point = 4;
  request.src_handle = 4711;
  expect("unknown source", call(DRM_IOCTL_SYNCOBJ_TRANSFER, &request), -ENOENT);
  request.src_handle = from;
  request.dst_handle = 4711;
  expect("unknown target", call(DRM_IOCTL_SYNCOBJ_TRANSFER, &request), -ENOENT);
  request.dst_handle = to;
  request.pad = 1;
  expect("pad", call(DRM_IOCTL_SYNCOBJ_TRANSFER, &request), -EINVAL);
  request.pad = 0;
  for (unsigned bit = 0; bit < 4; ++bit) {
    request.flags = 1u << bit;
    observe(key("flag %u", bit), call(DRM_IOCTL_SYNCOBJ_TRANSFER, &request));
  }
}

// A batch in the middle of a timeline: later points wait for it.
static void work(void) {
  const uint32_t handle = make();
  struct drm_i915_gem_exec_fence fence = {.handle = handle, .flags = I915_EXEC_FENCE_SIGNAL};
  uint64_t value = 3;
  struct drm_i915_gem_execbuffer_ext_timeline_fences list = {
      .base = {.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES},
      .fence_count = 1,
      .handles_ptr = (uintptr_t)&fence,
      .values_ptr = (uintptr_t)&value};
  struct spinner spinner;
  prepare_spinner(&spinner, NULL);
  finish_batch(&spinner.batch, I915_EXEC_RENDER | I915_EXEC_USE_EXTENSIONS, 0);
  spinner.batch.execute.cliprects_ptr = (uintptr_t)&list;
  expect("spinner at 3", submit_as_is(&spinner.batch), 0);
  expect_number("not there", point_of(handle, 0), 0);
  expect_number("submitted", point_of(handle, DRM_SYNCOBJ_QUERY_FLAGS_LAST_SUBMITTED), 3);
  expect("wait for 2", wait_point(handle, 2, 0), -ETIME);
  expect("there is a fence", wait_point(handle, 3, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_AVAILABLE), 0);
  expect("signal 8 by hand", signal_point(handle, 8), 0);
  expect_number("still not there", point_of(handle, 0), 0);
  expect("8 waits for 3", wait_point(handle, 8, 0), -ETIME);
  end_spinner(&spinner);
  wait_for(&spinner.batch.object);
  struct drm_syncobj_timeline_wait request = {.handles = (uintptr_t)&handle,
                                              .points = (uintptr_t) & (uint64_t){8},
                                              .count_handles = 1,
                                              .timeout_nsec = 0x7fffffffffffffffll};
  expect("now 8", call(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &request), 0);
  expect_number("8", point_of(handle, 0), 8);
}

const struct test timeline_tests[] = {
    {"timelines.points", points, 0}, {"timelines.transfers", transfers, 0}, {"timelines.work", work, 0}, {0}};
