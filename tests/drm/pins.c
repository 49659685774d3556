// Objects at addresses that the program chose.
#include <string.h>

#include "suite.h"

static uint64_t top(void) {
  struct drm_i915_gem_context_param request = {.param = I915_CONTEXT_PARAM_GTT_SIZE};
  require(call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &request) == 0, "the size of the space is not told");
  return request.value;
}

static int execute_at(uint64_t address, uint64_t flags, uint64_t* told) {
  struct batch batch;
  start_batch(&batch);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER, 0);
  batch.objects[0].offset = address;
  batch.objects[0].flags = flags;
  const int result = submit_as_is(&batch);
  wait_for(&batch.object);
  close_object(&batch.object);
  if (told != NULL) *told = batch.objects[0].offset;
  return result;
}

static void addresses(void) {
  static const uint64_t rows[] = {0x0,
                                  0x1000,
                                  0x800000,
                                  0x1001,
                                  0x800,
                                  0x10000000,
                                  0xfffff000,
                                  0x100000000,
                                  0x7fffffff0000,
                                  0x7ffffffff000,
                                  0x800000000000,
                                  0xffff800000000000,
                                  0xfffffffff000,
                                  0xfffffffffffff000,
                                  0x1000000000000,
                                  0x8000000000000000,
                                  0xffff000000000000};
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    const unsigned long long address = rows[i];
    if (chip.generation < 8 && address < 0x40000000) continue;  // the global space holds other objects
    uint64_t told = 0;
    observe(key("short %llx", address), execute_at(address, EXEC_OBJECT_PINNED, NULL));
    const int result = execute_at(address, EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS, &told);
    observe(key("long %llx", address), result);
    if (result == 0) expect_number(key("told %llx", address), told, address);
  }
  observe("size of the space, bits", 63 - __builtin_clzll(top()));
  observe("behind the end",
          execute_at(top() & 0x0000ffffffffffff, EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS, NULL));
}

static int two_at(struct object* first, struct object* second, uint64_t flags, uint64_t other_flags) {
  struct batch batch;
  start_batch(&batch);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER, 0);
  const struct drm_i915_gem_exec_object2 own = batch.objects[0];
  batch.objects[0] =
      (struct drm_i915_gem_exec_object2){.handle = first->handle, .offset = first->address, .flags = flags};
  batch.objects[1] =
      (struct drm_i915_gem_exec_object2){.handle = second->handle, .offset = second->address, .flags = other_flags};
  batch.objects[2] = own;
  batch.execute.buffer_count = 3;
  const int result = submit_as_is(&batch);
  first->address = batch.objects[0].offset;
  second->address = batch.objects[1].offset;
  return result;
}

static void neighbours(void) {
  if (chip.generation < 8) skip("the global space has other tenants");
  const uint64_t pinned = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS;
  struct object first = create(0x20000), second = create(0x20000);
  first.address = 0x2000000;
  second.address = 0x2020000;
  expect("side by side", two_at(&first, &second, pinned, pinned), 0);
  second.address = 0x2010000;
  observe("overlapping", two_at(&first, &second, pinned, pinned));
  second.address = first.address = 0x2000000;
  observe("at one place", two_at(&first, &second, pinned, pinned));
  first.address = 0x2000000;
  second.address = 0x2000000;
  expect("one is free to go", two_at(&first, &second, pinned, EXEC_OBJECT_SUPPORTS_48B_ADDRESS), 0);
  expect_true("it went", second.address >= 0x2020000 || second.address + 0x20000 <= 0x2000000);
  first.address = 0x4000000;
  second.address = 0x2000000;
  expect("they change places", two_at(&first, &second, pinned, pinned), 0);
}

// An object above four gigabytes is written there.
static void high(void) {
  if (chip.generation < 8) skip("32 bits of address");
  struct object target = create(4096);
  const uint64_t limit = top();
  target.address = limit > 1ull << 32 ? 0x7ff000000000 : 0xf0000000;
  if (limit > 1ull << 32 && limit < 1ull << 47) target.address = limit / 2;
  expect("store", store(I915_EXEC_RENDER, 0, &target, 8, 0x48484848), 0);
  wait_for(&target);
  expect_number("word", word_at(&target, 8), 0x48484848);
  if (limit < 1ull << 48) return;
  target.address = 0xffff900000000000ull;
  expect("upper half", store(I915_EXEC_RENDER, 0, &target, 12, 0x49494949), 0);
  wait_for(&target);
  expect_number("upper word", word_at(&target, 12), 0x49494949);
}

// Submits a batch with objects that ask for `room` bytes each. Updates their addresses. Returns the result.
static int padded(struct object* objects, unsigned count, uint64_t flags, uint64_t room) {
  struct batch batch;
  start_batch(&batch);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER, 0);
  const struct drm_i915_gem_exec_object2 own = batch.objects[0];
  for (unsigned i = 0; i < count; ++i) {
    batch.objects[i] = (struct drm_i915_gem_exec_object2){
        .handle = objects[i].handle, .offset = objects[i].address, .flags = flags, .pad_to_size = room};
  }
  batch.objects[count] = own;
  batch.execute.buffer_count = count + 1;
  const int result = submit_as_is(&batch);
  wait_for(&batch.object);
  for (unsigned i = 0; i < count; ++i) objects[i].address = batch.objects[i].offset;
  return result;
}

static int are_apart(const struct object* objects, unsigned count, uint64_t room) {
  for (unsigned i = 0; i < count; ++i) {
    for (unsigned j = 0; j < count; ++j) {
      if (i != j && objects[i].address <= objects[j].address && objects[j].address - objects[i].address < room) {
        return 0;
      }
    }
  }
  return 1;
}

static void pads(void) {
  enum { count = 4, room = 1 << 20 };
  struct object objects[count];
  for (unsigned i = 0; i < count; ++i) {
    objects[i] = create(4096);
    objects[i].address = 0;
  }
  expect("without", padded(objects, count, 0, 0), 0);
  expect("padded", padded(objects, count, EXEC_OBJECT_PAD_TO_SIZE, room), 0);
  expect_true("apart", are_apart(objects, count, room));
  expect("padded again", padded(objects, count, EXEC_OBJECT_PAD_TO_SIZE, room), 0);
  expect_true("still apart", are_apart(objects, count, room));
  observe("odd", padded(objects, count, EXEC_OBJECT_PAD_TO_SIZE, room + 1));
  observe("odd, without the flag", padded(objects, count, 0, room + 1));
  observe("more than all", padded(objects, 1, EXEC_OBJECT_PAD_TO_SIZE, 1ull << 50));
  if (chip.generation < 8) return;
  objects[0].address = 0x2000000;
  objects[1].address = 0x2000000 + room / 2;
  const uint64_t pinned = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS;
  expect("pinned", padded(objects, 2, pinned, 0), 0);
  observe("pinned, each in the other's room", padded(objects, 2, pinned | EXEC_OBJECT_PAD_TO_SIZE, room));
  objects[1].address = 0x2000000 + room;
  expect("pinned, apart", padded(objects, 2, pinned | EXEC_OBJECT_PAD_TO_SIZE, room), 0);
}

const struct test pin_tests[] = {{"pins.addresses", addresses, 0},
                                 {"pins.neighbours", neighbours, 0},
                                 {"pins.high", high, 0},
                                 {"pins.pads", pads, 0},
                                 {0}};
