// GETPARAM and related calls, with the answers of Linux 6.1 for each chip.
#include <cerrno>
#include <map>

#include "door.h"

namespace halogen::driver {
namespace {

class Parameters : public Door {
 protected:
  int get(int name) {
    int value = -12345;
    drm_i915_getparam_t parameter{.param = name, .value = &value};
    const int result = call(DRM_IOCTL_I915_GETPARAM, parameter);
    return result != 0 ? result : value;
  }
  int choose(const std::map<std::string, int>& values, int otherwise) const {
    const auto found = values.find(GetParam());
    return found == values.end() ? otherwise : found->second;
  }
};

TEST_P(Parameters, ValuesMatchTheChip) {
  const int kOld = -ENODEV;
  EXPECT_EQ(get(I915_PARAM_CHIPSET_ID), choose({{"i965", 0x29a2},
                                                {"gm965", 0x2a02},
                                                {"g45", 0x2e22},
                                                {"gm45", 0x2a42},
                                                {"snb", 0x0116},
                                                {"bdw", 0x1616},
                                                {"chv", 0x22b1},
                                                {"skl", 0x1912},
                                                {"icl", 0x8a52},
                                                {"tgl", 0x9a49},
                                                {"dg1", 0x4905}},
                                               0));
  EXPECT_EQ(get(I915_PARAM_HAS_BSD), choose({{"i965", 0}, {"gm965", 0}}, 1));
  EXPECT_EQ(get(I915_PARAM_HAS_BSD2), choose({{"icl", 1}, {"tgl", 1}, {"dg1", 1}}, 0));
  EXPECT_EQ(get(I915_PARAM_HAS_BLT), choose({{"i965", 0}, {"gm965", 0}, {"g45", 0}, {"gm45", 0}}, 1));
  EXPECT_EQ(get(I915_PARAM_HAS_VEBOX), execlists() ? 1 : 0);
  EXPECT_EQ(get(I915_PARAM_HAS_LLC), choose({{"snb", 1}, {"bdw", 1}, {"skl", 1}, {"icl", 1}, {"tgl", 1}}, 0));
  EXPECT_EQ(get(I915_PARAM_HAS_ALIASING_PPGTT), execlists() ? 2 : is("snb") ? 1 : 0);
  EXPECT_EQ(get(I915_PARAM_NUM_FENCES_AVAIL),
            choose({{"bdw", 32}, {"skl", 32}, {"icl", 32}, {"tgl", 32}, {"dg1", 0}}, 16));
  EXPECT_EQ(get(I915_PARAM_HAS_GPU_RESET), execlists() ? 2 : 1);
  EXPECT_EQ(get(I915_PARAM_HAS_CONTEXT_ISOLATION), execlists() ? 0xf : 1);
  // Enabled, priorities, preemption, semaphores, busy times.
  EXPECT_EQ(get(I915_PARAM_HAS_SCHEDULER),
            choose({{"bdw", 0x1b}, {"chv", 0x1b}, {"skl", 0x1f}, {"icl", 0x1f}, {"tgl", 0x1f}, {"dg1", 0x1f}}, 0));
  EXPECT_EQ(get(I915_PARAM_HAS_SEMAPHORES), execlists() ? 1 : 0);
  EXPECT_EQ(get(I915_PARAM_CMD_PARSER_VERSION), is("skl") ? 10 : 0);
  EXPECT_EQ(get(I915_PARAM_SUBSLICE_TOTAL),
            choose({{"bdw", 3}, {"chv", 2}, {"skl", 3}, {"icl", 8}, {"tgl", 6}, {"dg1", 6}}, kOld));
  EXPECT_EQ(get(I915_PARAM_EU_TOTAL),
            choose({{"bdw", 24}, {"chv", 16}, {"skl", 24}, {"icl", 64}, {"tgl", 96}, {"dg1", 96}}, kOld));
  EXPECT_EQ(get(I915_PARAM_SLICE_MASK), execlists() ? 1 : kOld);
  EXPECT_EQ(get(I915_PARAM_SUBSLICE_MASK),
            choose({{"bdw", 7}, {"chv", 3}, {"skl", 7}, {"icl", 255}, {"tgl", 63}, {"dg1", 63}}, kOld));
  EXPECT_EQ(get(I915_PARAM_CS_TIMESTAMP_FREQUENCY),
            choose({{"skl", 12000000}, {"icl", 12000000}, {"tgl", 19200000}, {"dg1", 19200000}}, 12500000));
  EXPECT_EQ(get(I915_PARAM_HUC_STATUS),
            choose({{"skl", -EOPNOTSUPP}, {"icl", -EOPNOTSUPP}, {"tgl", -EOPNOTSUPP}, {"dg1", -EOPNOTSUPP}}, -ENODEV));
  EXPECT_EQ(get(I915_PARAM_MMAP_GTT_COHERENT), choose({{"chv", 0}, {"icl", 0}, {"tgl", 0}, {"dg1", 0}}, 1));
}

TEST_P(Parameters, OtherValuesAreEqualOnAllChips) {
  for (const int always :
       {I915_PARAM_HAS_GEM, I915_PARAM_HAS_EXECBUF2, I915_PARAM_HAS_EXEC_NO_RELOC, I915_PARAM_HAS_EXEC_SOFTPIN,
        I915_PARAM_HAS_EXEC_BATCH_FIRST, I915_PARAM_HAS_EXEC_FENCE_ARRAY, I915_PARAM_HAS_WAIT_TIMEOUT,
        I915_PARAM_HAS_EXEC_TIMELINE_FENCES, I915_PARAM_HAS_USERPTR_PROBE, I915_PARAM_MMAP_VERSION}) {
    EXPECT_EQ(get(always), 1) << always;
  }
  EXPECT_EQ(get(I915_PARAM_MMAP_GTT_VERSION), 4);
  EXPECT_EQ(get(I915_PARAM_PERF_REVISION), 5);
  EXPECT_EQ(get(I915_PARAM_HAS_RESOURCE_STREAMER), 0);
  EXPECT_EQ(get(I915_PARAM_IRQ_ACTIVE), -ENODEV);
  EXPECT_EQ(get(I915_PARAM_HAS_SECURE_BATCHES), 0);
  EXPECT_EQ(get(9999), -EINVAL);
  EXPECT_EQ(get(-1), -EINVAL);
  drm_i915_getparam_t parameter{.param = I915_PARAM_HAS_GEM, .value = nullptr};
  EXPECT_EQ(call(DRM_IOCTL_I915_GETPARAM, parameter), -EFAULT);
}

TEST_P(Parameters, ApertureSizeIsThatOfTheGlobalTable) {
  drm_i915_gem_get_aperture aperture{};
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_GET_APERTURE, aperture), 0);
  const uint64_t entries = model().gtt_bytes / (narrow() ? 4 : 8);
  EXPECT_EQ(aperture.aper_size, entries * 4096);
  EXPECT_LT(aperture.aper_available_size, aperture.aper_size);
  EXPECT_GT(aperture.aper_available_size, aperture.aper_size - (16 << 20));
  const uint64_t before = aperture.aper_available_size;
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = make_empty();
  ASSERT_EQ(execute(objects), 0);
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_GET_APERTURE, aperture), 0);
  const uint64_t first = aperture.aper_available_size;
  EXPECT_LE(first, before);
  objects[0].handle = make_empty();
  ASSERT_EQ(execute(objects), 0);
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_GET_APERTURE, aperture), 0);
  EXPECT_EQ(aperture.aper_available_size, first) << "buffers of programs can be evicted";
}

TEST_P(Parameters, OnlyTheTimestampCanBeRead) {
  drm_i915_reg_read read{};
  read.offset = 0x2358;
  ASSERT_EQ(call(DRM_IOCTL_I915_REG_READ, read), 0);
  read.offset = 0x2358 | I915_REG_READ_8B_WA;
  ASSERT_EQ(call(DRM_IOCTL_I915_REG_READ, read), 0);
  const uint64_t before = read.val;
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = make_empty();
  ASSERT_EQ(execute(objects), 0);
  ASSERT_EQ(wait(objects[0].handle), 0);
  ASSERT_EQ(call(DRM_IOCTL_I915_REG_READ, read), 0);
  EXPECT_GE(read.val, before);
  for (const uint64_t bad : {0x235aull, 0x235cull, 0x2354ull, 0x2030ull, 0x12358ull, 0ull}) {
    read.offset = bad;
    EXPECT_EQ(call(DRM_IOCTL_I915_REG_READ, read), -EINVAL) << bad;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, Parameters, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen::driver
