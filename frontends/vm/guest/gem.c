#include "gem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

struct chip chip;
const char* const way_name[ways] = {"copy", "aperture", "memory"};
static int device = -1;

int call(unsigned long request, void* argument) {
  int result;
  do {
    result = ioctl(device, request, argument);
  } while (result == -1 && (errno == EINTR || errno == EAGAIN));
  return result;
}

int parameter(int number) {
  int value = -1;
  struct drm_i915_getparam get_parameter = {.param = number, .value = &value};
  return call(DRM_IOCTL_I915_GETPARAM, &get_parameter) == 0 ? value : -1;
}

int open_chip(void) {
  return open_chip_at("/dev/dri/card0");
}

int open_chip_at(const char* node) {
  static const struct {
    int family, generation;
  } families[] = {{0x29, 4}, {0x2a, 4}, {0x2e, 4},  {0x01, 6},  {0x16, 8},
                  {0x22, 8}, {0x19, 9}, {0x8a, 11}, {0x9a, 12}, {0x49, 12}};
  device = open(node, O_RDWR | O_CLOEXEC);
  if (device < 0) return -1;
  chip.id = parameter(I915_PARAM_CHIPSET_ID);
  chip.has_local_memory = chip.id >> 8 == 0x49;
  chip.holds_addresses = chip.has_local_memory;
  for (unsigned i = 0; i < sizeof(families) / sizeof(families[0]); ++i) {
    if (chip.id >> 8 == families[i].family) chip.generation = families[i].generation;
  }
  return chip.generation == 0 ? -1 : 0;
}

struct object create(uint64_t bytes, int memory) {
  static uint64_t next_address = 0x100000;
  struct object object = {.bytes = bytes, .address = next_address};
  next_address += (bytes + 0xffff) / 0x10000 * 0x10000;
  if (chip.has_local_memory) {
    struct drm_i915_gem_memory_class_instance region = {.memory_class = memory == in_local ? I915_MEMORY_CLASS_DEVICE
                                                                                          : I915_MEMORY_CLASS_SYSTEM};
    struct drm_i915_gem_create_ext_memory_regions regions = {
        .base = {.name = I915_GEM_CREATE_EXT_MEMORY_REGIONS}, .num_regions = 1, .regions = (uintptr_t)&region};
    struct drm_i915_gem_create_ext request = {.size = bytes, .extensions = (uintptr_t)&regions};
    if (call(DRM_IOCTL_I915_GEM_CREATE_EXT, &request) == 0) object.handle = request.handle;
  } else {
    struct drm_i915_gem_create request = {.size = bytes};
    if (call(DRM_IOCTL_I915_GEM_CREATE, &request) == 0) object.handle = request.handle;
  }
  return object;
}

static void* map(uint32_t handle, uint64_t bytes, uint64_t kind) {
  struct drm_i915_gem_mmap_offset offset = {.handle = handle, .flags = kind};
  if (call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset) != 0) return MAP_FAILED;
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device, (off_t)offset.offset);
}

static int move(uint32_t handle, uint64_t kind, uint64_t offset, void* data, uint64_t bytes, int in) {
  char* memory = map(handle, offset + bytes, kind);
  if (memory == MAP_FAILED) return -1;
  memcpy(in ? memory + offset : data, in ? data : memory + offset, bytes);
  return munmap(memory, offset + bytes);
}

int put(const struct object* object, uint64_t offset, const void* data, uint64_t bytes) {
  if (chip.has_local_memory) {
    return move(object->handle, I915_MMAP_OFFSET_FIXED, offset, (void*)(uintptr_t)data, bytes, 1);
  }
  struct drm_i915_gem_pwrite request = {
      .handle = object->handle, .offset = offset, .size = bytes, .data_ptr = (uintptr_t)data};
  return call(DRM_IOCTL_I915_GEM_PWRITE, &request);
}

int get(const struct object* object, uint64_t offset, void* data, uint64_t bytes) {
  if (chip.has_local_memory) return move(object->handle, I915_MMAP_OFFSET_FIXED, offset, data, bytes, 0);
  struct drm_i915_gem_pread request = {
      .handle = object->handle, .offset = offset, .size = bytes, .data_ptr = (uintptr_t)data};
  return call(DRM_IOCTL_I915_GEM_PREAD, &request);
}

int is_offered(enum way way) {
  return chip.has_local_memory ? way == by_memory : 1;
}

int see(const struct object* object, enum way way, void* data, uint64_t bytes) {
  if (way == by_copy) return get(object, 0, data, bytes);
  if (chip.has_local_memory) return move(object->handle, I915_MMAP_OFFSET_FIXED, 0, data, bytes, 0);
  struct drm_i915_gem_set_domain domain = {
      .handle = object->handle, .read_domains = way == by_aperture ? I915_GEM_DOMAIN_GTT : I915_GEM_DOMAIN_WC};
  if (call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain) != 0) return -1;
  return move(object->handle, way == by_aperture ? I915_MMAP_OFFSET_GTT : I915_MMAP_OFFSET_WC, 0, data, bytes, 0);
}

void start_batch(struct batch* batch, const struct object* object) {
  memset(batch, 0, sizeof(*batch));
  batch->object = *object;
}

void add(struct batch* batch, uint32_t word) {
  if (batch->count < most_words) batch->words[batch->count++] = word;
}

void add_target(struct batch* batch, const struct object* target) {
  if (target->handle == batch->object.handle) return;
  for (unsigned i = 0; i < batch->target_count; ++i) {
    if (batch->targets[i].handle == target->handle) return;
  }
  struct drm_i915_gem_exec_object2* entry = &batch->targets[batch->target_count++];
  entry->handle = target->handle;
  entry->flags = EXEC_OBJECT_WRITE;
  entry->offset = target->address;
}

void add_address(struct batch* batch, const struct object* target, uint32_t delta) {
  const int to_itself = target->handle == batch->object.handle;
  add_target(batch, target);
  if (!chip.holds_addresses) {
    const uint32_t domain = to_itself ? I915_GEM_DOMAIN_COMMAND : I915_GEM_DOMAIN_RENDER;
    batch->relocations[batch->addresses++] =
        (struct drm_i915_gem_relocation_entry){.target_handle = target->handle,
                                               .delta = delta,
                                               .offset = 4 * batch->count,
                                               .read_domains = domain,
                                               .write_domain = to_itself ? 0 : domain,
                                               .presumed_offset = (uint64_t)-1};
  }
  const uint64_t address = chip.holds_addresses ? target->address + delta : 0;
  add(batch, (uint32_t)address);
  if (chip.generation >= 8) add(batch, (uint32_t)(address >> 32));
}

// Adds MI_STORE_DATA_IMM. Gen4 has global addresses only, and only in privileged batches.
void add_store(struct batch* batch, const struct object* target, uint32_t offset, uint32_t value) {
  if (chip.generation == 4) batch->needs_privilege = 1;
  add(batch, 0x10000002 | (chip.generation == 4 ? 1u << 22 : 0));
  if (chip.generation < 8) add(batch, 0);
  add_address(batch, target, offset);
  add(batch, value);
}

// Adds MI_BATCH_BUFFER_START to the start of the batch.
void add_loop(struct batch* batch) {
  add(batch, 0x18800000 | (chip.generation == 4 ? 2u << 6 : 1u << 8) | (chip.generation >= 8 ? 1 : 0));
  add_address(batch, &batch->object, 0);
}

// `fence`: null, or receives a file that signals the end.
static int hand_over(struct batch* batch, uint64_t engine, uint32_t context, int* fence) {
  add(batch, 0x05000000);  // MI_BATCH_BUFFER_END
  if (batch->count % 2 != 0) add(batch, 0);
  if (put(&batch->object, 0, batch->words, 4 * batch->count) != 0) return -1;
  struct drm_i915_gem_exec_object2 objects[most_addresses + 1];
  memcpy(objects, batch->targets, sizeof(batch->targets));
  const unsigned last = batch->target_count;
  objects[last] = (struct drm_i915_gem_exec_object2){.handle = batch->object.handle,
                                                     .relocation_count = batch->addresses,
                                                     .relocs_ptr = (uintptr_t)batch->relocations,
                                                     .offset = batch->object.address};
  for (unsigned i = 0; i <= last; ++i) {
    if (chip.generation >= 8) objects[i].flags |= EXEC_OBJECT_SUPPORTS_48B_ADDRESS;
    if (chip.holds_addresses) objects[i].flags |= EXEC_OBJECT_PINNED;
  }
  struct drm_i915_gem_execbuffer2 execute = {.buffers_ptr = (uintptr_t)objects,
                                             .buffer_count = last + 1,
                                             .batch_len = 4 * batch->count,
                                             .flags = engine | (batch->needs_privilege ? I915_EXEC_SECURE : 0),
                                             .rsvd1 = context};
  if (fence == NULL) return call(DRM_IOCTL_I915_GEM_EXECBUFFER2, &execute);
  execute.flags |= I915_EXEC_FENCE_OUT;
  if (call(DRM_IOCTL_I915_GEM_EXECBUFFER2_WR, &execute) != 0) return -1;
  *fence = (int)(execute.rsvd2 >> 32);
  return 0;
}

int submit(struct batch* batch, uint64_t engine, uint32_t context) {
  return hand_over(batch, engine, context, NULL);
}

int submit_with_fence(struct batch* batch, uint64_t engine) {
  int fence = -1;
  return hand_over(batch, engine, 0, &fence) == 0 ? fence : -1;
}

void* map_memory(const struct object* object) {
  void* memory =
      map(object->handle, object->bytes, chip.has_local_memory ? I915_MMAP_OFFSET_FIXED : I915_MMAP_OFFSET_WC);
  return memory == MAP_FAILED ? NULL : memory;
}

int wait_for(const struct object* object) {
  struct drm_i915_gem_wait wait = {.bo_handle = object->handle, .timeout_ns = 60000000000ll};
  return call(DRM_IOCTL_I915_GEM_WAIT, &wait);
}
