// Scheduling: time slices among equals, priorities and their inheritance, a full ring. A parameter says what a chip's engines
// can do, and each check holds on all chips.
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "suite.h"

enum { soon = 1000000000 };  // nanoseconds: long before the driver checks for hangs

static int has(int capability) {
  const int scheduler = parameter(I915_PARAM_HAS_SCHEDULER);
  return scheduler > 0 && (scheduler & capability) != 0;
}

static uint32_t context_with(int priority) {
  const uint32_t context = create_context();
  struct drm_i915_gem_context_param set = {
      .ctx_id = context, .param = I915_CONTEXT_PARAM_PRIORITY, .value = (uint64_t)(int64_t)priority};
  expect_true("priority is taken where there is a scheduler",
              call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set) == (has(I915_SCHEDULER_CAP_PRIORITY) ? 0 : -ENODEV));
  return context;
}

static void turns(void) {
  const int preempts = has(I915_SCHEDULER_CAP_PREEMPTION);
  const struct object target = create(4096), seen = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, create_context(), &seen);
  expect("store", store(I915_EXEC_RENDER, create_context(), &target, 0, 0x1), 0);
  const int done = wait_on(device, target.handle, soon) == 0;
  expect_true("an equal has its turn where engines can be interrupted", done == preempts);
  expect_true("the first continues", is_busy(&spinner.batch.object) != 0);
  end_spinner(&spinner);
  expect("wait", wait_for(&target), 0);
  expect("end", wait_for(&spinner.batch.object), 0);
  expect_number("word", word_at(&target, 0), 1);
}

static void priorities(void) {
  const int preempts = has(I915_SCHEDULER_CAP_PREEMPTION);
  const uint32_t middle = context_with(-500), low = context_with(-600), high = context_with(0);
  const struct object below = create(4096), above = create(4096), seen = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, middle, &seen);
  expect("less urgent", store(I915_EXEC_RENDER, low, &below, 0, 0x1), 0);
  expect_true("the less urgent waits", wait_on(device, below.handle, soon / 2) == -ETIME);
  expect("more urgent", store(I915_EXEC_RENDER, high, &above, 0, 0x2), 0);
  const int done = wait_on(device, above.handle, soon) == 0;
  expect_true("the more urgent comes first where engines can be interrupted", done == preempts);
  end_spinner(&spinner);
  expect("wait", wait_for(&below), 0);
  expect("wait for the other", wait_for(&above), 0);
}

// The low-priority request writes what the high-priority one needs, and inherits its priority.
static void inherited(void) {
  const int preempts = has(I915_SCHEDULER_CAP_PREEMPTION);
  const uint32_t middle = context_with(-500), low = context_with(-600), high = context_with(0);
  const struct object target = create(4096), seen = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, middle, &seen);
  expect("less urgent", store(I915_EXEC_RENDER, low, &target, 0, 0x1), 0);
  expect("more urgent", store(I915_EXEC_RENDER, high, &target, 4, 0x2), 0);
  const int done = wait_on(device, target.handle, soon) == 0;
  expect_true("both come first where engines can be interrupted", done == preempts);
  expect_true("what ran continues", is_busy(&spinner.batch.object) != 0);
  end_spinner(&spinner);
  expect("wait", wait_for(&target), 0);
  expect_number("first word", word_at(&target, 0), 1);
  expect_number("second word", word_at(&target, 4), 2);
}

static void full(void) {
  const uint32_t context = create_context();
  const struct object seen = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, context, &seen);
  struct batch batch;
  start_batch(&batch);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER, context);
  const int flags = fcntl(device, F_GETFL);
  fcntl(device, F_SETFL, flags | O_NONBLOCK);
  unsigned count = 0;
  int result = 0;
  for (; count < 1000 && result == 0; count += result == 0) {
    result = ioctl(device, DRM_IOCTL_I915_GEM_EXECBUFFER2, &batch.execute) < 0 ? -errno : 0;  // without retries
  }
  expect("until it would wait", result, -EWOULDBLOCK);
  expect_true("there was room for some", count >= 16);
  fcntl(device, F_SETFL, flags);
  end_spinner(&spinner);
  expect("waits", submit_as_is(&batch), 0);
  expect("end", wait_for(&batch.object), 0);
}

// An administrator's file of debugfs: 0x80 makes busy engines idle by force.
static void dropped(void) {
  const int file = open("/sys/kernel/debug/dri/0/i915_gem_drop_caches", O_WRONLY | O_CLOEXEC);
  require(file >= 0, "debugfs is not there");
  const struct object seen = create(4096), target = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, create_context(), &seen);
  expect("text", write(file, "abc", 3) < 0 ? -errno : 0, -EINVAL);
  expect_true("written", write(file, "0x80", 4) == 4);
  expect("end", wait_on(device, spinner.batch.object.handle, soon), 0);
  close(file);
  for (unsigned engine = 0; engine < engine_kinds; ++engine) {
    if (!has_engine(engine) || !can_store(engine)) continue;
    store(engines[engine].flag, 0, &target, 4 * engine, engine + 1);
    wait_on(device, target.handle, soon);
    expect_true("engines work again", word_at(&target, 4 * engine) == engine + 1);
  }
}

const struct test schedule_tests[] = {{"schedule.turns", turns, 0},         {"schedule.priorities", priorities, 0},
                                      {"schedule.inherited", inherited, 0}, {"schedule.full", full, 0},
                                      {"schedule.dropped", dropped, 0},     {0}};
