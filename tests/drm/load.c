// Load: many threads, many objects, much address space.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

enum { thread_count = 2, rounds = 24, buffer_count = 300 };

struct job {
  unsigned number;
  uint32_t context;
  struct object target;
  struct batch batches[rounds];
  int result;
};

static void* submit_all(void* argument) {
  struct job* job = argument;
  for (unsigned i = 0; i < rounds && job->result == 0; ++i) {
    job->result = submit_as_is(&job->batches[i]);
    if (i % 8 == 7 && job->result == 0) job->result = wait_for(&job->target);
  }
  return NULL;
}

static void threads(void) {
  pthread_t running[thread_count];
  struct job* jobs = calloc(thread_count, sizeof(*jobs));
  for (unsigned i = 0; i < thread_count; ++i) {
    jobs[i].number = i;
    jobs[i].context = create_context();
    jobs[i].target = create(4096);
    for (unsigned j = 0; j < rounds; ++j) {
      start_batch(&jobs[i].batches[j]);
      add_store(&jobs[i].batches[j], &jobs[i].target, 4 * j, 0x1000 * i + j);
      add_end(&jobs[i].batches[j]);
      finish_batch(&jobs[i].batches[j], I915_EXEC_RENDER, jobs[i].context);
    }
  }
  for (unsigned i = 0; i < thread_count; ++i) pthread_create(&running[i], NULL, submit_all, &jobs[i]);
  for (unsigned i = 0; i < thread_count; ++i) pthread_join(running[i], NULL);
  for (unsigned i = 0; i < thread_count; ++i) {
    expect(key("thread %u", i), jobs[i].result, 0);
    wait_for(&jobs[i].target);
    unsigned wrong = 0;
    for (unsigned j = 0; j < rounds; ++j) wrong += word_at(&jobs[i].target, 4 * j) != 0x1000 * i + j;
    expect_number(key("wrong words %u", i), wrong, 0);
  }
  free(jobs);
}

// Submits one batch with many objects in its list.
static void buffers(void) {
  struct drm_i915_gem_exec_object2* list = calloc(buffer_count + 1, sizeof(*list));
  struct batch batch;
  start_batch(&batch);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER, 0);
  for (unsigned i = 0; i < buffer_count; ++i) {
    const struct object object = create(4096);
    list[i] = (struct drm_i915_gem_exec_object2){.handle = object.handle};
  }
  list[buffer_count] = batch.objects[0];
  batch.execute.buffers_ptr = (uintptr_t)list;
  batch.execute.buffer_count = buffer_count + 1;
  expect("execute", submit_as_is(&batch), 0);
  wait_for(&batch.object);
  unsigned same = 0;
  for (unsigned i = 0; i < buffer_count; ++i) {
    for (unsigned j = 0; j < i; ++j) same += list[i].offset == list[j].offset;
  }
  expect_number("at the same place", same, 0);
  expect("again", submit_as_is(&batch), 0);
  free(list);
}

// Requests more than the available address space or memory.
static void too_much(void) {
  struct batch batch;
  for (unsigned bits = 36; bits <= 42; bits += 6) {
    start_batch(&batch);
    add_end(&batch);
    finish_batch(&batch, I915_EXEC_RENDER, 0);
    struct drm_i915_gem_create request = {.size = 1ull << bits};
    const int made = call(DRM_IOCTL_I915_GEM_CREATE, &request);
    observe(key("create %u", bits), made);
    if (made < 0) continue;
    batch.objects[1] = batch.objects[0];
    batch.objects[0] = (struct drm_i915_gem_exec_object2){.handle = request.handle};
    batch.execute.buffer_count = 2;
    observe(key("execute %u", bits), submit_as_is(&batch));
    char byte = 0;
    struct drm_i915_gem_pwrite write_call = {.handle = request.handle, .size = 1, .data_ptr = (uintptr_t)&byte};
    observe(key("write %u", bits), call(DRM_IOCTL_I915_GEM_PWRITE, &write_call));
    struct drm_i915_gem_set_domain domain = {.handle = request.handle, .read_domains = 1};
    observe(key("domain %u", bits), call(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain));
    struct drm_gem_close close_call = {.handle = request.handle};
    expect(key("close %u", bits), call(DRM_IOCTL_GEM_CLOSE, &close_call), 0);
  }
  const struct object target = create(4096);
  expect("store after all this", store(I915_EXEC_RENDER, 0, &target, 0, 0x600d), 0);
  wait_for(&target);
  expect_number("word", word_at(&target, 0), 0x600d);
}

static void create_and_close(void) {
  int result = 0;
  for (unsigned i = 0; i < 2000 && result == 0; ++i) {
    struct drm_i915_gem_create request = {.size = 4096 * (1 + i % 7)};
    result = call(DRM_IOCTL_I915_GEM_CREATE, &request);
    struct drm_gem_close close_call = {.handle = request.handle};
    if (result == 0) result = call(DRM_IOCTL_GEM_CLOSE, &close_call);
  }
  expect("all", result, 0);
  expect_number("first handle is free", create(4096).handle, 1);
}

const struct test load_tests[] = {{"load.threads", threads, 0},
                                  {"load.buffers", buffers, 0},
                                  {"load.too-much", too_much, 0},
                                  {"load.create-and-close", create_and_close, 0},
                                  {0}};
