// Batches that never end: the driver ends them and names the guilty context, and other contexts continue. Slow: i915
// checks for hangs every few seconds, or at the interval of /sys/class/drm/card0/engine.
#include <linux/sync_file.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

static struct drm_i915_reset_stats statistics(uint32_t context) {
  struct drm_i915_reset_stats request = {.ctx_id = context};
  expect("statistics", call(DRM_IOCTL_I915_GET_RESET_STATS, &request), 0);
  return request;
}

// A batch that cannot be preempted: a batch that yields does not hang.
static void prepare_hang(struct spinner* spinner, const struct object* target) {
  prepare_spinner(spinner, target);
  for (unsigned i = 0; i < spinner->batch.count; ++i) {
    if (spinner->batch.words[i] == arbitration_check) spinner->batch.words[i] = 0;
  }
}

// Starts such a batch and waits until the driver has ended it.
static int hang(uint64_t engine, uint32_t context, const struct object* target) {
  struct spinner spinner;
  prepare_hang(&spinner, target);
  finish_batch(&spinner.batch, engine | I915_EXEC_FENCE_OUT, context);
  const int result = submit_as_is(&spinner.batch);
  if (result < 0) return result;
  const int fence = (int)(spinner.batch.execute.rsvd2 >> 32);
  expect("ends", wait_for(&spinner.batch.object), 0);
  struct sync_file_info information = {0};
  struct pollfd look = {.fd = fence, .events = POLLIN};
  poll(&look, 1, 20000);
  call_on(fence, SYNC_IOC_FILE_INFO, &information);
  expect("fence", information.status, -EIO);
  close(fence);
  return 0;
}

static void one(void) {
  for (unsigned engine = 0; engine < 2; ++engine) {
    if (!has_engine(engine) || !can_store(engine)) continue;
    const uint32_t context = create_context(), other = create_context();
    const struct object target = create(4096);
    expect(key("%s hang", engines[engine].name), hang(engines[engine].flag, context, &target), 0);
    observe_number(key("%s ran", engines[engine].name), word_at(&target, 0));
    const struct drm_i915_reset_stats guilty = statistics(context), innocent = statistics(other);
    expect_number(key("%s guilty", engines[engine].name), guilty.batch_active, 1);
    expect_number(key("%s guilty, pending", engines[engine].name), guilty.batch_pending, 0);
    expect_number(key("%s resets are not for everybody", engines[engine].name), guilty.reset_count, 0);
    expect_number(key("%s innocent", engines[engine].name), innocent.batch_active, 0);
    expect(key("%s store by the guilty", engines[engine].name), store(engines[engine].flag, context, &target, 4, 0x1),
           0);
    expect(key("%s store by another", engines[engine].name), store(engines[engine].flag, other, &target, 8, 0x2), 0);
    wait_for(&target);
    expect_number(key("%s word of the guilty", engines[engine].name), word_at(&target, 4), 1);
    expect_number(key("%s word of another", engines[engine].name), word_at(&target, 8), 2);
  }
}

// Work queued behind a hang is executed, including the hung context's own.
static void behind(void) {
  const uint32_t context = create_context(), other = create_context();
  const struct object target = create(4096), own = create(4096);
  struct spinner spinner;
  prepare_hang(&spinner, NULL);
  finish_batch(&spinner.batch, I915_EXEC_RENDER, context);
  expect("hang", submit_as_is(&spinner.batch), 0);
  expect("by another", store(I915_EXEC_RENDER, other, &target, 0, 0x3), 0);
  expect("by itself", store(I915_EXEC_RENDER, context, &own, 0, 0x4), 0);
  expect("wait for another", wait_for(&target), 0);
  expect("wait for itself", wait_for(&own), 0);
  expect_number("word of another", word_at(&target, 0), 3);
  observe_number("word of itself", word_at(&own, 0));
  const struct drm_i915_reset_stats guilty = statistics(context), innocent = statistics(other);
  observe_number("guilty", guilty.batch_active);
  observe_number("guilty, pending", guilty.batch_pending);
  observe_number("innocent", innocent.batch_active);
  observe_number("innocent, pending", innocent.batch_pending);
}

static void banned(void) {
  const uint32_t context = create_context();
  unsigned count = 0;
  int result = 0;
  for (; count < 8 && result == 0; ++count) result = hang(I915_EXEC_RENDER, context, NULL);
  observe_number("hangs until it is refused", count);
  expect("refused", result, -EIO);
  observe_number("guilty", statistics(context).batch_active);
  const struct object target = create(4096);
  observe("new context", store(I915_EXEC_RENDER, create_context(), &target, 0, 0x5));
  struct drm_i915_gem_context_create request = {0};
  observe("create", call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &request));
  const int first = device;
  device = open_device();
  const struct object there = create(4096);
  expect("another file", store(I915_EXEC_RENDER, 0, &there, 0, 0x6), 0);
  wait_for(&there);
  expect_number("word", word_at(&there, 0), 6);
  close(device);
  device = first;
}

static void not_recoverable(void) {
  const uint32_t context = create_context();
  struct drm_i915_gem_context_param set = {.ctx_id = context, .param = I915_CONTEXT_PARAM_RECOVERABLE, .value = 0};
  expect("set", call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set), 0);
  expect("hang", hang(I915_EXEC_RENDER, context, NULL), 0);
  const struct object target = create(4096);
  expect("afterwards", store(I915_EXEC_RENDER, context, &target, 0, 0x7), -EIO);
  expect_number("guilty", statistics(context).batch_active, 1);
}

const struct test hang_tests[] = {{"hangs.one", one, 1},
                                  {"hangs.behind", behind, 1},
                                  {"hangs.not-recoverable", not_recoverable, 1},
                                  {"hangs.banned", banned, 1},
                                  {0}};
