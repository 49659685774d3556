#include <string.h>
#include <sys/mman.h>

#include "suite.h"

struct object create(uint64_t bytes) {
  static uint64_t next_address = 0x1000000;
  struct object object = {.bytes = (bytes + 4095) / 4096 * 4096, .address = next_address};
  struct drm_i915_gem_create request = {.size = bytes};
  require(call(DRM_IOCTL_I915_GEM_CREATE, &request) == 0, "an object cannot be made");
  object.handle = request.handle;
  next_address += (object.bytes + 0xffff) / 0x10000 * 0x10000;
  if (next_address > 0x60000000) next_address = 0x1000000;
  return object;
}

void close_object(const struct object* object) {
  struct drm_gem_close request = {.handle = object->handle};
  call(DRM_IOCTL_GEM_CLOSE, &request);
}

void* map_offset(int file, uint32_t handle, uint64_t bytes, uint64_t kind, int* error) {
  struct drm_i915_gem_mmap_offset offset = {.handle = handle, .flags = kind};
  *error = call_on(file, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset);
  if (*error < 0) return NULL;
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset.offset);
  if (memory != MAP_FAILED) return memory;
  *error = -errno;
  return NULL;
}

static int move(int file, const struct object* object, uint64_t offset, void* data, uint64_t bytes, int in) {
  int error = 0;
  char* memory = map_offset(file, object->handle, object->bytes, I915_MMAP_OFFSET_FIXED, &error);
  if (memory == NULL) return error;
  memcpy(in ? memory + offset : data, in ? data : memory + offset, bytes);
  munmap(memory, object->bytes);
  return 0;
}

int put_on(int file, const struct object* object, uint64_t offset, const void* data, uint64_t bytes) {
  if (chip.has_local_memory) return move(file, object, offset, (void*)(uintptr_t)data, bytes, 1);
  struct drm_i915_gem_pwrite request = {
      .handle = object->handle, .offset = offset, .size = bytes, .data_ptr = (uintptr_t)data};
  return call_on(file, DRM_IOCTL_I915_GEM_PWRITE, &request);
}

int get_on(int file, const struct object* object, uint64_t offset, void* data, uint64_t bytes) {
  if (chip.has_local_memory) return move(file, object, offset, data, bytes, 0);
  struct drm_i915_gem_pread request = {
      .handle = object->handle, .offset = offset, .size = bytes, .data_ptr = (uintptr_t)data};
  return call_on(file, DRM_IOCTL_I915_GEM_PREAD, &request);
}

void put(const struct object* object, uint64_t offset, const void* data, uint64_t bytes) {
  require(put_on(device, object, offset, data, bytes) == 0, "an object cannot be written");
}

void get(const struct object* object, uint64_t offset, void* data, uint64_t bytes) {
  require(get_on(device, object, offset, data, bytes) == 0, "an object cannot be read");
}

uint32_t word_at(const struct object* object, uint64_t offset) {
  uint32_t word = 0;
  get(object, offset, &word, sizeof(word));
  return word;
}

void* map_coherent(const struct object* object) {
  int error = 0;
  void* memory = map_offset(device, object->handle, object->bytes,
                            chip.has_local_memory ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WC, &error);
  errno = -error;
  require(memory != NULL, "an object cannot be mapped");
  return memory;
}

int wait_on(int file, uint32_t handle, int64_t nanoseconds) {
  struct drm_i915_gem_wait wait = {.bo_handle = handle, .timeout_ns = nanoseconds};
  return call_on(file, DRM_IOCTL_I915_GEM_WAIT, &wait);
}

int wait_for(const struct object* object) {
  return wait_on(device, object->handle, 50000000000ll);
}

int is_busy(const struct object* object) {
  struct drm_i915_gem_busy busy = {.handle = object->handle};
  const int result = call(DRM_IOCTL_I915_GEM_BUSY, &busy);
  return result < 0 ? result : busy.busy != 0;
}

uint32_t create_context(void) {
  struct drm_i915_gem_context_create create = {0};
  require(call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create) == 0, "a context cannot be made");
  return create.ctx_id;
}
