// Binary syncobjs.
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

static uint32_t make(uint32_t flags) {
  struct drm_syncobj_create request = {.flags = flags};
  require(call(DRM_IOCTL_SYNCOBJ_CREATE, &request) == 0, "a syncobj cannot be made");
  return request.handle;
}

static int destroy(uint32_t handle) {
  struct drm_syncobj_destroy request = {.handle = handle};
  return call(DRM_IOCTL_SYNCOBJ_DESTROY, &request);
}

static int wait_many(const uint32_t* handles, uint32_t count, int64_t until, uint32_t flags, uint32_t* first) {
  struct drm_syncobj_wait request = {.handles = (uintptr_t)handles,
                                     .count_handles = count,
                                     .timeout_nsec = until,
                                     .flags = flags,
                                     .first_signaled = 77};
  const int result = call(DRM_IOCTL_SYNCOBJ_WAIT, &request);
  if (first != NULL) *first = request.first_signaled;
  return result;
}

static int change(unsigned long request_number, const uint32_t* handles, uint32_t count) {
  struct drm_syncobj_array request = {.handles = (uintptr_t)handles, .count_handles = count};
  return call(request_number, &request);
}

static int64_t soon(int64_t nanoseconds) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + nanoseconds;
}

static void lives(void) {
  for (unsigned bit = 0; bit < 4; ++bit) {
    struct drm_syncobj_create request = {.flags = 1u << bit};
    expect(key("flag %u", bit), call(DRM_IOCTL_SYNCOBJ_CREATE, &request), bit == 0 ? 0 : -EINVAL);
  }
  const uint32_t first = make(0);
  observe_number("number", first);
  expect("destroy", destroy(first), 0);
  expect("destroy twice", destroy(first), -EINVAL);
  expect("destroy none", destroy(0), -EINVAL);
  struct drm_syncobj_destroy request = {.handle = make(0), .pad = 1};
  expect("pad", call(DRM_IOCTL_SYNCOBJ_DESTROY, &request), -EINVAL);
}

static void waits(void) {
  const uint32_t handles[3] = {make(0), make(DRM_SYNCOBJ_CREATE_SIGNALED), make(0)};
  const uint32_t submitted = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, all = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL;
  uint32_t first = 0;
  expect("none", wait_many(handles, 0, 0, 0, NULL), -EINVAL);
  expect("null", wait_many(NULL, 1, 0, 0, NULL), -EFAULT);
  expect("empty", wait_many(handles, 1, 0, 0, NULL), -EINVAL);
  expect("empty, for submission", wait_many(handles, 1, 0, submitted, NULL), -ETIME);
  expect("empty, for submission, a while", wait_many(handles, 1, soon(5000000), submitted, NULL), -ETIME);
  expect("signalled", wait_many(handles + 1, 1, 0, 0, &first), 0);
  expect_number("signalled first", first, 0);
  expect("signalled, past", wait_many(handles + 1, 1, -5, 0, NULL), 0);
  expect("any", wait_many(handles, 3, 0, submitted, &first), 0);
  expect_number("any first", first, 1);
  expect("all", wait_many(handles, 3, 0, submitted | all, &first), -ETIME);
  expect("any, not submitted", wait_many(handles, 3, 0, 0, NULL), -EINVAL);
  expect("signal", change(DRM_IOCTL_SYNCOBJ_SIGNAL, handles, 3), 0);
  expect("now all", wait_many(handles, 3, 0, all, &first), 0);
  observe_number("all first", first);
  expect("reset", change(DRM_IOCTL_SYNCOBJ_RESET, handles, 2), 0);
  expect("after reset", wait_many(handles, 1, 0, 0, NULL), -EINVAL);
  for (unsigned bit = 0; bit < 6; ++bit) observe(key("flag %u", bit), wait_many(handles + 2, 1, 0, 1u << bit, NULL));
  const uint32_t unknown = 4711;
  expect("unknown", wait_many(&unknown, 1, 0, 0, NULL), -ENOENT);
  struct drm_syncobj_wait padded = {.handles = (uintptr_t)(handles + 2), .count_handles = 1, .pad = 1};
  observe("pad", call(DRM_IOCTL_SYNCOBJ_WAIT, &padded));
}

static void changes(void) {
  const uint32_t handle = make(0), unknown[2] = {handle, 4711};
  static const struct {
    const char* name;
    unsigned long number;
  } rows[] = {{"signal", DRM_IOCTL_SYNCOBJ_SIGNAL}, {"reset", DRM_IOCTL_SYNCOBJ_RESET}};
  for (unsigned i = 0; i < 2; ++i) {
    expect(rows[i].name, change(rows[i].number, &handle, 1), 0);
    expect(key("%s none", rows[i].name), change(rows[i].number, &handle, 0), -EINVAL);
    expect(key("%s null", rows[i].name), change(rows[i].number, NULL, 1), -EFAULT);
    expect(key("%s unknown", rows[i].name), change(rows[i].number, unknown, 2), -ENOENT);
    struct drm_syncobj_array request = {.handles = (uintptr_t)&handle, .count_handles = 1, .pad = 1};
    expect(key("%s pad", rows[i].name), call(rows[i].number, &request), -EINVAL);
  }
}

static void files(void) {
  const uint32_t handle = make(0);
  struct drm_syncobj_handle request = {.handle = handle};
  expect("export", call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &request), 0);
  const int file = request.fd;
  expect_true("closes on exec", (fcntl(file, F_GETFD) & FD_CLOEXEC) != 0);
  request = (struct drm_syncobj_handle){.fd = file};
  expect("import", call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &request), 0);
  const uint32_t twin = request.handle;
  expect_true("another handle", twin != handle);
  expect("signal", change(DRM_IOCTL_SYNCOBJ_SIGNAL, &handle, 1), 0);
  expect("seen by the twin", wait_many(&twin, 1, 0, 0, NULL), 0);
  const int other = open_device();
  request = (struct drm_syncobj_handle){.fd = file};
  expect("import by another file", call_on(other, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &request), 0);
  struct drm_syncobj_wait wait = {.handles = (uintptr_t)&request.handle, .count_handles = 1};
  expect("seen there", call_on(other, DRM_IOCTL_SYNCOBJ_WAIT, &wait), 0);
  close(other);
  const uint32_t empty = make(0);
  request = (struct drm_syncobj_handle){.handle = empty, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE};
  expect("sync file of nothing", call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &request), -EINVAL);
  request.handle = handle;
  expect("sync file", call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &request), 0);
  const int fence = request.fd;
  request = (struct drm_syncobj_handle){
      .handle = empty, .fd = fence, .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE};
  expect("import it", call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &request), 0);
  expect("it is signalled", wait_many(&empty, 1, 0, 0, NULL), 0);
  request.fd = file;
  expect("import a syncobj as sync file", call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &request), -EINVAL);
  request = (struct drm_syncobj_handle){.fd = fence};
  expect("import a sync file as syncobj", call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &request), -EINVAL);
  request = (struct drm_syncobj_handle){.fd = 999};
  expect("import a closed file", call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &request), -EINVAL);
  request = (struct drm_syncobj_handle){.fd = file, .flags = 2};
  expect("import with flags", call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &request), -EINVAL);
  request = (struct drm_syncobj_handle){.handle = handle, .flags = 2};
  expect("export with flags", call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &request), -EINVAL);
  request = (struct drm_syncobj_handle){.handle = handle, .pad = 1};
  expect("export with pad", call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &request), -EINVAL);
  request = (struct drm_syncobj_handle){.handle = 4711};
  observe("export of unknown", call(DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &request));
  close(file);
  close(fence);
}

const struct test syncobj_tests[] = {{"syncobjs.lives", lives, 0},
                                     {"syncobjs.waits", waits, 0},
                                     {"syncobjs.changes", changes, 0},
                                     {"syncobjs.files", files, 0},
                                     {0}};
