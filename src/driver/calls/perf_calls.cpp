// Streams of performance counters. The model has no OA unit: invalid arguments get i915's error, and valid arguments
// are refused.
#include <cerrno>

#include "driver/calls/ioctls.h"
#include "driver/gem/user_memory.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr int kNotSupported =
    524;  // ENOTSUPP, the answer of Linux without an OA unit; user programs have no name for it
constexpr uint64_t kLastProperty = DRM_I915_PERF_PROP_POLL_OA_PERIOD;
constexpr uint64_t kLastExponent = 31;
constexpr uint64_t kShortestPoll = 100'000;  // ns

bool has_perf(Call& call) {
  return spec::interface_of(call.driver.model().id).perf;
}

// Report formats of chips from Gen8 on. Gen12 has the last one only.
bool is_format(uint64_t format) {
  return format == I915_OA_FORMAT_C4_B8 || format == I915_OA_FORMAT_A12 || format == I915_OA_FORMAT_A12_B8_C8 ||
         format == I915_OA_FORMAT_A32u40_A4u32_B8_C8;
}

int check_property(uint64_t name, uint64_t value) {
  switch (name) {
    case DRM_I915_PERF_PROP_OA_METRICS_SET:
      return value == 0 ? -EINVAL : 0;
    case DRM_I915_PERF_PROP_OA_FORMAT:
      return is_format(value) ? 0 : -EINVAL;
    case DRM_I915_PERF_PROP_OA_EXPONENT:
      return value > kLastExponent ? -EINVAL : 0;
    case DRM_I915_PERF_PROP_POLL_OA_PERIOD:
      return value < kShortestPoll ? -EINVAL : 0;
    default:
      return name == 0 || name > kLastProperty ? -EINVAL : 0;
  }
}

}  // namespace

int open_perf(Call& call, drm_i915_perf_open_param& open) {
  constexpr uint32_t kKnown = I915_PERF_FLAG_FD_CLOEXEC | I915_PERF_FLAG_FD_NONBLOCK | I915_PERF_FLAG_DISABLED;
  if (!has_perf(call)) return -kNotSupported;
  if ((open.flags & ~kKnown) != 0) return -EINVAL;
  if (open.num_properties == 0 || open.num_properties > kLastProperty) return -EINVAL;
  for (uint32_t i = 0; i < open.num_properties; ++i) {
    const uint64_t place = open.properties_ptr + uint64_t{i} * 2 * sizeof(uint64_t);
    const auto name = read_user<uint64_t>(place);
    const auto value = read_user<uint64_t>(place + sizeof(uint64_t));
    if (!name || !value) return -EFAULT;
    if (const int result = check_property(*name, *value); result != 0) return result;
  }
  return call.driver.privileged() ? -ENODEV : -EACCES;
}

int add_perf_configuration(Call& call, drm_i915_perf_oa_config& configuration) {
  if (!has_perf(call)) return -kNotSupported;
  if (!call.driver.privileged()) return -EACCES;
  const bool empty = (configuration.mux_regs_ptr == 0 || configuration.n_mux_regs == 0) &&
                     (configuration.boolean_regs_ptr == 0 || configuration.n_boolean_regs == 0) &&
                     (configuration.flex_regs_ptr == 0 || configuration.n_flex_regs == 0);
  return empty ? -EINVAL : -ENODEV;
}

int remove_perf_configuration(Call& call, uint64_t&) {
  if (!has_perf(call)) return -kNotSupported;
  return call.driver.privileged() ? -ENOENT : -EACCES;
}

}  // namespace halogen::driver
