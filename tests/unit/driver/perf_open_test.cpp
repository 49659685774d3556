// Opening streams of performance counters: the errors of Linux 6.1, in its order.
#include "unit/driver/perf_door.h"

namespace halogen::driver {
namespace {

class PerfOpen : public PerfDoor {};
class PerfNone : public PerfDoor {};

TEST_P(PerfNone, ChipsWithoutUnitSupportNothing) {
  constexpr int kNotSupported = 524;
  const int expected = has_perf() ? -EINVAL : -kNotSupported;
  EXPECT_EQ(open_with({}), expected);
  EXPECT_EQ(add("", {}), expected);
  uint64_t id = 77;
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_REMOVE_CONFIG, id), has_perf() ? -ENOENT : -kNotSupported);
}
INSTANTIATE_TEST_SUITE_P(Chips, PerfNone, ::testing::ValuesIn(all_chips()), chip_name);

TEST_P(PerfOpen, EachMistakeHasItsError) {
  const int config = add_any();
  ASSERT_EQ(config, 2);
  const Properties good = usual(config);
  EXPECT_EQ(open_with(good, 8), -EINVAL) << "unknown flag";
  EXPECT_EQ(open_with({}), -EINVAL);
  EXPECT_EQ(open_with(Properties(9, {DRM_I915_PERF_PROP_SAMPLE_OA, 1})), -EINVAL) << "too many";
  EXPECT_EQ(open_with({{0, 1}}), -EINVAL);
  EXPECT_EQ(open_with({{9, 1}}), -EINVAL) << "a property of later kernels";
  for (const unsigned format : {0u, 1u, 6u, 11u, 100u}) {
    EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_OA_FORMAT, format)), -EINVAL) << format;
  }
  EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_OA_METRICS_SET, 0)), -EINVAL);
  EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_OA_METRICS_SET, 1)), -EINVAL) << "listed, but not usable";
  EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_OA_METRICS_SET, ~uint64_t{0})), -EINVAL);
  EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_OA_EXPONENT, 32)), -EINVAL);
  EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_POLL_OA_PERIOD, 99'999)), -EINVAL);
  EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_HOLD_PREEMPTION, 1)), -EINVAL) << "needs a context";
  EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_CTX_HANDLE, 77)), -ENOENT);
  EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_GLOBAL_SSEU, 8)), -EFAULT);
  Properties without_samples(good.begin() + 1, good.end());
  EXPECT_EQ(open_with(without_samples), -EINVAL);
  Properties without_format = good;
  std::erase_if(without_format, [](const auto& each) { return each.first == DRM_I915_PERF_PROP_OA_FORMAT; });
  EXPECT_EQ(open_with(without_format), -EINVAL);
  drm_i915_perf_open_param open{.flags = 0, .num_properties = 1, .properties_ptr = 8};
  EXPECT_EQ(call(DRM_IOCTL_I915_PERF_OPEN, open), -EFAULT);
  const int stream = open_with(good);
  ASSERT_GE(stream, 0);
  ::close(stream);
}

// Linux reports only the first mistake that it finds.
TEST_P(PerfOpen, ErrorsComeInTheOrderOfLinux) {
  const int config = add_any();
  const Properties good = usual(config);
  const Properties stranger = with(good, DRM_I915_PERF_PROP_CTX_HANDLE, 77);
  EXPECT_EQ(open_with(with(stranger, DRM_I915_PERF_PROP_OA_EXPONENT, 32)), -EINVAL) << "properties before the context";
  EXPECT_EQ(open_with(with(stranger, DRM_I915_PERF_PROP_OA_METRICS_SET, 99)), -ENOENT) << "the context before the set";
  const int stream = open_with(good);
  ASSERT_GE(stream, 0);
  EXPECT_EQ(open_with(with(good, DRM_I915_PERF_PROP_OA_METRICS_SET, 99)), -EBUSY) << "busy before the set";
  EXPECT_EQ(open_with(stranger), -ENOENT);
  Properties without_format = good;
  std::erase_if(without_format, [](const auto& each) { return each.first == DRM_I915_PERF_PROP_OA_FORMAT; });
  EXPECT_EQ(open_with(without_format), -EBUSY);
  ::close(stream);
}

TEST_P(PerfOpen, ADeviceHasOneStream) {
  const int config = add_any();
  const auto other = driver->open();
  const int stream = open_with(usual(config));
  ASSERT_GE(stream, 0);
  Properties list = usual(config);
  drm_i915_perf_open_param open{};
  open.num_properties = static_cast<uint32_t>(list.size());
  open.properties_ptr = reinterpret_cast<uintptr_t>(list.data());
  EXPECT_EQ(call_on(*other, DRM_IOCTL_I915_PERF_OPEN, open), -EBUSY);
  const int copy = dup(stream);
  ::close(stream);
  EXPECT_EQ(call_on(*other, DRM_IOCTL_I915_PERF_OPEN, open), -EBUSY) << "a copy of the descriptor is open";
  ::close(copy);
  const int second = call_on(*other, DRM_IOCTL_I915_PERF_OPEN, open);
  EXPECT_GE(second, 0);
  ::close(second);
  driver->close(other);
}

TEST_P(PerfOpen, FlagsOfTheDescriptorAreThoseOfTheCall) {
  const int config = add_any();
  int stream = open_with(usual(config), I915_PERF_FLAG_FD_CLOEXEC | I915_PERF_FLAG_FD_NONBLOCK);
  EXPECT_EQ(fcntl(stream, F_GETFD), FD_CLOEXEC);
  EXPECT_NE(fcntl(stream, F_GETFL) & O_NONBLOCK, 0);
  ::close(stream);
  stream = open_with(usual(config), I915_PERF_FLAG_DISABLED);
  EXPECT_EQ(fcntl(stream, F_GETFD), 0);
  EXPECT_EQ(fcntl(stream, F_GETFL) & O_NONBLOCK, 0);
  ::close(stream);
}

TEST_P(PerfOpen, StreamsOfEverythingNeedPrivilege) {
  boot({});
  Properties properties = usual(2);
  EXPECT_EQ(open_with(properties), -EACCES);
  EXPECT_EQ(add_any(), -EACCES);
  EXPECT_EQ(remove(2), -EACCES);
  EXPECT_EQ(open_with(with(properties, DRM_I915_PERF_PROP_CTX_HANDLE, 0)), -EACCES) << "samples show others";
  Properties own = with(properties, DRM_I915_PERF_PROP_CTX_HANDLE, 0);
  std::erase_if(own, [](const auto& each) { return each.first == DRM_I915_PERF_PROP_SAMPLE_OA; });
  EXPECT_EQ(open_with(own), counts_apart() ? -EINVAL : -EACCES) << "the set is not known";
  EXPECT_EQ(open_with(with(own, DRM_I915_PERF_PROP_HOLD_PREEMPTION, 1)), -EACCES);
}

// The limit is 100000 reports per second: 2^(exponent+1) ticks of 12, 12.5 or 19.2 MHz.
TEST_P(PerfOpen, FastTimersNeedPrivilege) {
  boot({});
  const uint64_t first = counts_apart() ? 7 : 6;
  Properties properties = usual(2);
  properties = with(properties, DRM_I915_PERF_PROP_CTX_HANDLE, 77);  // looked up after the properties
  EXPECT_EQ(open_with(with(properties, DRM_I915_PERF_PROP_OA_EXPONENT, first - 1)), -EACCES);
  EXPECT_EQ(open_with(with(properties, DRM_I915_PERF_PROP_OA_EXPONENT, first)), -ENOENT);
}

TEST_P(PerfOpen, GlobalSseuNamesTheRenderEngineAndPartsOfTheChip) {
  const int config = add_any();
  drm_i915_gem_context_param_sseu all{};
  drm_i915_gem_context_param parameter{};
  parameter.param = I915_CONTEXT_PARAM_SSEU;
  parameter.size = sizeof all;
  parameter.value = reinterpret_cast<uintptr_t>(&all);
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, parameter), 0);
  const auto open_sseu = [&](drm_i915_gem_context_param_sseu sseu) {
    const uint64_t place = reinterpret_cast<uintptr_t>(&sseu);
    const int stream = open_with(with(usual(config), DRM_I915_PERF_PROP_GLOBAL_SSEU, place));
    if (stream >= 0) ::close(stream);
    return stream < 0 ? stream : 0;
  };
  EXPECT_EQ(open_sseu(all), 0);
  auto wrong = all;
  wrong.engine.engine_class = I915_ENGINE_CLASS_COPY;
  EXPECT_EQ(open_sseu(wrong), -EINVAL);
  wrong = all;
  wrong.slice_mask = 0;
  EXPECT_EQ(open_sseu(wrong), -EINVAL);
  wrong = all;
  wrong.subslice_mask = ~uint64_t{0};
  EXPECT_EQ(open_sseu(wrong), -EINVAL);
}

TEST_P(PerfOpen, AContextWithoutRenderEngineCannotBeMeasured) {
  const int config = add_any();
  const uint32_t context = make_context();
  struct {
    uint64_t extensions = 0;
    i915_engine_class_instance engine{I915_ENGINE_CLASS_COPY, 0};
  } map;
  drm_i915_gem_context_param parameter{};
  parameter.ctx_id = context;
  parameter.param = I915_CONTEXT_PARAM_ENGINES;
  parameter.size = 12;
  parameter.value = reinterpret_cast<uintptr_t>(&map);
  ASSERT_EQ(call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, parameter), 0);
  EXPECT_EQ(open_with(with(usual(config), DRM_I915_PERF_PROP_CTX_HANDLE, context)), -ENODEV);
}
INSTANTIATE_TEST_SUITE_P(Chips, PerfOpen, ::testing::ValuesIn(chips_with_perf()), chip_name);

}  // namespace
}  // namespace halogen::driver
