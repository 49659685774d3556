// Tilings that fences apply.
#include <string.h>
#include <sys/mman.h>

#include "suite.h"

static int set(uint32_t handle, uint32_t mode, uint32_t stride, struct drm_i915_gem_set_tiling* request) {
  *request = (struct drm_i915_gem_set_tiling){.handle = handle, .tiling_mode = mode, .stride = stride};
  return call(DRM_IOCTL_I915_GEM_SET_TILING, request);
}

static void modes(void) {
  static const struct {
    uint32_t mode, stride;
  } rows[] = {{1, 512},   {1, 1024},  {1, 4096},   {1, 8192},   {1, 0},    {1, 4},    {1, 256}, {1, 513}, {1, 768},
              {1, 32768}, {1, 65536}, {1, 131072}, {1, 262144}, {1, 1536}, {1, 2560}, {2, 128}, {2, 512}, {2, 64},
              {2, 129},   {2, 384},   {2, 131072}, {2, 262144}, {2, 0},    {0, 512},  {0, 0},   {3, 512}, {99, 512}};
  const struct object object = create(1 << 20);
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    const char* name = key("mode %u stride %u", rows[i].mode, rows[i].stride);
    struct drm_i915_gem_set_tiling request;
    const int result = set(object.handle, rows[i].mode, rows[i].stride, &request);
    observe(name, result);
    if (result < 0) continue;
    observe_text(key("%s says", name),
                 key("mode %u stride %u swizzle %u", request.tiling_mode, request.stride, request.swizzle_mode));
    struct drm_i915_gem_get_tiling get_call = {.handle = object.handle};
    expect(key("%s get", name), call(DRM_IOCTL_I915_GEM_GET_TILING, &get_call), 0);
    observe_text(key("%s is", name), key("mode %u swizzle %u physical %u", get_call.tiling_mode, get_call.swizzle_mode,
                                         get_call.phys_swizzle_mode));
  }
}

static uint32_t tiled_offset(uint32_t mode, uint32_t stride, uint32_t x, uint32_t y) {
  const uint32_t width = mode == 1 ? 512 : 128, height = mode == 1 ? 8 : 32;
  const uint32_t tile = y / height * (stride / width) + x / width;
  const uint32_t inside = mode == 1 ? y % 8 * 512 + x % 512 : x % 128 / 16 * 512 + y % 32 * 16 + x % 16;
  return tile * 4096 + inside;
}

// Lines written through the aperture are stored in tiles.
static void aperture(void) {
  enum { stride = 1024, height = 64, bytes = stride * height };
  static uint8_t memory[bytes];
  for (uint32_t mode = 1; mode <= 2; ++mode) {
    const struct object object = create(bytes);
    struct drm_i915_gem_set_tiling request;
    int error = set(object.handle, mode, stride, &request);
    observe(key("mode %u", mode), error);
    if (error < 0) continue;
    uint32_t* lines = map_offset(device, object.handle, bytes, I915_MMAP_OFFSET_GTT, &error);
    if (lines == NULL) {
      observe(key("mode %u map", mode), error);
      continue;
    }
    struct drm_i915_gem_set_domain domain = {
        .handle = object.handle, .read_domains = I915_GEM_DOMAIN_GTT, .write_domain = I915_GEM_DOMAIN_GTT};
    expect(key("mode %u domain", mode), call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain), 0);
    for (uint32_t i = 0; i < bytes / 4; i += 16) lines[i] = 0xc0000000 + i;
    get(&object, 0, memory, bytes);
    unsigned wrong = 0;
    for (uint32_t i = 0; i < bytes / 4 && request.swizzle_mode == 0; i += 16) {
      uint32_t word;
      memcpy(&word, memory + tiled_offset(mode, stride, 4 * i % stride, 4 * i / stride), 4);
      wrong += word != 0xc0000000 + i;
    }
    expect_number(key("mode %u words in wrong places", mode), wrong, 0);
    call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain);
    expect_number(key("mode %u read again", mode), lines[16 * 77], 0xc0000000 + 16 * 77);
    munmap(lines, bytes);
  }
}

const struct test tiling_tests[] = {{"tiling.modes", modes, 0}, {"tiling.aperture", aperture, 0}, {0}};
