// BUSY, WAIT, THROTTLE, and the order of readers and writers.
#include <string.h>
#include <unistd.h>

#include "suite.h"

static uint32_t busy_word(const struct object* object) {
  struct drm_i915_gem_busy request = {.handle = object->handle, .busy = 0x77};
  expect("ask", call(DRM_IOCTL_I915_GEM_BUSY, &request), 0);
  return request.busy;
}

static void busy(void) {
  const struct object target = create(4096);
  expect_number("idle", busy_word(&target), 0);
  for (unsigned engine = 0; engine < engine_kinds; ++engine) {
    if (!has_engine(engine) || !can_store(engine)) continue;
    struct spinner spinner;
    start_spinner(&spinner, engines[engine].flag, 0, &target);
    observe_number(key("%s written", engines[engine].name), busy_word(&target));
    observe_number(key("%s read", engines[engine].name), busy_word(&spinner.batch.object));
    end_spinner(&spinner);
    expect(key("%s wait", engines[engine].name), wait_for(&target), 0);
    expect_number(key("%s after", engines[engine].name), busy_word(&target), 0);
  }
}

static void waits(void) {
  const struct object target = create(4096);
  struct drm_i915_gem_wait request = {.bo_handle = target.handle, .timeout_ns = 0};
  expect("idle", call(DRM_IOCTL_I915_GEM_WAIT, &request), 0);
  request.timeout_ns = -1;
  expect("idle, for ever", call(DRM_IOCTL_I915_GEM_WAIT, &request), 0);
  expect("time left", request.timeout_ns, -1);
  request.flags = 1;
  expect("flags", call(DRM_IOCTL_I915_GEM_WAIT, &request), -EINVAL);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &target);
  request = (struct drm_i915_gem_wait){.bo_handle = target.handle, .timeout_ns = 0};
  expect("busy", call(DRM_IOCTL_I915_GEM_WAIT, &request), -ETIME);
  request.timeout_ns = 1;
  expect("a nanosecond", call(DRM_IOCTL_I915_GEM_WAIT, &request), -ETIME);
  request.timeout_ns = 10000000;
  expect("ten milliseconds", call(DRM_IOCTL_I915_GEM_WAIT, &request), -ETIME);
  expect("none left", request.timeout_ns, 0);
  struct drm_i915_gem_set_domain domain = {.handle = target.handle};
  end_spinner(&spinner);
  request.timeout_ns = 20000000000ll;
  expect("ends", call(DRM_IOCTL_I915_GEM_WAIT, &request), 0);
  expect_true("time is left", request.timeout_ns > 0 && request.timeout_ns <= 20000000000ll);
  observe("domain", call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain));
  expect("throttle", call(DRM_IOCTL_I915_GEM_THROTTLE, NULL), 0);
}

// A writer waits for readers and writers; a reader waits for writers.
static void implicit(void) {
  if (!has_engine(1)) skip("one engine only");
  const struct object shared = create(4096), other = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &shared);
  expect("store to the same", store(I915_EXEC_BLT, 0, &shared, 8, 0x11), 0);
  const int in_order = chip.generation < 8;  // one ring for all contexts
  if (!in_order) {
    expect("store to another", store(I915_EXEC_BLT, create_context(), &other, 8, 0x22), 0);
    expect("another waits for none", wait_on(device, other.handle, 20000000000ll), 0);
  }
  expect("the same is busy", is_busy(&shared), 1);
  expect("and times out", wait_on(device, shared.handle, 1000000), -ETIME);
  end_spinner(&spinner);
  expect("then ends", wait_for(&shared), 0);
  expect_number("word", word_at(&shared, 8), 0x11);
  if (!in_order) expect_number("word of the other", word_at(&other, 8), 0x22);
}

// EXEC_OBJECT_ASYNC: work does not wait.
static void asynchronous(void) {
  if (!has_engine(1)) skip("one engine only");
  if (chip.generation < 8) skip("needs addresses in batches");
  const struct object shared = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &shared);
  struct batch batch;
  start_batch(&batch);
  add_store(&batch, &shared, 8, 0x33);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_BLT, create_context());
  batch.objects[0].flags |= EXEC_OBJECT_ASYNC;
  expect("execute", submit_as_is(&batch), 0);
  expect("does not wait", wait_on(device, batch.object.handle, 20000000000ll), 0);
  expect("the spinner is there", is_busy(&spinner.batch.object), 1);
  end_spinner(&spinner);
  expect("then ends", wait_for(&shared), 0);
  expect_number("word", word_at(&shared, 8), 0x33);
}

// Tests an object and a file that are closed while an engine uses them.
static void closed_while_busy(void) {
  const struct object target = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &target);
  close_object(&spinner.batch.object);
  expect("still busy", is_busy(&target), 1);
  end_spinner(&spinner);
  expect("ends", wait_for(&target), 0);
  const int first = device;
  device = open_device();
  struct spinner other;
  start_spinner(&other, I915_EXEC_RENDER, 0, NULL);
  volatile uint32_t* words = other.words;
  close(device);
  device = first;
  words[0] = 0x05000000;
  expect("store after another file went", store(I915_EXEC_RENDER, 0, &target, 0, 0x99), 0);
  expect("which ends", wait_for(&target), 0);
  expect_number("word", word_at(&target, 0), 0x99);
}

const struct test busy_tests[] = {{"busy.engines", busy, 0},
                                  {"busy.waits", waits, 0},
                                  {"busy.implicit", implicit, 0},
                                  {"busy.asynchronous", asynchronous, 0},
                                  {"busy.closed", closed_while_busy, 0},
                                  {0}};
