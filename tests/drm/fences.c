// Fences of EXECBUFFER2: in, out, submit, lists and timelines of syncobjs.
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

static void nothing(struct batch* batch, uint64_t flags) {
  start_batch(batch);
  add_end(batch);
  finish_batch(batch, I915_EXEC_RENDER | flags, 0);
}

static int is_signalled(int fence) {
  struct pollfd look = {.fd = fence, .events = POLLIN};
  return poll(&look, 1, 0) == 1 && (look.revents & POLLIN) != 0;
}

static int is_signalled_soon(int fence) {
  struct pollfd look = {.fd = fence, .events = POLLIN};
  return poll(&look, 1, 20000) == 1 && (look.revents & POLLIN) != 0;
}

static uint32_t create_syncobj(uint32_t flags) {
  struct drm_syncobj_create request = {.flags = flags};
  require(call(DRM_IOCTL_SYNCOBJ_CREATE, &request) == 0, "a syncobj cannot be made");
  return request.handle;
}

static int wait_syncobj(uint32_t handle, int64_t until, uint32_t flags) {
  struct drm_syncobj_wait request = {
      .handles = (uintptr_t)&handle, .count_handles = 1, .timeout_nsec = until, .flags = flags};
  return call(DRM_IOCTL_SYNCOBJ_WAIT, &request);
}

static void out(void) {
  struct batch batch;
  nothing(&batch, I915_EXEC_FENCE_OUT);
  expect("nothing", submit_as_is(&batch), 0);
  int fence = (int)(batch.execute.rsvd2 >> 32);
  expect_true("a file", fence > 2);
  expect_true("ends", is_signalled_soon(fence));
  close(fence);
  struct spinner spinner;
  prepare_spinner(&spinner, NULL);
  finish_batch(&spinner.batch, I915_EXEC_RENDER | I915_EXEC_FENCE_OUT, 0);
  expect("spinner", submit_as_is(&spinner.batch), 0);
  fence = (int)(spinner.batch.execute.rsvd2 >> 32);
  expect_true("not yet", !is_signalled(fence));
  end_spinner(&spinner);
  expect_true("then", is_signalled_soon(fence));
  expect_true("closes on exec", (fcntl(fence, F_GETFD) & FD_CLOEXEC) != 0);
  close(fence);
  // The ioctl that does not write back cannot return the fence.
  nothing(&batch, I915_EXEC_FENCE_OUT);
  observe("without room for it", call(DRM_IOCTL_I915_GEM_EXECBUFFER2, &batch.execute));
  nothing(&batch, I915_EXEC_FENCE_OUT);
  batch.objects[0].handle = 4711;
  expect("a wrong call", submit_as_is(&batch), -ENOENT);
}

static void wrong(void) {
  static const struct {
    const char* name;
    uint64_t flags;
  } kinds[] = {{"in", I915_EXEC_FENCE_IN},
               {"submit", I915_EXEC_FENCE_SUBMIT},
               {"both", I915_EXEC_FENCE_IN | I915_EXEC_FENCE_SUBMIT}};
  const int null = open("/dev/null", O_RDWR);
  for (unsigned i = 0; i < 3; ++i) {
    const int files[] = {-1, 999, null, 0x7fffffff};
    static const char* const names[] = {"none", "closed", "other file", "huge"};
    for (unsigned j = 0; j < 4; ++j) {
      struct batch batch;
      nothing(&batch, kinds[i].flags);
      batch.execute.rsvd2 = (uint32_t)files[j];
      expect(key("%s %s", kinds[i].name, names[j]), submit_as_is(&batch), -EINVAL);
    }
  }
  close(null);
}

// A store waits for a fence of another engine or context.
static void in(void) {
  const uint64_t second = has_engine(1) && chip.generation >= 6 ? I915_EXEC_BLT : I915_EXEC_RENDER;
  const struct object target = create(4096);
  for (unsigned kind = 0; kind < 2; ++kind) {
    struct spinner spinner;
    prepare_spinner(&spinner, NULL);
    finish_batch(&spinner.batch, I915_EXEC_RENDER | I915_EXEC_FENCE_OUT, 0);
    expect("spinner", submit_as_is(&spinner.batch), 0);
    const int fence = (int)(spinner.batch.execute.rsvd2 >> 32);
    struct batch batch;
    start_batch(&batch);
    add_store(&batch, &target, 4 * kind, 0xf0 + kind);
    add_end(&batch);
    finish_batch(&batch, second | (kind ? I915_EXEC_FENCE_SUBMIT : I915_EXEC_FENCE_IN), create_context());
    batch.execute.rsvd2 = (uint32_t)fence;
    expect(key("execute %u", kind), submit_as_is(&batch), 0);
    if (kind == 0) {
      expect("waits", wait_on(device, target.handle, 5000000), -ETIME);
      expect_number("not stored", word_at(&batch.object, 4000), 0);
    } else if (second == I915_EXEC_BLT) {
      expect("goes with it", wait_on(device, target.handle, 20000000000ll), 0);
      expect_true("the spinner is there", !is_signalled(fence));
    }
    end_spinner(&spinner);
    expect("ends", wait_for(&target), 0);
    expect_number(key("word %u", kind), word_at(&target, 4 * kind), 0xf0 + kind);
    close(fence);
  }
}

static int with_list(const struct drm_i915_gem_exec_fence* fences, uint32_t count, uint64_t more) {
  struct batch batch;
  nothing(&batch, I915_EXEC_FENCE_ARRAY | more);
  batch.execute.num_cliprects = count;
  batch.execute.cliprects_ptr = (uintptr_t)fences;
  const int result = submit_as_is(&batch);
  wait_for(&batch.object);
  return result;
}

static void list(void) {
  struct drm_i915_gem_exec_fence fence = {.handle = create_syncobj(0), .flags = I915_EXEC_FENCE_SIGNAL};
  expect("empty", with_list(NULL, 0, 0), 0);
  expect("null", with_list(NULL, 1, 0), -EFAULT);
  expect("wild", with_list((void*)0x1000, 1, 0), -EFAULT);
  observe("too many", with_list(&fence, ~0u, 0));
  expect("signal", with_list(&fence, 1, 0), 0);
  expect("it is", wait_syncobj(fence.handle, 0x7fffffffffffffffll, 0), 0);
  fence.flags = I915_EXEC_FENCE_WAIT;
  expect("wait", with_list(&fence, 1, 0), 0);
  fence.flags = I915_EXEC_FENCE_WAIT | I915_EXEC_FENCE_SIGNAL;
  expect("both", with_list(&fence, 1, 0), 0);
  fence.flags = 0;
  expect("neither", with_list(&fence, 1, 0), 0);
  fence.flags = 4;
  expect("flags", with_list(&fence, 1, 0), -EINVAL);
  fence = (struct drm_i915_gem_exec_fence){.handle = create_syncobj(0), .flags = I915_EXEC_FENCE_WAIT};
  expect("wait for nothing", with_list(&fence, 1, 0), -EINVAL);
  fence.handle = 4711;
  expect("unknown", with_list(&fence, 1, 0), -ENOENT);
  fence.handle = 0;
  expect("zero", with_list(&fence, 1, 0), -ENOENT);
  struct spinner spinner;
  prepare_spinner(&spinner, NULL);
  finish_batch(&spinner.batch, I915_EXEC_RENDER | I915_EXEC_FENCE_ARRAY, 0);
  fence = (struct drm_i915_gem_exec_fence){.handle = create_syncobj(0), .flags = I915_EXEC_FENCE_SIGNAL};
  spinner.batch.execute.num_cliprects = 1;
  spinner.batch.execute.cliprects_ptr = (uintptr_t)&fence;
  expect("spinner", submit_as_is(&spinner.batch), 0);
  expect("not yet", wait_syncobj(fence.handle, 0, 0), -ETIME);
  end_spinner(&spinner);
  expect("then", wait_syncobj(fence.handle, 0x7fffffffffffffffll, 0), 0);
}

static int with_points(struct drm_i915_gem_execbuffer_ext_timeline_fences* points, uint64_t more) {
  struct batch batch;
  nothing(&batch, I915_EXEC_USE_EXTENSIONS | more);
  batch.execute.cliprects_ptr = (uintptr_t)points;
  const int result = submit_as_is(&batch);
  wait_for(&batch.object);
  return result;
}

static void points(void) {
  struct drm_i915_gem_exec_fence fence = {.handle = create_syncobj(0), .flags = I915_EXEC_FENCE_SIGNAL};
  uint64_t value = 5;
  const struct drm_i915_gem_execbuffer_ext_timeline_fences good = {
      .base = {.name = DRM_I915_GEM_EXECBUFFER_EXT_TIMELINE_FENCES},
      .fence_count = 1,
      .handles_ptr = (uintptr_t)&fence,
      .values_ptr = (uintptr_t)&value};
  struct drm_i915_gem_execbuffer_ext_timeline_fences list_call = good;
  expect("none", with_points(NULL, 0), 0);
  expect("wild", with_points((void*)0x10, 0), -EFAULT);
  list_call.base.name = 9;
  expect("unknown extension", with_points(&list_call, 0), -EINVAL);
  list_call = good;
  expect("signal 5", with_points(&list_call, 0), 0);
  uint64_t seen = 0;
  struct drm_syncobj_timeline_array query = {
      .handles = (uintptr_t)&fence.handle, .points = (uintptr_t)&seen, .count_handles = 1};
  expect("query", call(DRM_IOCTL_SYNCOBJ_QUERY, &query), 0);
  expect_number("point", seen, 5);
  fence.flags = I915_EXEC_FENCE_WAIT;
  expect("wait for 5", with_points(&list_call, 0), 0);
  value = 3;
  expect("wait for 3", with_points(&list_call, 0), 0);
  value = 6;
  expect("wait for 6", with_points(&list_call, 0), -EINVAL);
  fence.flags = I915_EXEC_FENCE_SIGNAL;
  value = 4;
  observe("signal 4", with_points(&list_call, 0));
  value = 5;
  observe("signal 5 again", with_points(&list_call, 0));
  value = 9;
  expect("signal 9", with_points(&list_call, 0), 0);
  expect("query 9", call(DRM_IOCTL_SYNCOBJ_QUERY, &query), 0);
  expect_number("point 9", seen, 9);
  value = 0;
  observe("signal 0", with_points(&list_call, 0));
  list_call.base.flags = 1;
  observe("flags", with_points(&list_call, 0));
  list_call = good;
  list_call.handles_ptr = 0;
  observe("null handles", with_points(&list_call, 0));
  list_call = good;
  list_call.values_ptr = 0;
  observe("null values", with_points(&list_call, 0));
  list_call = good;
  list_call.fence_count = 0;
  observe("no fences", with_points(&list_call, 0));
  list_call = good;
  list_call.fence_count = ~0ull;
  observe("too many", with_points(&list_call, 0));
  list_call = good;
  fence.flags = 8;
  observe("fence flags", with_points(&list_call, 0));
  fence.flags = I915_EXEC_FENCE_SIGNAL;
  observe("with a list", with_points(&list_call, I915_EXEC_FENCE_ARRAY));
  struct drm_i915_gem_execbuffer_ext_timeline_fences second = good;
  list_call.base.next_extension = (uintptr_t)&second;
  observe("twice", with_points(&list_call, 0));
}

const struct test fence_tests[] = {{"fences.out", out, 0},   {"fences.wrong", wrong, 0},   {"fences.in", in, 0},
                                   {"fences.list", list, 0}, {"fences.points", points, 0}, {0}};
