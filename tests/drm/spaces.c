// Address spaces that programs create.
#include <string.h>

#include "suite.h"

static int create_space(struct drm_i915_gem_vm_control* control) {
  return call(DRM_IOCTL_I915_GEM_VM_CREATE, control);
}

static int destroy_space(uint32_t number) {
  struct drm_i915_gem_vm_control control = {.vm_id = number};
  return call(DRM_IOCTL_I915_GEM_VM_DESTROY, &control);
}

static void lives(void) {
  struct drm_i915_gem_vm_control control = {0};
  const int made = create_space(&control);
  observe("create", made);
  observe("destroy none", destroy_space(0));
  observe("destroy unknown", destroy_space(4711));
  if (made < 0) return;
  const uint32_t first = control.vm_id;
  observe_number("first", first);
  expect("destroy", destroy_space(first), 0);
  expect("destroy twice", destroy_space(first), -ENOENT);
  control = (struct drm_i915_gem_vm_control){.flags = 1};
  expect("flags", create_space(&control), -EINVAL);
  control = (struct drm_i915_gem_vm_control){.extensions = 0x10};
  expect("wild", create_space(&control), -EFAULT);
  struct i915_user_extension extension = {.name = 1};
  control = (struct drm_i915_gem_vm_control){.extensions = (uintptr_t)&extension};
  expect("extension", create_space(&control), -EINVAL);
  control = (struct drm_i915_gem_vm_control){.vm_id = 9};
  observe("with a number", create_space(&control));
  const uint32_t second = control.vm_id;
  control = (struct drm_i915_gem_vm_control){.vm_id = second, .flags = 1};
  observe("destroy with flags", call(DRM_IOCTL_I915_GEM_VM_DESTROY, &control));
  control = (struct drm_i915_gem_vm_control){.vm_id = second, .extensions = 1};
  observe("destroy with extensions", call(DRM_IOCTL_I915_GEM_VM_DESTROY, &control));
}

static uint32_t context_in(uint32_t space, int* result) {
  struct drm_i915_gem_context_create_ext_setparam set = {.base = {.name = I915_CONTEXT_CREATE_EXT_SETPARAM},
                                                         .param = {.param = I915_CONTEXT_PARAM_VM, .value = space}};
  struct drm_i915_gem_context_create_ext request = {.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS,
                                                    .extensions = (uintptr_t)&set};
  *result = call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &request);
  return request.ctx_id;
}

// An object that one context's batch bound in a shared space is mapped for another's.
static void shared(void) {
  struct drm_i915_gem_vm_control control = {0};
  int result = 0;
  if (create_space(&control) < 0) {
    context_in(1, &result);
    observe("context in none", result);
    skip("no spaces to be made");
  }
  context_in(4711, &result);
  expect("context in an unknown one", result, -ENOENT);
  const uint32_t first = context_in(control.vm_id, &result);
  expect("first context", result, 0);
  const uint32_t second = context_in(control.vm_id, &result);
  expect("second context", result, 0);
  expect("destroy the space's number", destroy_space(control.vm_id), 0);
  const struct object target = create(4096);
  expect("store by the first", store(I915_EXEC_RENDER, first, &target, 0, 0x77), 0);
  struct batch batch;
  start_batch(&batch);
  add_store(&batch, &target, 4, 0x88);
  add_end(&batch);
  finish_batch(&batch, I915_EXEC_RENDER, second);
  batch.objects[0] = batch.objects[1];
  batch.execute.buffer_count = 1;
  wait_for(&target);
  expect("store by the second, which does not list it", submit_as_is(&batch), 0);
  expect("wait", wait_for(&batch.object), 0);
  expect_number("first word", word_at(&target, 0), 0x77);
  observe_number("second word", word_at(&target, 4));
  struct drm_i915_gem_context_param get_call = {.ctx_id = first, .param = I915_CONTEXT_PARAM_VM};
  observe("get", call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &get_call));
  observe_number("number", get_call.value);
  observe_number("size", get_call.size);
  struct drm_i915_gem_context_param set_call = {
      .ctx_id = second, .param = I915_CONTEXT_PARAM_VM, .value = get_call.value};
  observe("set when used", call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set_call));
  set_call.ctx_id = 0;
  observe("set of the default", call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set_call));
  set_call.ctx_id = create_context();
  observe("set of a new one", call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set_call));
  set_call.size = 8;
  observe("set with a size", call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &set_call));
}

const struct test space_tests[] = {{"spaces.lives", lives, 0}, {"spaces.shared", shared, 0}, {0}};
