// GETPARAM, the aperture, registers, perf.
#include <string.h>
#include <unistd.h>

#include "suite.h"

static void all(void) {
  for (int number = 0; number <= 64; ++number) {
    int value = -1;
    struct drm_i915_getparam request = {.param = number, .value = &value};
    const int result = call(DRM_IOCTL_I915_GETPARAM, &request);
    if (result < 0) {
      observe(key("%02d", number), result);
    } else {
      observe_number(key("%02d", number), (unsigned)value);
    }
  }
}

static void wrong(void) {
  int value = 0;
  struct drm_i915_getparam request = {.param = 9999, .value = &value};
  expect("unknown", call(DRM_IOCTL_I915_GETPARAM, &request), -EINVAL);
  request.param = -1;
  expect("negative", call(DRM_IOCTL_I915_GETPARAM, &request), -EINVAL);
  request = (struct drm_i915_getparam){.param = I915_PARAM_CHIPSET_ID, .value = NULL};
  expect("null", call(DRM_IOCTL_I915_GETPARAM, &request), -EFAULT);
  request.value = (int*)0x10;
  expect("wild", call(DRM_IOCTL_I915_GETPARAM, &request), -EFAULT);
  struct drm_i915_setparam set = {.param = 1};
  expect("set", call(DRM_IOCTL_I915_SETPARAM, &set), -EACCES);
}

static void aperture(void) {
  struct drm_i915_gem_get_aperture before = {0}, after = {0};
  expect("call", call(DRM_IOCTL_I915_GEM_GET_APERTURE, &before), 0);
  expect_true("some", before.aper_size > 0 && before.aper_available_size > 0);
  expect_true("not more than all", before.aper_available_size <= before.aper_size);
  observe_number("size", before.aper_size);
  create(1 << 20);
  expect("again", call(DRM_IOCTL_I915_GEM_GET_APERTURE, &after), 0);
  expect_true("unbound objects take none", after.aper_available_size == before.aper_available_size);
}

static void registers(void) {
  static const struct {
    const char* name;
    uint64_t offset;
  } rows[] = {{"timestamp", 0x2358},       {"timestamp, one access", 0x2359},
              {"middle", 0x235c},          {"render timestamp 2", 0x235a},
              {"blit timestamp", 0x22358}, {"zero", 0},
              {"ring head", 0x2034},       {"end", 0xfffffffc},
              {"far", 1ull << 40}};
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    struct drm_i915_reg_read request = {.offset = rows[i].offset};
    observe(rows[i].name, call(DRM_IOCTL_I915_REG_READ, &request));
  }
  struct drm_i915_reg_read first = {.offset = 0x2358 | I915_REG_READ_8B_WA}, second = first;
  if (call(DRM_IOCTL_I915_REG_READ, &first) != 0) return;
  expect("second", call(DRM_IOCTL_I915_REG_READ, &second), 0);
  expect_true("time continues", (second.val & 0xffffffff) != (first.val & 0xffffffff));
}

// The clock advances while the device is idle. In a guest on a busy host it may lag: then the test sleeps longer.
static void clock_goes(void) {
  enum { tries = 10 };
  struct drm_i915_reg_read first = {.offset = 0x2358 | I915_REG_READ_8B_WA}, second = first;
  const int frequency = parameter(I915_PARAM_CS_TIMESTAMP_FREQUENCY);
  if (frequency <= 0 || call(DRM_IOCTL_I915_REG_READ, &first) != 0) skip("no clock");
  uint64_t passed_ms = 0;
  for (unsigned i = 0; i < tries && passed_ms < 80; ++i) {
    usleep(100000);
    if (call(DRM_IOCTL_I915_REG_READ, &second) != 0) break;
    passed_ms = (uint64_t)((uint32_t)second.val - (uint32_t)first.val) * 1000 / (unsigned)frequency;
  }
  expect_true("80 ms go by", passed_ms >= 80);
}

static void perf(void) {
  uint64_t properties[] = {DRM_I915_PERF_PROP_SAMPLE_OA, 1, DRM_I915_PERF_PROP_OA_METRICS_SET, 1,
                           DRM_I915_PERF_PROP_OA_FORMAT, 5};
  struct drm_i915_perf_open_param open_call = {0};
  observe("nothing", call(DRM_IOCTL_I915_PERF_OPEN, &open_call));
  open_call.flags = 1u << 31;
  observe("flags", call(DRM_IOCTL_I915_PERF_OPEN, &open_call));
  open_call = (struct drm_i915_perf_open_param){.num_properties = 1};
  observe("null", call(DRM_IOCTL_I915_PERF_OPEN, &open_call));
  open_call = (struct drm_i915_perf_open_param){.num_properties = 3, .properties_ptr = (uintptr_t)properties};
  observe("without right", call(DRM_IOCTL_I915_PERF_OPEN, &open_call));
  struct drm_i915_perf_oa_config config = {0};
  observe("add", call(DRM_IOCTL_I915_PERF_ADD_CONFIG, &config));
  uint64_t number = 77;
  observe("remove", call(DRM_IOCTL_I915_PERF_REMOVE_CONFIG, &number));
}

const struct test parameter_tests[] = {{"parameters.all", all, 0},
                                       {"parameters.wrong", wrong, 0},
                                       {"parameters.aperture", aperture, 0},
                                       {"parameters.registers", registers, 0},
                                       {"parameters.perf", perf, 0},
                                       {"parameters.clock", clock_goes, 0},
                                       {0}};
