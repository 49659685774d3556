// Domains, caching and advice.
#include <string.h>
#include <sys/mman.h>

#include "suite.h"

static void domains(void) {
  static const uint32_t rows[][2] = {{0, 0},       {1, 0},    {1, 1},       {0x40, 0},      {0x40, 0x40},    {0x80, 0},
                                     {0x80, 0x80}, {0x41, 0}, {0x41, 0x41}, {0x41, 1},      {0xc1, 0},       {1, 0x40},
                                     {0, 1},       {2, 0},    {2, 2},       {4, 0},         {8, 0},          {0x10, 0},
                                     {0x20, 0},    {0x3e, 0}, {0x100, 0},   {0x100, 0x100}, {0x80000000, 0}, {0, 2},
                                     {1, 3},       {~0u, 0},  {0, ~0u}};
  const struct object object = create(4096);
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    struct drm_i915_gem_set_domain request = {
        .handle = object.handle, .read_domains = rows[i][0], .write_domain = rows[i][1]};
    observe(key("read %x write %x", rows[i][0], rows[i][1]), call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &request));
  }
  struct drm_i915_gem_sw_finish finish = {.handle = object.handle};
  observe("finish", call(DRM_IOCTL_I915_GEM_SW_FINISH, &finish));
}

static void caching(void) {
  const struct object object = create(4096);
  struct drm_i915_gem_caching request = {.handle = object.handle, .caching = 77};
  int result = call(DRM_IOCTL_I915_GEM_GET_CACHING, &request);
  observe("at first", result < 0 ? result : (int)request.caching);
  for (uint32_t level = 0; level <= 4; ++level) {
    request = (struct drm_i915_gem_caching){.handle = object.handle, .caching = level};
    observe(key("set %u", level), call(DRM_IOCTL_I915_GEM_SET_CACHING, &request));
    request.caching = 77;
    result = call(DRM_IOCTL_I915_GEM_GET_CACHING, &request);
    observe(key("get after %u", level), result < 0 ? result : (int)request.caching);
  }
}

static int advise(const struct object* object, uint32_t value, uint32_t* retained) {
  struct drm_i915_gem_madvise request = {.handle = object->handle, .madv = value, .retained = 77};
  const int result = call(DRM_IOCTL_I915_GEM_MADVISE, &request);
  *retained = request.retained;
  return result;
}

static void advice(void) {
  uint32_t retained = 0;
  const struct object object = create(4096);
  put(&object, 0, "pages", 6);
  struct drm_i915_gem_set_domain domain = {.handle = object.handle, .read_domains = I915_GEM_DOMAIN_CPU};
  call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain);  // allocates pages, on chips that offer the call
  expect("needed", advise(&object, I915_MADV_WILLNEED, &retained), 0);
  expect_number("needed retained", retained, 1);
  expect("not needed", advise(&object, I915_MADV_DONTNEED, &retained), 0);
  expect_number("not needed retained", retained, !chip.has_local_memory);
  if (!chip.has_local_memory) {
    char text[6];
    expect("read", get_on(device, &object, 0, text, 6), 0);
    expect("write", put_on(device, &object, 0, text, 6), 0);
  }
  struct batch batch;
  start_batch(&batch);
  add_end(&batch);
  finish_batch(&batch, 0, 0);
  batch.objects[0].handle = object.handle;
  batch.objects[1].handle = batch.object.handle;
  batch.objects[1].flags = batch.objects[0].flags;
  batch.objects[1].offset = batch.object.address;
  batch.objects[0].offset = object.address;
  batch.execute.buffer_count = 2;
  observe("execute with it", submit_as_is(&batch));
  expect("needed again", advise(&object, I915_MADV_WILLNEED, &retained), 0);
  expect_number("needed again retained", retained, !chip.has_local_memory);
  observe("value 2", advise(&object, 2, &retained));
  observe("value max", advise(&object, ~0u, &retained));
}

// Without pages there is no content to keep.
static void purged(void) {
  uint32_t retained = 0;
  const struct object object = create(4096);
  expect("not needed", advise(&object, I915_MADV_DONTNEED, &retained), 0);
  observe_number("not needed retained", retained);
  expect("needed", advise(&object, I915_MADV_WILLNEED, &retained), 0);
  observe_number("needed retained", retained);
  if (chip.has_local_memory) return;
  char text[6] = "text";
  observe("write", put_on(device, &object, 0, text, 6));
  observe("read", get_on(device, &object, 0, text, 6));
  struct drm_i915_gem_set_domain domain = {.handle = object.handle, .read_domains = I915_GEM_DOMAIN_CPU};
  observe("domain", call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain));
  observe("store", store(I915_EXEC_RENDER, 0, &object, 0, 1));
  struct drm_i915_gem_mmap_offset offset = {.handle = object.handle, .flags = I915_MMAP_OFFSET_WC};
  observe("map", call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset));
}

const struct test domain_tests[] = {{"domains.all", domains, 0},
                                    {"domains.caching", caching, 0},
                                    {"domains.advice", advice, 0},
                                    {"domains.purged", purged, 0},
                                    {0}};
