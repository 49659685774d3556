// Context parameters: every number read and written, then flags, priority and SSEU.
#include <string.h>

#include "suite.h"

static int get_parameter(uint32_t context, uint64_t number, uint32_t size, uint64_t* value, uint32_t* size_out) {
  struct drm_i915_gem_context_param request = {.ctx_id = context, .size = size, .param = number, .value = *value};
  const int result = call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &request);
  *value = request.value;
  *size_out = request.size;
  return result;
}

static int set_parameter(uint32_t context, uint64_t number, uint32_t size, uint64_t value) {
  struct drm_i915_gem_context_param request = {.ctx_id = context, .size = size, .param = number, .value = value};
  return call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &request);
}

static int is_id(uint64_t number) {
  return number == I915_CONTEXT_PARAM_VM;
}

static void reads(void) {
  const uint32_t contexts[2] = {0, create_context()};
  for (unsigned i = 0; i < 2; ++i) {
    for (uint64_t number = 0; number <= 16; ++number) {
      for (uint32_t size = 0; size <= 8; size += 4) {
        uint64_t value = 0;
        uint32_t size_out = 0;
        const int result = get_parameter(contexts[i], number, size, &value, &size_out);
        const char* name = key("%s %u size %u", i ? "new" : "default", (unsigned)number, size);
        observe(name, result);
        if (result < 0) continue;
        observe_number(key("%s becomes", name), size_out);
        if (!is_id(number)) observe_number(key("%s value", name), value);
      }
    }
  }
  uint64_t value = 0;
  uint32_t size = 0;
  observe("debugger's", get_parameter(0, 1u << 31, 0, &value, &size));
  observe("huge", get_parameter(0, 1ull << 40, 0, &value, &size));
  expect("unknown context", get_parameter(4711, I915_CONTEXT_PARAM_BANNABLE, 0, &value, &size), -ENOENT);
}

static void writes(void) {
  for (unsigned fresh = 0; fresh < 2; ++fresh) {
    for (uint64_t number = 0; number <= 16; ++number) {
      if (number == I915_CONTEXT_PARAM_PRIORITY) continue;
      const uint32_t context = fresh ? create_context() : 0;
      for (uint64_t value = 0; value < 2; ++value) {
        for (uint32_t size = 0; size <= 8; size += 4) {
          observe(key("%s %u size %u value %u", fresh ? "new" : "default", (unsigned)number, size, (unsigned)value),
                  set_parameter(context, number, size, value));
        }
      }
    }
  }
  expect("unknown context", set_parameter(4711, I915_CONTEXT_PARAM_RECOVERABLE, 0, 1), -ENOENT);
  expect("unknown parameter", set_parameter(0, 99, 0, 1), -EINVAL);
}

static void flags_stay(void) {
  static const uint64_t numbers[] = {I915_CONTEXT_PARAM_RECOVERABLE, I915_CONTEXT_PARAM_NO_ERROR_CAPTURE,
                                     I915_CONTEXT_PARAM_BANNABLE, I915_CONTEXT_PARAM_PERSISTENCE};
  static const uint64_t values[] = {0, 1, 2, ~0ull};
  const uint32_t context = create_context();
  for (unsigned i = 0; i < 4; ++i) {
    for (unsigned j = 0; j < 4; ++j) {
      const char* name = key("%u to %llx", (unsigned)numbers[i], (unsigned long long)values[j]);
      observe(name, set_parameter(context, numbers[i], 0, values[j]));
      uint64_t value = 77;
      uint32_t size = 0;
      observe(key("%s read", name), get_parameter(context, numbers[i], 0, &value, &size));
      observe_number(key("%s value", name), value);
    }
  }
}

static void priorities(void) {
  static const int64_t values[] = {0, -1, -512, -1023, -1024, -5000, 1, 512, 1023, 1024, 5000, 1ll << 33, -(1ll << 33)};
  const uint32_t contexts[2] = {0, create_context()};
  for (unsigned i = 0; i < 2; ++i) {
    for (unsigned j = 0; j < sizeof(values) / sizeof(values[0]); ++j) {
      const char* name = key("%s %lld", i ? "new" : "default", (long long)values[j]);
      observe(name, set_parameter(contexts[i], I915_CONTEXT_PARAM_PRIORITY, 0, (uint64_t)values[j]));
      uint64_t value = 77;
      uint32_t size = 0;
      observe(key("%s read", name), get_parameter(contexts[i], I915_CONTEXT_PARAM_PRIORITY, 0, &value, &size));
      observe(key("%s value", name), (int64_t)value == -1 ? -100001
                                     : (int64_t)value < 0 ? (int64_t)value - 100000
                                                          : (int64_t)value);
    }
  }
  observe("size 8", set_parameter(contexts[1], I915_CONTEXT_PARAM_PRIORITY, 8, 0));
}

static void slices(void) {
  struct drm_i915_gem_context_param_sseu seen = {0};
  uint64_t value = (uintptr_t)&seen;
  uint32_t size = 0;
  const uint32_t context = create_context();
  observe("size", get_parameter(context, I915_CONTEXT_PARAM_SSEU, 0, &value, &size));
  observe_number("size asked", size);
  observe("short", get_parameter(context, I915_CONTEXT_PARAM_SSEU, 8, &value, &size));
  int result = get_parameter(context, I915_CONTEXT_PARAM_SSEU, sizeof(seen), &value, &size);
  observe("get", result);
  if (result == 0) {
    observe_number("slices", seen.slice_mask);
    observe_number("subslices", seen.subslice_mask);
    observe_number("units, least", seen.min_eus_per_subslice);
    observe_number("units, most", seen.max_eus_per_subslice);
    observe("set the same", set_parameter(context, I915_CONTEXT_PARAM_SSEU, sizeof(seen), value));
  }
  seen.slice_mask = 0;
  observe("no slice", set_parameter(context, I915_CONTEXT_PARAM_SSEU, sizeof(seen), value));
  seen.rsvd = 1;
  observe("reserved", set_parameter(context, I915_CONTEXT_PARAM_SSEU, sizeof(seen), value));
  seen = (struct drm_i915_gem_context_param_sseu){.engine = {.engine_class = 9}};
  observe("engine", get_parameter(context, I915_CONTEXT_PARAM_SSEU, sizeof(seen), &value, &size));
  seen = (struct drm_i915_gem_context_param_sseu){.engine = {.engine_class = 1}};
  observe("blit", get_parameter(context, I915_CONTEXT_PARAM_SSEU, sizeof(seen), &value, &size));
  seen = (struct drm_i915_gem_context_param_sseu){.flags = 2};
  observe("flags", get_parameter(context, I915_CONTEXT_PARAM_SSEU, sizeof(seen), &value, &size));
  value = 0;
  observe("null", get_parameter(context, I915_CONTEXT_PARAM_SSEU, sizeof(seen), &value, &size));
}

const struct test context_parameter_tests[] = {
    {"context-parameters.reads", reads, 0},      {"context-parameters.writes", writes, 0},
    {"context-parameters.flags", flags_stay, 0}, {"context-parameters.priorities", priorities, 0},
    {"context-parameters.slices", slices, 0},    {0}};
