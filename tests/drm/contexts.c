// Contexts: creation, destruction, isolation.
#include <string.h>
#include <unistd.h>

#include "suite.h"

static int destroy(uint32_t context) {
  struct drm_i915_gem_context_destroy request = {.ctx_id = context};
  return call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &request);
}

static void lives(void) {
  struct drm_i915_gem_context_create request = {0};
  expect("create", call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &request), 0);
  observe_number("first", request.ctx_id);
  const uint32_t first = request.ctx_id, second = create_context();
  expect_true("another", second != first);
  expect("destroy", destroy(first), 0);
  expect("destroy twice", destroy(first), -ENOENT);
  observe_number("next", create_context());
  expect("destroy the default", destroy(0), -ENOENT);
  expect("destroy unknown", destroy(12345), -ENOENT);
  struct drm_i915_gem_context_destroy padded = {.ctx_id = second, .pad = 1};
  expect("destroy with pad", call(DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &padded), -EINVAL);
  expect("still there", destroy(second), 0);
  struct batch first_batch;
  start_batch(&first_batch);
  expect("execute on a destroyed one", submit(&first_batch, 0, second), -ENOENT);
  request = (struct drm_i915_gem_context_create){.pad = 1};
  observe("create with flag 0", call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &request));
  struct batch batch;
  start_batch(&batch);
  expect("execute on an unknown one", submit(&batch, 0, 4711), -ENOENT);
}

static void flags(void) {
  for (unsigned bit = 0; bit < 32; ++bit) {
    struct drm_i915_gem_context_create_ext request = {.flags = 1u << bit};
    observe(key("flag %u", bit), call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &request));
  }
  struct drm_i915_gem_context_create_ext request = {.extensions = 0x10};
  observe("extensions without flag", call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &request));
  request.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS;
  expect("wild", call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &request), -EFAULT);
  struct drm_i915_gem_context_create_ext_setparam set = {.param = {.param = I915_CONTEXT_PARAM_RECOVERABLE}};
  for (uint32_t name = 0; name < 4; ++name) {
    set.base.name = name;
    request.extensions = (uintptr_t)&set;
    observe(key("extension %u", name), call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &request));
  }
  set.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM;
  set.param.ctx_id = 1;
  expect("of another context", call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &request), -EINVAL);
  set.param.ctx_id = 0;
  set.base.next_extension = (uintptr_t)&set;
  observe("a ring of extensions", call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &request));
  set.base.next_extension = 0;
  for (uint64_t number = 0; number < 16; ++number) {
    set.param = (struct drm_i915_gem_context_param){.param = number, .value = number == 6 ? 0 : 1};
    observe(key("parameter %u", (unsigned)number), call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &request));
  }
}

static void many(void) {
  enum { count = 12 };
  const struct object target = create(4096);
  uint32_t contexts[count];
  for (uint32_t i = 0; i < count; ++i) contexts[i] = create_context();
  int result = 0;
  for (uint32_t i = 0; i < count && result == 0; ++i) {
    result = store(I915_EXEC_RENDER, contexts[i], &target, 4 * i, 100 + i);
  }
  expect("stores", result, 0);
  for (uint32_t i = 0; i < count; ++i) destroy(contexts[i]);
  expect("wait", wait_for(&target), 0);
  uint32_t words[count], wrong = 0;
  get(&target, 0, words, sizeof(words));
  for (uint32_t i = 0; i < count; ++i) wrong += words[i] != 100 + i;
  expect_number("wrong words", wrong, 0);
}

// A general-purpose register belongs to one context.
static void registers(void) {
  if (chip.generation < 8) skip("no general registers that a program may write");
  const struct object target = create(4096);
  const uint32_t contexts[2] = {create_context(), create_context()};
  for (unsigned step = 0; step < 4; ++step) {
    struct batch batch;
    start_batch(&batch);
    if (step < 1) {
      add(&batch, 0x11000001);  // MI_LOAD_REGISTER_IMM
      add(&batch, 0x2600 + 8 * 3);
      add(&batch, 0x1a2b3c4d);
    }
    add(&batch, 0x12000002);  // MI_STORE_REGISTER_MEM
    add(&batch, 0x2600 + 8 * 3);
    add_address(&batch, &target, 4 * step, 1);
    expect(key("step %u", step), submit(&batch, I915_EXEC_RENDER, contexts[step % 2]), 0);
  }
  expect("wait", wait_for(&target), 0);
  expect_number("first context", word_at(&target, 0), 0x1a2b3c4d);
  expect_number("second context", word_at(&target, 4), 0);
  expect_number("first context again", word_at(&target, 8), 0x1a2b3c4d);
  expect_number("second context again", word_at(&target, 12), 0);
}

// The same address maps another object in another context.
static void memory(void) {
  if (!chip.has_own_spaces) skip("contexts share one space");
  const uint32_t contexts[2] = {create_context(), create_context()};
  struct object targets[2] = {create(4096), create(4096)};
  targets[1].address = targets[0].address;
  for (unsigned i = 0; i < 2; ++i) {
    expect(key("store %u", i), store(I915_EXEC_RENDER, contexts[i], &targets[i], 0, 0xa0 + i), 0);
  }
  for (unsigned i = 0; i < 2; ++i) wait_for(&targets[i]);
  expect_number("first", word_at(&targets[0], 0), 0xa0);
  expect_number("second", word_at(&targets[1], 0), 0xa1);
  // An object that the batch does not list is not mapped, or is no longer the other context's.
  struct batch batch;
  start_batch(&batch);
  add_store(&batch, &targets[0], 4, 0xbad);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER, contexts[1]);
  batch.objects[0] = batch.objects[1];
  batch.execute.buffer_count = 1;
  expect("store to what is not listed", submit_as_is(&batch), 0);
  expect("wait", wait_for(&batch.object), 0);
  expect_number("the other context's object is as it was", word_at(&targets[0], 4), 0);
}

static void reset_statistics(void) {
  struct drm_i915_reset_stats request = {.ctx_id = 0};
  expect("default", call(DRM_IOCTL_I915_GET_RESET_STATS, &request), 0);
  request = (struct drm_i915_reset_stats){.ctx_id = create_context()};
  expect("new", call(DRM_IOCTL_I915_GET_RESET_STATS, &request), 0);
  expect_number("resets", request.reset_count, 0);
  expect_number("active", request.batch_active, 0);
  expect_number("pending", request.batch_pending, 0);
  request.flags = 1;
  expect("flags", call(DRM_IOCTL_I915_GET_RESET_STATS, &request), -EINVAL);
  request.flags = 0;
  request.pad = 1;
  expect("pad", call(DRM_IOCTL_I915_GET_RESET_STATS, &request), -EINVAL);
  request = (struct drm_i915_reset_stats){.ctx_id = 4711};
  expect("unknown", call(DRM_IOCTL_I915_GET_RESET_STATS, &request), -ENOENT);
}

const struct test context_tests[] = {{"contexts.lives", lives, 0},
                                     {"contexts.flags", flags, 0},
                                     {"contexts.many", many, 0},
                                     {"contexts.registers", registers, 0},
                                     {"contexts.memory", memory, 0},
                                     {"contexts.reset-statistics", reset_statistics, 0},
                                     {0}};
