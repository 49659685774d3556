// Answers that every DRM node gives, and ioctl numbers without a call.
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

static void version(void) {
  char name[32] = "", date[32] = "", description[64] = "";
  struct drm_version request = {.name_len = sizeof(name) - 1,
                                .name = name,
                                .date_len = sizeof(date) - 1,
                                .date = date,
                                .desc_len = sizeof(description) - 1,
                                .desc = description};
  expect("call", call(DRM_IOCTL_VERSION, &request), 0);
  expect_number("major", (uint64_t)request.version_major, 1);
  expect_number("minor", (uint64_t)request.version_minor, 6);
  expect_number("patch", (uint64_t)request.version_patchlevel, 0);
  observe_text("name", name);
  observe_text("date", date);
  observe_text("description", description);
  expect_true("is i915", strcmp(name, "i915") == 0);
  expect_number("name length", request.name_len, 4);
  char two[5] = "....";
  struct drm_version shorter = {.name_len = 2, .name = two};
  expect("short", call(DRM_IOCTL_VERSION, &shorter), 0);
  expect_true("two letters", strcmp(two, "i9..") == 0);
  expect_number("full length", shorter.name_len, 4);
  expect("no argument", call(DRM_IOCTL_VERSION, NULL), -EFAULT);
}

static void capabilities(void) {
  for (unsigned number = 0; number <= 0x16; ++number) {
    struct drm_get_cap request = {.capability = number};
    const int result = call(DRM_IOCTL_GET_CAP, &request);
    if (result < 0) {
      observe(key("%02x", number), result);
    } else {
      observe_number(key("%02x", number), request.value);
    }
  }
  for (unsigned number = 0; number <= 6; ++number) {
    struct drm_set_client_cap request = {.capability = number, .value = 1};
    expect(key("client %u", number), call(DRM_IOCTL_SET_CLIENT_CAP, &request), -EACCES);
  }
}

// Tests every ioctl number with an argument of size zero, which DRM reads as zeros.
static void numbers(void) {
  for (unsigned number = 0; number < 0x100; ++number) {
    const int result = call(_IO(DRM_IOCTL_BASE, number), NULL);
    observe(key("%02x", number), result);
    if (number >= 0x40 + 0x3d && number < 0xa0) expect(key("free %02x", number), result, -EINVAL);
  }
}

// DRM checks the number of an ioctl, not its letter.
static void letters(void) {
  struct drm_version request = {0};
  observe("version of another letter", call(_IOWR('T', 0, struct drm_version), &request));
  observe("terminal", call(0x5401, &request));
  observe("file", call(_IO('f', 0xf0), NULL));
}

// Shorter arguments are padded with zeros, longer ones are truncated.
static void sizes(void) {
  int value = -1;
  struct {
    struct drm_i915_getparam real;
    uint64_t more[8];
  } longer = {.real = {.param = I915_PARAM_HAS_GEM, .value = &value}, .more = {~0ull}};
  expect("longer", call(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0x46, sizeof(longer)), &longer), 0);
  expect_number("answer", (uint64_t)value, 1);
  int number = I915_PARAM_HAS_GEM;
  expect("shorter", call(_IOC(_IOC_READ | _IOC_WRITE, 'd', 0x46, sizeof(number)), &number), -EFAULT);
  struct drm_i915_gem_create create = {.size = 4096};
  expect("only in", call(_IOC(_IOC_WRITE, 'd', 0x5b, sizeof(create)), &create), 0);
  expect_number("handle not told", create.handle, 0);
  create.size = 4096;
  expect("only out", call(_IOC(_IOC_READ, 'd', 0x5b, sizeof(create)), &create), -EINVAL);
  expect("no memory", call(DRM_IOCTL_I915_GEM_CREATE, (void*)8), -EFAULT);
}

static void other_calls(void) {
  struct stat status;
  expect("stat", fstat(device, &status), 0);
  expect_true("character device", S_ISCHR(status.st_mode));
  expect_number("major", (status.st_rdev >> 8) & 0xfff, 226);
  char byte = 0;
  observe("write", write(device, &byte, 1) < 0 ? -errno : 0);
  observe("seek", lseek(device, 4096, SEEK_SET) < 0 ? -errno : 0);
  const int twin = dup(device);
  struct drm_i915_gem_create create = {.size = 4096};
  expect("create on a copy", call_on(twin, DRM_IOCTL_I915_GEM_CREATE, &create), 0);
  struct drm_gem_close close_call = {.handle = create.handle};
  expect("close on the other", call(DRM_IOCTL_GEM_CLOSE, &close_call), 0);
  close(twin);
  expect("after close", call_on(twin, DRM_IOCTL_GEM_CLOSE, &close_call), -EBADF);
}

// Handles belong to one open file.
static void files(void) {
  const int other = open_device();
  const struct object object = create(4096);
  struct drm_i915_gem_busy busy = {.handle = object.handle};
  expect("own", call(DRM_IOCTL_I915_GEM_BUSY, &busy), 0);
  expect("other", call_on(other, DRM_IOCTL_I915_GEM_BUSY, &busy), -ENOENT);
  const uint32_t context = create_context();
  struct drm_i915_reset_stats statistics = {.ctx_id = context};
  expect("own context", call(DRM_IOCTL_I915_GET_RESET_STATS, &statistics), 0);
  expect("other's context", call_on(other, DRM_IOCTL_I915_GET_RESET_STATS, &statistics), -ENOENT);
  close(other);
}

const struct test core_tests[] = {{"core.version", version, 0}, {"core.capabilities", capabilities, 0},
                                  {"core.numbers", numbers, 0}, {"core.letters", letters, 0},
                                  {"core.sizes", sizes, 0},     {"core.other-calls", other_calls, 0},
                                  {"core.files", files, 0},     {0}};
