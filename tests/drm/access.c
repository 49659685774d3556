// PREAD and PWRITE: bounds, faults, unaligned offsets.
#include <string.h>
#include <sys/mman.h>

#include "suite.h"

static int transfer(int in, uint32_t handle, uint64_t offset, uint64_t bytes, uint64_t data) {
  struct drm_i915_gem_pread out_call = {.handle = handle, .offset = offset, .size = bytes, .data_ptr = data};
  struct drm_i915_gem_pwrite in_call = {.handle = handle, .offset = offset, .size = bytes, .data_ptr = data};
  return in ? call(DRM_IOCTL_I915_GEM_PWRITE, &in_call) : call(DRM_IOCTL_I915_GEM_PREAD, &out_call);
}

static void bounds(void) {
  const struct object object = create(8192);
  static uint8_t memory[3 * 4096];
  const uint64_t here = (uintptr_t)memory;
  static const struct {
    const char* name;
    uint64_t offset, bytes;
    int wanted;
  } rows[] = {{"all", 0, 8192, 0},
              {"nothing", 0, 0, 0},
              {"nothing far away", 1ull << 40, 0, 0},
              {"one too many", 0, 8193, -EINVAL},
              {"last", 8191, 1, 0},
              {"behind", 8192, 1, -EINVAL},
              {"over the end", 8190, 4, -EINVAL},
              {"far", 1ull << 40, 4, -EINVAL},
              {"wraps", ~0ull - 3, 8, -EINVAL},
              {"huge", 4096, ~0ull, -EFAULT},
              {"huge from start", 0, ~0ull, -EFAULT},
              {"negative", 1ull << 63, 16, -EINVAL}};
  for (int in = 0; in < 2; ++in) {
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
      const int result = transfer(in, object.handle, rows[i].offset, rows[i].bytes, here);
      const char* name = key("%s %s", in ? "write" : "read", rows[i].name);
      if (chip.has_local_memory) {
        observe(name, result);
      } else {
        expect(name, result, rows[i].wanted);
      }
    }
  }
}

static void faults(void) {
  if (chip.has_local_memory) skip("objects are mapped only");
  const struct object object = create(8192);
  char* memory = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* constant = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* none = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(memory + 4096, 4096);  // done last: a later mapping could fill the hole
  const struct {
    const char* name;
    uint64_t address;
    int read, written;
  } rows[] = {{"null", 0, -EFAULT, -EFAULT},
              {"low", 0x1000, -EFAULT, -EFAULT},
              {"hole", (uintptr_t)memory + 4096, -EFAULT, -EFAULT},
              {"into a hole", (uintptr_t)memory + 4092, -EFAULT, -EFAULT},
              {"out of a hole", (uintptr_t)memory + 8190, -EFAULT, -EFAULT},
              {"constant", (uintptr_t)constant, -EFAULT, 0},
              {"forbidden", (uintptr_t)none, -EFAULT, -EFAULT},
              {"kernel", 0xffff888000000000ull, -EFAULT, -EFAULT},
              {"not canonical", 0x8000000000000000ull, -EFAULT, -EFAULT}};
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    expect(key("read %s", rows[i].name), transfer(0, object.handle, 0, 16, rows[i].address), rows[i].read);
    expect(key("write %s", rows[i].name), transfer(1, object.handle, 0, 16, rows[i].address), rows[i].written);
  }
  expect("nothing from null", transfer(0, object.handle, 0, 0, 0), 0);
}

static void odd_places(void) {
  static const uint64_t rows[][2] = {{0, 1},    {1, 2},    {3, 7},       {4090, 12},
                                     {4095, 2}, {63, 130}, {4097, 4000}, {0, 12288}};
  const struct object object = create(3 * 4096);
  uint8_t mirror[3 * 4096] = {0}, data[3 * 4096], seen[3 * 4096];
  uint32_t random = 12345;
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    for (uint64_t j = 0; j < rows[i][1]; ++j) {
      random = random * 1664525 + 1013904223;
      data[j] = (uint8_t)(random >> 24);
    }
    put(&object, rows[i][0], data, rows[i][1]);
    memcpy(mirror + rows[i][0], data, rows[i][1]);
    get(&object, 0, seen, sizeof(seen));
    expect_true(key("write at %u", (unsigned)rows[i][0]), memcmp(seen, mirror, sizeof(seen)) == 0);
    get(&object, rows[i][0], seen, rows[i][1]);
    expect_true(key("read at %u", (unsigned)rows[i][0]), memcmp(seen, data, rows[i][1]) == 0);
  }
}

// Arguments on stack pages whose access rights are removed.
static void stack(void) {
  char memory[3 * 4096];
  char* page = (char*)(((uintptr_t)memory + 4095) & ~(uintptr_t)4095);
  struct drm_i915_getparam* request = (struct drm_i915_getparam*)page;
  int value = 0;
  *request = (struct drm_i915_getparam){.param = I915_PARAM_CHIPSET_ID, .value = &value};
  const struct drm_i915_getparam into_page = {.param = I915_PARAM_CHIPSET_ID, .value = (int*)(page + 64)};
  struct drm_i915_getparam other = into_page;
  expect("good", call(DRM_IOCTL_I915_GETPARAM, request), 0);
  expect("good value", call(DRM_IOCTL_I915_GETPARAM, &other), 0);
  mprotect(page, 4096, PROT_READ);
  other = into_page;
  expect("value on a constant page", call(DRM_IOCTL_I915_GETPARAM, &other), -EFAULT);
  mprotect(page, 4096, PROT_NONE);
  expect("argument on a forbidden page", call(DRM_IOCTL_I915_GETPARAM, request), -EFAULT);
  other = into_page;
  expect("value on a forbidden page", call(DRM_IOCTL_I915_GETPARAM, &other), -EFAULT);
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  expect("allowed again", call(DRM_IOCTL_I915_GETPARAM, request), 0);
}

const struct test access_tests[] = {{"access.bounds", bounds, 0},
                                    {"access.faults", faults, 0},
                                    {"access.odd-places", odd_places, 0},
                                    {"access.stack", stack, 0},
                                    {0}};
