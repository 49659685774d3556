// Blits like those of intel-gpu-tools' benchmarks, on every chip, with a check of every byte: fills and copies of rectangles
// of 32-bit pixels, many small ones and one large one, by relocations or pinned addresses. Prints how many pixels are
// right. Exit status 0: all are.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "store.h"

enum { kWidth = 256, kHeight = 128, kPitch = kWidth * 4, kBytes = kPitch * kHeight, kBatchBytes = 64 * 1024 };

struct surface {
  uint32_t handle;
  uint32_t* words;
  uint64_t place;
};

static int fd, wide, local;
static struct surface source, target, batch;
static uint32_t* next;
static struct drm_i915_gem_relocation_entry relocations[1024];
static uint32_t relocation_count;
static uint32_t expected[kWidth * kHeight];

static int make(struct surface* surface, uint64_t bytes, uint64_t place) {
  struct drm_i915_gem_create create = {.size = bytes};
  if (drmIoctl(fd, DRM_IOCTL_I915_GEM_CREATE, &create) != 0) return perror("CREATE"), 1;
  struct drm_i915_gem_mmap_offset map = {.handle = create.handle,
                                         .flags = local ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WB};
  if (drmIoctl(fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &map) != 0) return perror("MMAP_OFFSET"), 1;
  void* const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
  if (at == MAP_FAILED) return perror("mmap"), 1;
  *surface = (struct surface){create.handle, at, place};
  return 0;
}

static void put_address(const struct surface* surface, int write) {
  if (wide) {
    *next++ = (uint32_t)surface->place;
    *next++ = (uint32_t)(surface->place >> 32);
    return;
  }
  relocations[relocation_count++] =
      (struct drm_i915_gem_relocation_entry){.target_handle = surface->handle,
                                             .offset = (uint64_t)(next - batch.words) * 4,
                                             .presumed_offset = ~0ull,
                                             .read_domains = I915_GEM_DOMAIN_RENDER,
                                             .write_domain = write ? I915_GEM_DOMAIN_RENDER : 0};
  *next++ = 0;
}

static void fill(uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint32_t colour) {
  *next++ = 2u << 29 | 0x50u << 22 | 3u << 20 | (wide ? 5 : 4);
  *next++ = 3u << 24 | 0xf0u << 16 | kPitch;
  *next++ = y << 16 | x;
  *next++ = (y + height) << 16 | (x + width);
  put_address(&target, 1);
  *next++ = colour;
  for (uint32_t line = y; line < y + height; ++line) {
    for (uint32_t column = x; column < x + width; ++column) expected[line * kWidth + column] = colour;
  }
}

static void copy(uint32_t from_x, uint32_t from_y, uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
  *next++ = 2u << 29 | 0x53u << 22 | 3u << 20 | (wide ? 8 : 6);
  *next++ = 3u << 24 | 0xccu << 16 | kPitch;
  *next++ = y << 16 | x;
  *next++ = (y + height) << 16 | (x + width);
  put_address(&target, 1);
  *next++ = from_y << 16 | from_x;
  *next++ = kPitch;
  put_address(&source, 0);
  for (uint32_t line = 0; line < height; ++line) {
    for (uint32_t column = 0; column < width; ++column) {
      expected[(y + line) * kWidth + x + column] = source.words[(from_y + line) * kWidth + from_x + column];
    }
  }
}

static int run(uint64_t engine) {
  *next++ = 0x0au << 23;
  if (((next - batch.words) & 1) != 0) *next++ = 0;
  const struct surface* const all[3] = {&source, &target, &batch};
  struct drm_i915_gem_exec_object2 objects[3];
  memset(objects, 0, sizeof objects);
  for (int i = 0; i < 3; ++i) {
    objects[i].handle = all[i]->handle;
    if (wide) {
      objects[i].offset = all[i]->place;
      objects[i].flags = EXEC_OBJECT_PINNED;
    }
  }
  objects[1].flags |= EXEC_OBJECT_WRITE;
  objects[2].relocs_ptr = (uintptr_t)relocations;
  objects[2].relocation_count = relocation_count;
  struct drm_i915_gem_execbuffer2 execute = {.buffers_ptr = (uintptr_t)objects,
                                             .buffer_count = 3,
                                             .batch_len = (uint32_t)(next - batch.words) * 4,
                                             .flags = engine};
  if (drmIoctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &execute) != 0) return perror("EXECBUFFER2"), 1;
  struct drm_i915_gem_wait wait = {.bo_handle = target.handle, .timeout_ns = -1};
  if (drmIoctl(fd, DRM_IOCTL_I915_GEM_WAIT, &wait) != 0) return perror("WAIT"), 1;
  if (!local) {
    struct drm_i915_gem_set_domain domain = {.handle = target.handle, .read_domains = I915_GEM_DOMAIN_CPU};
    if (drmIoctl(fd, DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain) != 0) return perror("SET_DOMAIN"), 1;
  }
  return 0;
}

int main(void) {
  fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  int id = 0;
  if (fd < 0 || get_parameter(fd, I915_PARAM_CHIPSET_ID, &id) != 0) return perror("no device"), 1;
  const int generation = generation_of(id);
  wide = generation >= 8;
  local = id == 0x4905;
  if (make(&source, kBytes, 0x200000) || make(&target, kBytes, 0x400000) || make(&batch, kBatchBytes, 0x600000)) {
    return 1;
}
  for (uint32_t i = 0; i < kWidth * kHeight; ++i) {
    source.words[i] = i * 0x9e3779b1u;
    target.words[i] = expected[i] = 0x5a5a0000u + i;
  }
  uint64_t right = 0;
  for (int round = 0; round < 3; ++round) {
    next = batch.words;
    relocation_count = 0;
    if (round == 0) {
      fill(10, 5, 100, 60, 0x11223344);
      copy(3, 2, 120, 10, 101, 77);
    } else if (round == 1) {  // many small blits, as an upload of small pictures
      for (uint32_t i = 0; i < 128; ++i) copy(i % 16 * 16, i / 16 * 16, (i * 7) % 240, (i * 5) % 112, 1 + i % 16, 16);
    } else {
      copy(0, 0, 0, 0, kWidth, kHeight);
    }
    if (run(generation >= 6 ? I915_EXEC_BLT : I915_EXEC_RENDER) != 0) return 1;
    for (uint32_t i = 0; i < kWidth * kHeight; ++i) {
      if (target.words[i] == expected[i]) {
        ++right;
      } else {
        fprintf(stderr, "round %d, pixel %u,%u: %08x, not %08x\n", round, i % kWidth, i / kWidth, target.words[i],
                expected[i]);
        return 1;
      }
    }
  }
  printf("%llu pixels right\n", (unsigned long long)right);
  return 0;
}
