// Mappings: MMAP, MMAP_GTT, MMAP_OFFSET of each kind, and mmap(2) itself.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

static const char* const kinds[] = {"gtt", "wc", "wb", "uc", "fixed"};

static void offsets(void) {
  const struct object object = create(8192);
  for (uint64_t kind = 0; kind <= 8; ++kind) {
    struct drm_i915_gem_mmap_offset request = {.handle = object.handle, .flags = kind};
    observe(key("kind %u", (unsigned)kind), call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &request));
  }
  const uint64_t good = chip.has_local_memory ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WC;
  struct drm_i915_gem_mmap_offset request = {.handle = object.handle, .flags = good | 1ull << 32};
  expect("flags", call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &request), -EINVAL);
  struct i915_user_extension extension = {.name = 1};
  request =
      (struct drm_i915_gem_mmap_offset){.handle = object.handle, .flags = good, .extensions = (uintptr_t)&extension};
  expect("extension", call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &request), -EINVAL);
  request.extensions = 0x10;
  expect("wild extension", call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &request), -EFAULT);
  struct drm_i915_gem_mmap_gtt gtt = {.handle = object.handle};
  observe("mmap gtt", call(DRM_IOCTL_I915_GEM_MMAP_GTT, &gtt));
  struct drm_i915_gem_mmap_offset first = {.handle = object.handle, .flags = good}, second = first;
  expect("first", call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &first), 0);
  expect("second", call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &second), 0);
  expect_true("the same place", first.offset == second.offset);
  expect_true("on a page", first.offset % 4096 == 0 && first.offset != 0);
}

// A write through one mapping is visible through the others.
static void contents(void) {
  for (unsigned kind = 0; kind < 5; ++kind) {
    const struct object object = create(8192);
    int error = 0;
    uint32_t* memory = map_offset(device, object.handle, 8192, kind, &error);
    if (memory == NULL) {
      observe(kinds[kind], error);
      continue;
    }
    struct drm_i915_gem_set_domain domain = {.handle = object.handle,
                                             .read_domains = kind == 0   ? I915_GEM_DOMAIN_GTT
                                                             : kind == 2 ? I915_GEM_DOMAIN_CPU
                                                                         : I915_GEM_DOMAIN_WC};
    domain.write_domain = domain.read_domains;
    observe(key("%s domain", kinds[kind]), call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain));
    expect_number(key("%s first", kinds[kind]), memory[3], 0);
    for (uint32_t i = 0; i < 2048; ++i) memory[i] = 0x1000 * (kind + 1) + i;
    expect_number(key("%s read", kinds[kind]), word_at(&object, 8188), 0x1000 * (kind + 1) + 2047);
    if (can_store(0)) {
      expect(key("%s store", kinds[kind]), store(I915_EXEC_RENDER, 0, &object, 4096, 0xfeed), 0);
      call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain);
      wait_for(&object);
      expect_number(key("%s sees the store", kinds[kind]), ((volatile uint32_t*)memory)[1024], 0xfeed);
      expect_number(key("%s beside", kinds[kind]), memory[1025], 0x1000 * (kind + 1) + 1025);
    }
    close_object(&object);
    expect_number(key("%s after close", kinds[kind]), memory[7], 0x1000 * (kind + 1) + 7);
    expect(key("%s unmap", kinds[kind]), munmap(memory, 8192), 0);
  }
}

static int64_t try_map(int file, uint64_t offset, uint64_t bytes, int protection, int flags) {
  void* memory = mmap(NULL, bytes, protection, flags, file, (off_t)offset);
  if (memory == MAP_FAILED) return -errno;
  munmap(memory, bytes);
  return 0;
}

static void places(void) {
  const uint64_t kind = chip.has_local_memory ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WC;
  const struct object object = create(4 * 4096);
  struct drm_i915_gem_mmap_offset request = {.handle = object.handle, .flags = kind};
  expect("offset", call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &request), 0);
  const int both = PROT_READ | PROT_WRITE;
  expect("all", try_map(device, request.offset, 4 * 4096, both, MAP_SHARED), 0);
  expect("a part", try_map(device, request.offset, 4096, both, MAP_SHARED), 0);
  observe("the second half", try_map(device, request.offset + 8192, 8192, both, MAP_SHARED));
  observe("too much", try_map(device, request.offset, 5 * 4096, both, MAP_SHARED));
  observe("private", try_map(device, request.offset, 4096, both, MAP_PRIVATE));
  observe("private, read", try_map(device, request.offset, 4096, PROT_READ, MAP_PRIVATE));
  expect("read only", try_map(device, request.offset, 4096, PROT_READ, MAP_SHARED), 0);
  expect("nothing there", try_map(device, 0, 4096, both, MAP_SHARED), -EINVAL);
  observe("far", try_map(device, 1ull << 50, 4096, both, MAP_SHARED));
  const int other = open_device();
  expect("of another file", try_map(other, request.offset, 4096, both, MAP_SHARED), -EACCES);
  close(other);
  close_object(&object);
  // The object is freed a little later than its handle.
  const int64_t closed = try_map(device, request.offset, 4096, both, MAP_SHARED);
  expect_true("not of a closed object", closed == -EINVAL || closed == -EACCES);
}

// Tests MMAP, the old call that returns a mapping.
static void old_call(void) {
  const struct object object = create(4 * 4096);
  static const struct {
    const char* name;
    uint64_t offset, size, flags;
  } rows[] = {{"all", 0, 16384, 0},
              {"wc", 0, 16384, 1},
              {"flag 2", 0, 4096, 2},
              {"flag 3", 0, 4096, 3},
              {"second page", 4096, 4096, 0},
              {"unaligned", 5, 4096, 0},
              {"no size", 0, 0, 0},
              {"odd size", 0, 5, 0},
              {"too long", 0, 16385, 0},
              {"behind", 16384, 4096, 0},
              {"over the end", 8192, 12288, 0},
              {"huge", 0, 1ull << 63, 0},
              {"wraps", ~0ull - 4095, 8192, 0}};
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    struct drm_i915_gem_mmap request = {
        .handle = object.handle, .offset = rows[i].offset, .size = rows[i].size, .flags = rows[i].flags};
    const int result = call(DRM_IOCTL_I915_GEM_MMAP, &request);
    observe(rows[i].name, result);
    if (result != 0) continue;
    volatile uint32_t* memory = (void*)(uintptr_t)request.addr_ptr;
    memory[0] = 0xabc0 + i;
    expect_number(key("%s seen", rows[i].name), word_at(&object, rows[i].offset), 0xabc0 + i);
    munmap((void*)(uintptr_t)request.addr_ptr, rows[i].size);
  }
}

const struct test map_tests[] = {{"maps.offsets", offsets, 0},
                                 {"maps.contents", contents, 0},
                                 {"maps.places", places, 0},
                                 {"maps.old-call", old_call, 0},
                                 {0}};
