// The smallest useful batch, on every chip: stores a dword into a buffer.
#pragma once

#include <i915_drm.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <xf86drm.h>

static inline int get_parameter(int fd, int number, int* value) {
  drm_i915_getparam_t parameter = {.param = number, .value = value};
  return drmIoctl(fd, DRM_IOCTL_I915_GETPARAM, &parameter);
}

static inline int generation_of(int id) {
  switch (id) {
    case 0x29a2:
    case 0x2a02:
    case 0x2e22:
    case 0x2a42:
      return 4;
    case 0x0116:
      return 6;
    case 0x22b1:
    case 0x1616:
      return 8;
    case 0x1912:
      return 9;
    case 0x8a52:
      return 11;
    default:
      return 12;
  }
}

struct target {
  uint32_t handle;
  uint32_t batch;
  uint32_t* words;        // mapping of the target
  uint32_t* batch_words;  // mapping of the batch
  int generation;
  int local;
};

static inline uint32_t* map_buffer(int fd, uint32_t handle, int local) {
  struct drm_i915_gem_mmap_offset map = {.handle = handle,
                                         .flags = local ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WB};
  if (drmIoctl(fd, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &map) != 0) return perror("MMAP_OFFSET"), NULL;
  void* const at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset);
  if (at == MAP_FAILED) return perror("mmap"), NULL;
  return at;
}

static inline int make_target(int fd, struct target* target) {
  int id = 0;
  if (get_parameter(fd, I915_PARAM_CHIPSET_ID, &id) != 0) return perror("GETPARAM"), 1;
  target->generation = generation_of(id);
  target->local = id == 0x4905;
  uint32_t* const handles[2] = {&target->handle, &target->batch};
  uint32_t** const words[2] = {&target->words, &target->batch_words};
  for (int i = 0; i < 2; ++i) {
    struct drm_i915_gem_create create = {.size = 4096};
    if (drmIoctl(fd, DRM_IOCTL_I915_GEM_CREATE, &create) != 0) return perror("CREATE"), 1;
    *handles[i] = create.handle;
    *words[i] = map_buffer(fd, create.handle, target->local);
    if (*words[i] == NULL) return 1;
  }
  return 0;
}

// Stores into the first dword and waits until it arrives.
static inline int store(int fd, struct target* target, uint32_t value) {
  uint32_t* word = target->batch_words;
  const int wide = target->generation >= 8;
  const uint64_t place = 0x100000;  // for chips without relocations
  if (target->generation < 6) {     // only privileged batches may store: uses a BLT of one pixel
    *word++ = 2u << 29 | 0x50u << 22 | 3u << 20 | 4;
    *word++ = 3u << 24 | 0xf0u << 16 | 4096;
    *word++ = 0;
    *word++ = 1u << 16 | 1;
  } else {
    *word++ = 0x20u << 23 | 2;
    if (!wide) *word++ = 0;
  }
  const uint64_t address_at = (uint64_t)(word - target->batch_words) * 4;
  const int pinned = target->generation >= 12;
  *word++ = pinned ? (uint32_t)place : 0;
  if (wide) *word++ = 0;
  *word++ = value;
  *word++ = 0x0au << 23;
  *word++ = 0;
  struct drm_i915_gem_relocation_entry relocation = {.target_handle = target->handle,
                                                     .offset = address_at,
                                                     .presumed_offset = ~0ull,
                                                     .read_domains = I915_GEM_DOMAIN_INSTRUCTION,
                                                     .write_domain = I915_GEM_DOMAIN_INSTRUCTION};
  struct drm_i915_gem_exec_object2 objects[2];
  memset(objects, 0, sizeof objects);
  objects[0].handle = target->handle;
  objects[0].flags = EXEC_OBJECT_WRITE;
  objects[1].handle = target->batch;
  if (pinned) {
    objects[0].offset = place;
    objects[1].offset = place + 0x10000;
    objects[0].flags |= EXEC_OBJECT_PINNED;
    objects[1].flags |= EXEC_OBJECT_PINNED;
  } else {
    objects[1].relocs_ptr = (uintptr_t)&relocation;
    objects[1].relocation_count = 1;
  }
  struct drm_i915_gem_execbuffer2 execute = {.buffers_ptr = (uintptr_t)objects, .buffer_count = 2};
  if (drmIoctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &execute) != 0) return perror("EXECBUFFER2"), 1;
  struct drm_i915_gem_wait wait = {.bo_handle = target->handle, .timeout_ns = -1};
  if (drmIoctl(fd, DRM_IOCTL_I915_GEM_WAIT, &wait) != 0) return perror("WAIT"), 1;
  return 0;
}

// Stores into a new buffer. 1: the dword arrived.
static inline int stores(int fd, uint32_t value) {
  struct target target;
  return make_target(fd, &target) == 0 && store(fd, &target, value) == 0 && target.words[0] == value;
}
