// Objects: sizes, regions, handles.
#include <string.h>
#include <unistd.h>

#include "suite.h"

static void sizes(void) {
  static const struct {
    uint64_t asked, wanted;  // 0: recorded, not checked
  } rows[] = {{1, 4096},       {4095, 4096},    {4096, 4096},    {4097, 8192},    {65536, 65536},
              {1ull << 31, 0}, {1ull << 32, 0}, {1ull << 36, 0}, {1ull << 40, 0}, {1ull << 43, 0},
              {1ull << 44, 0}, {1ull << 62, 0}, {1ull << 63, 0}, {~0ull, 0},      {~0ull - 4095, 0}};
  struct drm_i915_gem_create request = {.size = 0};
  expect("0", call(DRM_IOCTL_I915_GEM_CREATE, &request), -EINVAL);
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    const unsigned long long asked = rows[i].asked;
    request = (struct drm_i915_gem_create){.size = asked, .pad = 0xffffffff};
    const int result = call(DRM_IOCTL_I915_GEM_CREATE, &request);
    observe(key("0x%llx", asked), result);
    if (result < 0) continue;
    if (rows[i].wanted != 0) {
      expect_number(key("0x%llx becomes", asked), request.size, rows[i].wanted);
    } else {
      observe_number(key("0x%llx becomes", asked), request.size);
    }
    struct drm_gem_close close_call = {.handle = request.handle};
    expect("close", call(DRM_IOCTL_GEM_CLOSE, &close_call), 0);
  }
}

static void handles(void) {
  struct object object[4];
  for (unsigned i = 0; i < 4; ++i) object[i] = create(4096);
  for (unsigned i = 0; i < 4; ++i) expect_number(key("handle %u", i), object[i].handle, i + 1);
  close_object(&object[1]);
  observe_number("after a close", create(4096).handle);
  observe_number("and next", create(4096).handle);
  struct drm_gem_close close_call = {.handle = object[0].handle};
  expect("close", call(DRM_IOCTL_GEM_CLOSE, &close_call), 0);
  expect("close twice", call(DRM_IOCTL_GEM_CLOSE, &close_call), -EINVAL);
  close_call.handle = 0;
  expect("close none", call(DRM_IOCTL_GEM_CLOSE, &close_call), -EINVAL);
  close_call = (struct drm_gem_close){.handle = object[2].handle, .pad = 5};
  observe("pad", call(DRM_IOCTL_GEM_CLOSE, &close_call));
}

// Tests each call that takes a handle with a handle that does not exist.
static void unknown_handles(void) {
  uint64_t memory[512] = {0};
  const uint32_t handle = 0xdead;
  struct drm_i915_gem_pread pread_call = {.handle = handle, .size = 8, .data_ptr = (uintptr_t)memory};
  struct drm_i915_gem_pwrite pwrite_call = {.handle = handle, .size = 8, .data_ptr = (uintptr_t)memory};
  struct drm_i915_gem_mmap mmap_call = {.handle = handle, .size = 4096};
  struct drm_i915_gem_mmap_gtt gtt = {.handle = handle};
  struct drm_i915_gem_mmap_offset offset = {.handle = handle, .flags = I915_MMAP_OFFSET_WB};
  struct drm_i915_gem_set_domain domain = {.handle = handle, .read_domains = 1};
  struct drm_i915_gem_sw_finish finish = {.handle = handle};
  struct drm_i915_gem_set_tiling set_tiling = {.handle = handle, .tiling_mode = 1, .stride = 512};
  struct drm_i915_gem_get_tiling get_tiling = {.handle = handle};
  struct drm_i915_gem_caching caching = {.handle = handle};
  struct drm_i915_gem_madvise advice = {.handle = handle};
  struct drm_i915_gem_busy busy = {.handle = handle};
  struct drm_i915_gem_wait wait = {.bo_handle = handle};
  struct drm_gem_close close_call = {.handle = handle};
  struct drm_gem_flink flink = {.handle = handle};
  struct drm_gem_open open_call = {.name = handle};
  struct drm_prime_handle prime = {.handle = handle};
  struct drm_i915_gem_pin pin = {.handle = handle};
  struct drm_i915_gem_unpin unpin = {.handle = handle};
  const struct {
    const char* name;
    unsigned long request;
    void* argument;
  } rows[] = {{"pread", DRM_IOCTL_I915_GEM_PREAD, &pread_call},
              {"pwrite", DRM_IOCTL_I915_GEM_PWRITE, &pwrite_call},
              {"mmap", DRM_IOCTL_I915_GEM_MMAP, &mmap_call},
              {"mmap gtt", DRM_IOCTL_I915_GEM_MMAP_GTT, &gtt},
              {"mmap offset", DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset},
              {"set domain", DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain},
              {"finish", DRM_IOCTL_I915_GEM_SW_FINISH, &finish},
              {"set tiling", DRM_IOCTL_I915_GEM_SET_TILING, &set_tiling},
              {"get tiling", DRM_IOCTL_I915_GEM_GET_TILING, &get_tiling},
              {"set caching", DRM_IOCTL_I915_GEM_SET_CACHING, &caching},
              {"get caching", DRM_IOCTL_I915_GEM_GET_CACHING, &caching},
              {"advise", DRM_IOCTL_I915_GEM_MADVISE, &advice},
              {"busy", DRM_IOCTL_I915_GEM_BUSY, &busy},
              {"wait", DRM_IOCTL_I915_GEM_WAIT, &wait},
              {"close", DRM_IOCTL_GEM_CLOSE, &close_call},
              {"name", DRM_IOCTL_GEM_FLINK, &flink},
              {"open", DRM_IOCTL_GEM_OPEN, &open_call},
              {"export", DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime},
              {"pin", DRM_IOCTL_I915_GEM_PIN, &pin},
              {"unpin", DRM_IOCTL_I915_GEM_UNPIN, &unpin}};
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    observe(rows[i].name, call(rows[i].request, rows[i].argument));
  }
}

static int create_in(const struct drm_i915_gem_memory_class_instance* regions, unsigned count, uint64_t bytes,
                     uint32_t* handle) {
  struct drm_i915_gem_create_ext_memory_regions list = {
      .base = {.name = I915_GEM_CREATE_EXT_MEMORY_REGIONS}, .num_regions = count, .regions = (uintptr_t)regions};
  struct drm_i915_gem_create_ext request = {.size = bytes, .extensions = (uintptr_t)&list};
  const int result = call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request);
  if (handle != NULL) *handle = request.handle;
  if (result == 0) observe_number(key("size of %llx in %u", (unsigned long long)bytes, count), request.size);
  return result;
}

static void regions(void) {
  const struct drm_i915_gem_memory_class_instance system = {0, 0}, local = {1, 0};
  const struct drm_i915_gem_memory_class_instance both[] = {local, system}, twice[] = {system, system};
  const struct drm_i915_gem_memory_class_instance wrong[] = {{0, 1}, {1, 1}, {2, 0}, {0xffff, 0xffff}};
  expect("system", create_in(&system, 1, 4096, NULL), 0);
  expect("local", create_in(&local, 1, 4096, NULL), chip.has_local_memory ? 0 : -EINVAL);
  expect("both", create_in(both, 2, 4097, NULL), chip.has_local_memory ? 0 : -EINVAL);
  expect("twice", create_in(twice, 2, 4096, NULL), -EINVAL);
  for (unsigned i = 0; i < 4; ++i) expect(key("unknown %u", i), create_in(&wrong[i], 1, 4096, NULL), -EINVAL);
  expect("none", create_in(&system, 0, 4096, NULL), -EINVAL);
  expect("null", create_in(NULL, 1, 4096, NULL), -EFAULT);
  observe("many", create_in(twice, 0x10000000, 4096, NULL));
  expect("no size", create_in(&system, 1, 0, NULL), -EINVAL);
  observe("size", create_in(&system, 1, 1ull << 63, NULL));
}

static void chains(void) {
  struct drm_i915_gem_create_ext request = {.size = 4096};
  expect("plain", call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request), 0);
  for (unsigned bit = 0; bit < 32; bit += 31) {
    request = (struct drm_i915_gem_create_ext){.size = 4096, .flags = 1u << bit};
    observe(key("flag %u", bit), call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request));
  }
  request = (struct drm_i915_gem_create_ext){.size = 4096, .flags = I915_GEM_CREATE_EXT_FLAG_NEEDS_CPU_ACCESS};
  observe("processor access", call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request));
  request = (struct drm_i915_gem_create_ext){.size = 4096, .extensions = 0x10};
  expect("wild", call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request), -EFAULT);
  struct i915_user_extension extension = {.name = 99};
  request.extensions = (uintptr_t)&extension;
  expect("unknown", call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request), -EINVAL);
  for (unsigned name = 1; name < 4; ++name) {
    struct drm_i915_gem_create_ext_protected_content content = {.base = {.name = name}};
    request.extensions = (uintptr_t)&content;
    observe(key("extension %u", name), call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request));
  }
  const struct drm_i915_gem_memory_class_instance system = {0, 0};
  struct drm_i915_gem_create_ext_memory_regions list = {
      .base = {.name = I915_GEM_CREATE_EXT_MEMORY_REGIONS}, .num_regions = 1, .regions = (uintptr_t)&system};
  struct drm_i915_gem_create_ext_memory_regions second = list;
  list.base.next_extension = (uintptr_t)&second;
  request.extensions = (uintptr_t)&list;
  observe("two lists", call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request));
  list.base.next_extension = 0x10;
  expect("wild next", call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request), -EFAULT);
  list.base.next_extension = 0;
  list.base.flags = 1;
  expect("extension flags", call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request), -EINVAL);
  list.base.flags = 0;
  list.base.rsvd[2] = 1;
  expect("reserved", call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request), -EINVAL);
  list.base.rsvd[2] = 0;
  list.pad = 1;
  expect("pad", call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request), -EINVAL);
}

// Tests the content of a new object, and of the next object after the first was written and closed.
static void zeroed(void) {
  uint8_t bytes[8192], zero[8192] = {0};
  for (unsigned round = 0; round < 3; ++round) {
    const struct object object = create(sizeof(bytes));
    memset(bytes, 0xa5, sizeof(bytes));
    get(&object, 0, bytes, sizeof(bytes));
    expect_true(key("round %u", round), memcmp(bytes, zero, sizeof(bytes)) == 0);
    memset(bytes, 0x5a, sizeof(bytes));
    put(&object, 0, bytes, sizeof(bytes));
    close_object(&object);
  }
}

const struct test buffer_tests[] = {{"buffers.sizes", sizes, 0},
                                    {"buffers.handles", handles, 0},
                                    {"buffers.unknown", unknown_handles, 0},
                                    {"buffers.regions", regions, 0},
                                    {"buffers.chains", chains, 0},
                                    {"buffers.zeroed", zeroed, 0},
                                    {0}};
