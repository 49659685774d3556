// Relocations. The list has one target and the batch, which holds one address of the target.
#include <stdlib.h>
#include <string.h>

#include "suite.h"

struct scene {
  struct batch batch;
  struct object target;
};

// A batch with room for an address at offset 64, after its end.
static void set_up(struct scene* scene) {
  if (!chip.has_relocations) skip("no relocations on this chip");
  memset(scene, 0, sizeof(*scene));
  scene->target = create(8192);
  struct batch* batch = &scene->batch;
  start_batch(batch);
  add_end(batch);
  while (batch->count < 32) add(batch, 0xaaaaaaaa);
  finish_batch(batch, I915_EXEC_RENDER, 0);
  batch->objects[1] = (struct drm_i915_gem_exec_object2){
      .handle = batch->object.handle, .relocation_count = 1, .relocs_ptr = (uintptr_t)batch->relocations};
  batch->objects[0] = (struct drm_i915_gem_exec_object2){.handle = scene->target.handle};
  batch->execute.buffer_count = 2;
  batch->relocations[0] = (struct drm_i915_gem_relocation_entry){.target_handle = scene->target.handle,
                                                                 .delta = 16,
                                                                 .offset = 64,
                                                                 .read_domains = I915_GEM_DOMAIN_RENDER,
                                                                 .write_domain = I915_GEM_DOMAIN_RENDER,
                                                                 .presumed_offset = ~0ull};
}

static uint64_t address_in(const struct scene* scene, uint64_t offset) {
  uint64_t address = 0;
  get(&scene->batch.object, offset, &address, chip.generation >= 8 ? 8 : 4);
  return address;
}

static void values(void) {
  struct scene scene;
  set_up(&scene);
  struct batch* batch = &scene.batch;
  expect("execute", submit_as_is(batch), 0);
  wait_for(&batch->object);
  const uint64_t place = batch->objects[0].offset;
  expect_true("told where", place % 4096 == 0);
  expect_true("the address stands in the batch", address_in(&scene, 64) == place + 16);
  expect_true("the guess is corrected", batch->relocations[0].presumed_offset == place);
  expect_number("nothing behind it", word_at(&batch->object, chip.generation >= 8 ? 72 : 68), 0xaaaaaaaa);
  // The presumed offset is right: nothing is written.
  const uint64_t ones = 0x1111111111111111ull;
  put(&batch->object, 64, &ones, 8);
  expect("right guess", submit_as_is(batch), 0);
  wait_for(&batch->object);
  expect_number("left alone", word_at(&batch->object, 64), 0x11111111);
  batch->relocations[0].presumed_offset = place + 4096;
  expect("wrong guess", submit_as_is(batch), 0);
  wait_for(&batch->object);
  expect_true("corrected", address_in(&scene, 64) == place + 16);
  // No relocations are needed if all addresses are as the list says.
  put(&batch->object, 64, &ones, 8);
  batch->relocations[0].presumed_offset = place + 8192;
  batch->execute.flags |= I915_EXEC_NO_RELOC;
  expect("no relocations", submit_as_is(batch), 0);
  wait_for(&batch->object);
  expect_number("left alone again", word_at(&batch->object, 64), 0x11111111);
  batch->objects[0].offset = place + 0x10000;
  expect("list is wrong", submit_as_is(batch), 0);
  wait_for(&batch->object);
  expect_true("then relocated", address_in(&scene, 64) == place + 16 && batch->objects[0].offset == place);
}

static void wrong(void) {
  static const struct {
    const char* name;
    uint32_t handle, delta;
    uint64_t offset;
    uint32_t read, write;
  } rows[] = {{"offset 1", 0, 0, 65, 2, 2},
              {"offset 2", 0, 0, 66, 2, 2},
              {"last word", 0, 0, 4092, 2, 2},
              {"last two words", 0, 0, 4088, 2, 2},
              {"behind", 0, 0, 4096, 2, 2},
              {"far", 0, 0, 1ull << 40, 2, 2},
              {"top", 0, 0, ~0ull - 3, 2, 2},
              {"delta behind the target", 0, 0x10000000, 64, 2, 2},
              {"delta top", 0, 0xffffffff, 64, 2, 2},
              {"unknown handle", 4711, 0, 64, 2, 2},
              {"read cpu", 0, 0, 64, 1, 0},
              {"write cpu", 0, 0, 64, 1, 1},
              {"gtt", 0, 0, 64, 0x40, 0},
              {"wc", 0, 0, 64, 0x80, 0},
              {"two writes", 0, 0, 64, 6, 6},
              {"write without read", 0, 0, 64, 0, 2},
              {"write other than read", 0, 0, 64, 4, 2},
              {"nothing", 0, 0, 64, 0, 0},
              {"instruction", 0, 0, 64, 0x10, 0x10},
              {"vertex", 0, 0, 64, 0x20, 0},
              {"sampler", 0, 0, 64, 4, 0},
              {"command", 0, 0, 64, 8, 0},
              {"unknown domain", 0, 0, 64, 0x100, 0},
              {"all", 0, 0, 64, 0x3e, 0}};
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    struct scene scene;
    set_up(&scene);
    struct drm_i915_gem_relocation_entry* entry = scene.batch.relocations;
    if (rows[i].handle != 0) entry->target_handle = rows[i].handle;
    entry->delta = rows[i].delta;
    entry->offset = rows[i].offset;
    entry->read_domains = rows[i].read;
    entry->write_domain = rows[i].write;
    observe(rows[i].name, submit_as_is(&scene.batch));
    wait_for(&scene.batch.object);
    close_object(&scene.batch.object);
    close_object(&scene.target);
  }
  struct scene scene;
  set_up(&scene);
  scene.batch.objects[1].relocs_ptr = 0;
  expect("null", submit_as_is(&scene.batch), -EFAULT);
  scene.batch.objects[1].relocs_ptr = 0x1000;
  expect("wild", submit_as_is(&scene.batch), -EFAULT);
  scene.batch.objects[1].relocs_ptr = 0xffff888000000000ull;
  expect("kernel", submit_as_is(&scene.batch), -EFAULT);
  set_up(&scene);
  scene.batch.objects[1].relocation_count = ~0u;
  observe("too many", submit_as_is(&scene.batch));
  scene.batch.objects[1].relocation_count = 0x7fffffff;
  observe("many", submit_as_is(&scene.batch));
}

static void by_place(void) {
  struct scene scene;
  set_up(&scene);
  struct batch* batch = &scene.batch;
  batch->execute.flags |= I915_EXEC_HANDLE_LUT;
  batch->relocations[0].target_handle = 0;
  expect("the target's place", submit_as_is(batch), 0);
  wait_for(&batch->object);
  expect_true("address", address_in(&scene, 64) == batch->objects[0].offset + 16);
  batch->relocations[0].target_handle = 1;
  batch->relocations[0].presumed_offset = ~0ull;
  batch->relocations[0].write_domain = 0;
  expect("the batch's place", submit_as_is(batch), 0);
  wait_for(&batch->object);
  expect_true("address of itself", address_in(&scene, 64) == batch->objects[1].offset + 16);
  batch->relocations[0].target_handle = 2;
  batch->relocations[0].presumed_offset = ~0ull;
  expect("no such place", submit_as_is(batch), -ENOENT);
  batch->relocations[0].target_handle = ~0u;
  expect("far place", submit_as_is(batch), -ENOENT);
}

// Many relocations, and relocations in objects other than the batch.
static void lists(void) {
  enum { count = 600 };
  struct scene scene;
  set_up(&scene);
  struct drm_i915_gem_relocation_entry* list = calloc(count, sizeof(*list));
  for (uint32_t i = 0; i < count; ++i) {
    list[i] = (struct drm_i915_gem_relocation_entry){.target_handle = scene.batch.object.handle,
                                                     .delta = i,
                                                     .offset = 8 * i,
                                                     .read_domains = I915_GEM_DOMAIN_COMMAND,
                                                     .presumed_offset = ~0ull};
  }
  scene.batch.objects[0].relocs_ptr = (uintptr_t)list;
  scene.batch.objects[0].relocation_count = count;
  expect("execute", submit_as_is(&scene.batch), 0);
  wait_for(&scene.target);
  unsigned wrong_ones = 0;
  for (uint32_t i = 0; i < count; ++i) {
    wrong_ones += word_at(&scene.target, 8 * i) != (uint32_t)scene.batch.objects[1].offset + i;
  }
  expect_number("wrong words", wrong_ones, 0);
  list[count - 1].offset = 8192;
  list[count - 1].presumed_offset = ~0ull;
  expect("the last is wrong", submit_as_is(&scene.batch), -EINVAL);
  free(list);
}

// A delta is signed.
static void before_the_target(void) {
  struct scene scene;
  set_up(&scene);
  scene.batch.relocations[0].delta = (uint32_t)-16;
  expect("execute", submit_as_is(&scene.batch), 0);
  wait_for(&scene.batch.object);
  const uint64_t address = scene.batch.objects[0].offset - 16;
  expect_true("sixteen bytes before it",
              address_in(&scene, 64) == (chip.generation >= 8 ? address : address & 0xffffffff));
}

static void tiled(void) {
  struct scene scene;
  set_up(&scene);
  struct drm_i915_gem_set_tiling tiling = {.handle = scene.target.handle, .tiling_mode = I915_TILING_X, .stride = 512};
  if (call(DRM_IOCTL_I915_GEM_SET_TILING, &tiling) != 0) skip("no fences on this chip");
  struct drm_i915_gem_relocation_entry entry = {.target_handle = scene.batch.object.handle,
                                                .offset = 64,
                                                .read_domains = I915_GEM_DOMAIN_COMMAND,
                                                .presumed_offset = ~0ull};
  scene.batch.objects[0].relocs_ptr = (uintptr_t)&entry;
  scene.batch.objects[0].relocation_count = 1;
  expect("in a tiled object", submit_as_is(&scene.batch), -EINVAL);
}

const struct test relocation_tests[] = {{"relocations.values", values, 0},
                                        {"relocations.wrong", wrong, 0},
                                        {"relocations.by-place", by_place, 0},
                                        {"relocations.lists", lists, 0},
                                        {"relocations.before", before_the_target, 0},
                                        {"relocations.tiled", tiled, 0},
                                        {0}};
