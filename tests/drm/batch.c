#include <string.h>
#include <sys/mman.h>

#include "suite.h"

void start_batch(struct batch* batch) {
  memset(batch, 0, sizeof(*batch));
  batch->object = create(4096);
}

void add(struct batch* batch, uint32_t word) {
  require(batch->count < most_words, "a batch is too long");
  batch->words[batch->count++] = word;
}

static void add_target(struct batch* batch, const struct object* target, int is_written) {
  if (target->handle == batch->object.handle) return;
  struct drm_i915_gem_exec_object2* entry = batch->objects;
  while (entry < batch->objects + batch->target_count && entry->handle != target->handle) ++entry;
  if (entry == batch->objects + batch->target_count) {
    require(batch->target_count < most_targets, "a batch has too many targets");
    ++batch->target_count;
    *entry = (struct drm_i915_gem_exec_object2){.handle = target->handle, .offset = target->address};
  }
  if (is_written) entry->flags |= EXEC_OBJECT_WRITE;
}

void add_address(struct batch* batch, const struct object* target, uint32_t delta, int is_written) {
  add_target(batch, target, is_written);
  uint64_t address = target->address + delta;
  if (chip.generation < 8) {
    const uint32_t domain = is_written ? I915_GEM_DOMAIN_RENDER : I915_GEM_DOMAIN_COMMAND;
    require(batch->addresses < 2 * most_targets, "a batch has too many addresses");
    batch->relocations[batch->addresses++] =
        (struct drm_i915_gem_relocation_entry){.target_handle = target->handle,
                                               .delta = delta,
                                               .offset = 4 * batch->count,
                                               .read_domains = domain,
                                               .write_domain = is_written ? domain : 0,
                                               .presumed_offset = (uint64_t)-1};
    address = 0;
  }
  add(batch, (uint32_t)address);
  if (chip.generation >= 8) add(batch, (uint32_t)(address >> 32));
}

// Adds MI_STORE_DATA_IMM. On Gen4 only privileged batches may use it, so a BLT of one pixel does the store.
void add_store(struct batch* batch, const struct object* target, uint32_t offset, uint32_t value) {
  if (chip.generation == 4) {
    const uint32_t x = offset % 4096 / 4, y = offset / 4096;
    add(batch, 0x54300004);  // XY_COLOR_BLT, all channels
    add(batch, 0x03f01000);  // 32 bits per pixel, pattern copy, a pitch of 4096
    add(batch, y << 16 | x);
    add(batch, (y + 1) << 16 | (x + 1));
    add_address(batch, target, 0, 1);
    add(batch, value);
    return;
  }
  add(batch, 0x10000002);
  if (chip.generation < 8) add(batch, 0);
  add_address(batch, target, offset, 1);
  add(batch, value);
}

int can_store(unsigned engine) {
  return chip.generation > 4 || engines[engine].flag == I915_EXEC_RENDER;
}

// Adds MI_BATCH_BUFFER_START.
void add_jump(struct batch* batch, const struct object* target, uint32_t offset) {
  add(batch, 0x18800000 | (chip.generation == 4 ? 2u << 6 : 1u << 8) | (chip.generation >= 8 ? 1 : 0));
  add_address(batch, target, offset, 0);
}

void add_end(struct batch* batch) {
  add(batch, 0x05000000);
  if (batch->count % 2 != 0) add(batch, 0);
}

void finish_batch(struct batch* batch, uint64_t flags, uint32_t context) {
  put(&batch->object, 0, batch->words, 4 * batch->count);
  const unsigned last = batch->target_count;
  batch->objects[last] = (struct drm_i915_gem_exec_object2){.handle = batch->object.handle,
                                                            .relocation_count = batch->addresses,
                                                            .relocs_ptr = (uintptr_t)batch->relocations,
                                                            .offset = batch->object.address};
  for (unsigned i = 0; i <= last && chip.generation >= 8; ++i) {
    batch->objects[i].flags |= EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS;
  }
  batch->execute = (struct drm_i915_gem_execbuffer2){.buffers_ptr = (uintptr_t)batch->objects,
                                                     .buffer_count = last + 1,
                                                     .batch_len = (4 * batch->count + 7) / 8 * 8,
                                                     .flags = flags,
                                                     .rsvd1 = context};
}

int submit_as_is(struct batch* batch) {
  return call((batch->execute.flags & I915_EXEC_FENCE_OUT) != 0 ? DRM_IOCTL_I915_GEM_EXECBUFFER2_WR
                                                                : DRM_IOCTL_I915_GEM_EXECBUFFER2,
              &batch->execute);
}

int submit(struct batch* batch, uint64_t flags, uint32_t context) {
  add_end(batch);
  finish_batch(batch, flags, context);
  return submit_as_is(batch);
}

int store(uint64_t flags, uint32_t context, const struct object* target, uint32_t offset, uint32_t value) {
  struct batch batch;
  start_batch(&batch);
  add_store(&batch, target, offset, value);
  const int result = submit(&batch, flags, context);
  close_object(&batch.object);
  return result;
}

// The first dword is an MI_NOOP that is later overwritten with the batch end.
void prepare_spinner(struct spinner* spinner, const struct object* target) {
  struct batch* batch = &spinner->batch;
  start_batch(batch);
  add(batch, 0);
  if (target != NULL) add_store(batch, target, 0, 0x5b1e5b1e);
  if (chip.generation >= 8) add(batch, arbitration_check);
  for (unsigned i = 0; i < 16; ++i) add(batch, 0);
  add_jump(batch, &batch->object, 0);
  add_end(batch);
  spinner->words = map_coherent(&batch->object);
}

void start_spinner(struct spinner* spinner, uint64_t flags, uint32_t context, const struct object* target) {
  prepare_spinner(spinner, target);
  finish_batch(&spinner->batch, flags, context);
  require(submit_as_is(&spinner->batch) == 0, "an endless batch cannot be started");
}

void end_spinner(struct spinner* spinner) {
  spinner->words[0] = 0x05000000;
  munmap((void*)(uintptr_t)spinner->words, spinner->batch.object.bytes);
}
