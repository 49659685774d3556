// Objects made of the program's own memory.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "suite.h"

static int make(uint64_t pointer, uint64_t bytes, uint32_t flags, uint32_t* handle) {
  struct drm_i915_gem_userptr request = {.user_ptr = pointer, .user_size = bytes, .flags = flags};
  const int result = call(DRM_IOCTL_I915_GEM_USERPTR, &request);
  if (handle != NULL) *handle = request.handle;
  return result;
}

static char* pages(unsigned count, int protection) {
  char* memory = mmap(NULL, 4096 * count, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "no memory");
  return memory;
}

static void wrong(void) {
  char* memory = pages(4, PROT_READ | PROT_WRITE);
  const uint64_t here = (uintptr_t)memory;
  observe("good", make(here, 8192, 0, NULL));
  observe("no size", make(here, 0, 0, NULL));
  observe("odd size", make(here, 4097, 0, NULL));
  observe("odd place", make(here + 16, 4096, 0, NULL));
  observe("huge", make(here, 1ull << 46, 0, NULL));
  observe("wraps", make(here, ~0ull - 4095, 0, NULL));
  observe("null", make(0, 4096, 0, NULL));
  observe("kernel", make(0xffff888000000000ull, 4096, 0, NULL));
  for (unsigned bit = 0; bit < 32; ++bit) observe(key("flag %u", bit), make(here, 4096, 1u << bit, NULL));
  munmap(memory + 4096, 4096);
  observe("probe good", make(here, 4096, I915_USERPTR_PROBE, NULL));
  observe("probe hole", make(here + 4096, 4096, I915_USERPTR_PROBE, NULL));
  observe("probe into a hole", make(here, 8192, I915_USERPTR_PROBE, NULL));
  observe("not probed", make(here, 8192, 0, NULL));
}

static void stores(void) {
  char* memory = pages(2, PROT_READ | PROT_WRITE);
  struct object object = create(8192);
  const uint64_t address = object.address;
  const int made = make((uintptr_t)memory, 8192, 0, &object.handle);
  observe("create", made);
  if (made < 0) return;
  object.address = address;
  strcpy(memory, "before");
  expect("store", store(I915_EXEC_RENDER, 0, &object, 4096, 0x5e1f), 0);
  expect("wait", wait_for(&object), 0);
  expect_number("word", *(volatile uint32_t*)(memory + 4096), 0x5e1f);
  expect_true("beside", strcmp(memory, "before") == 0);
  char text[8] = "";
  observe("read", get_on(device, &object, 0, text, 7));
  observe("write", put_on(device, &object, 0, text, 7));
  int error = 0;
  void* mapped = map_offset(device, object.handle, 8192, I915_MMAP_OFFSET_WC, &error);
  observe("map", mapped == NULL ? error : 0);
  struct drm_prime_handle prime = {.handle = object.handle};
  observe("export", call(DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
  struct drm_i915_gem_set_tiling tiling = {.handle = object.handle, .tiling_mode = 1, .stride = 512};
  observe("tiling", call(DRM_IOCTL_I915_GEM_SET_TILING, &tiling));
  struct drm_i915_gem_caching caching = {.handle = object.handle};
  observe("get caching", call(DRM_IOCTL_I915_GEM_GET_CACHING, &caching));
  observe_number("caching", caching.caching);
  caching.caching = 0;
  observe("set caching", call(DRM_IOCTL_I915_GEM_SET_CACHING, &caching));
  struct drm_i915_gem_set_domain domain = {.handle = object.handle, .read_domains = 1, .write_domain = 1};
  observe("domain", call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain));
  struct drm_i915_gem_madvise advice = {.handle = object.handle, .madv = 1};
  observe("advise", call(DRM_IOCTL_I915_GEM_MADVISE, &advice));
}

// Memory that is not mapped when a batch needs it.
static void gone(void) {
  char* memory = pages(2, PROT_READ | PROT_WRITE);
  struct object object = create(8192);
  const uint64_t address = object.address;
  if (make((uintptr_t)memory, 8192, 0, &object.handle) < 0) skip("no such objects");
  object.address = address;
  memset(memory, 1, 8192);
  expect("store", store(I915_EXEC_RENDER, 0, &object, 0, 0x1), 0);
  wait_for(&object);
  munmap(memory, 8192);
  observe("store after it went", store(I915_EXEC_RENDER, 0, &object, 0, 0x2));
  memory = mmap(memory, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memset(memory, 0, 8192);
  const int again = store(I915_EXEC_RENDER, 0, &object, 0, 0x3);
  observe("store when other memory is there", again);
  wait_for(&object);
  observe_number("word", *(volatile uint32_t*)memory);
  struct object constant = create(4096);
  char* fixed = pages(1, PROT_READ);
  observe("constant", make((uintptr_t)fixed, 4096, 0, &constant.handle));
  observe("store to constant memory", store(I915_EXEC_RENDER, 0, &constant, 0, 0x4));
  struct object hole = create(4096);
  observe("hole", make(0x10000, 4096, 0, &hole.handle));
  observe("store to a hole", store(I915_EXEC_RENDER, 0, &hole, 0, 0x5));
}

// Memory that is mapped but no longer accessible.
static void forbidden(void) {
  static const struct {
    const char* name;
    int rights;
  } rows[] = {{"constant", PROT_READ}, {"forbidden", PROT_NONE}, {"allowed again", PROT_READ | PROT_WRITE}};
  char* memory = pages(2, PROT_READ | PROT_WRITE);
  struct object object = create(8192);
  const uint64_t address = object.address;
  if (make((uintptr_t)memory, 8192, 0, &object.handle) < 0) skip("no such objects");
  object.address = address;
  expect("store", store(I915_EXEC_RENDER, 0, &object, 4096, 0x1), 0);
  wait_for(&object);
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    mprotect(memory + 4096, 4096, rows[i].rights);
    const int wanted = (rows[i].rights & PROT_WRITE) != 0 ? 0 : -EFAULT;
    expect(key("store, %s", rows[i].name), store(I915_EXEC_RENDER, 0, &object, 4096, 0x2), wanted);
    wait_for(&object);
  }
  expect_number("word", *(volatile uint32_t*)(memory + 4096), 0x2);
}

// A mapped file that is truncated.
static void cut(void) {
  const int file = memfd_create("cut", 0);
  require(file >= 0 && ftruncate(file, 8192) == 0, "no file");
  char* memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  require(memory != MAP_FAILED, "no memory");
  struct object object = create(8192);
  const uint64_t address = object.address;
  if (make((uintptr_t)memory, 8192, 0, &object.handle) < 0) skip("no such objects");
  object.address = address;
  expect("store", store(I915_EXEC_RENDER, 0, &object, 4096, 0x1), 0);
  wait_for(&object);
  require(ftruncate(file, 4096) == 0, "the file stays long");
  expect("store behind the file's end", store(I915_EXEC_RENDER, 0, &object, 4096, 0x2), -EFAULT);
  expect("store before it", store(I915_EXEC_RENDER, 0, &object, 0, 0x3), -EFAULT);
  require(ftruncate(file, 8192) == 0, "the file stays short");
  expect("store when it is long again", store(I915_EXEC_RENDER, 0, &object, 4096, 0x4), 0);
  wait_for(&object);
  expect_number("word", *(volatile uint32_t*)(memory + 4096), 0x4);
  close(file);
}

const struct test userptr_tests[] = {{"userptr.wrong", wrong, 0}, {"userptr.stores", stores, 0},
                                     {"userptr.gone", gone, 0},   {"userptr.forbidden", forbidden, 0},
                                     {"userptr.cut", cut, 0},     {0}};
