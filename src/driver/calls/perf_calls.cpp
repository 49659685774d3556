// Streams of performance counters and their metric sets: checks in the order of Linux 6.1, so that a call with several
// mistakes gets the same error. What happens behind them is in perf/.
#include <algorithm>
#include <cerrno>
#include <functional>
#include <span>
#include <utility>

#include "driver/calls/ioctls.h"
#include "driver/gem/foreign_call.h"
#include "driver/gem/user_memory.h"
#include "driver/perf/perf.h"
#include "gen/perf_rules.h"

namespace halogen::driver {
namespace {

constexpr int kNotSupported =
    524;  // ENOTSUPP, the answer of Linux without an OA unit; user programs have no name for it
constexpr uint64_t kLastProperty = DRM_I915_PERF_PROP_POLL_OA_PERIOD;
constexpr uint64_t kLastExponent = 31;
constexpr uint64_t kShortestPoll = 100'000;  // ns
constexpr uint64_t kSecond = 1'000'000'000;

struct Format {
  uint64_t id;
  hw::OaReportFormat select;
  uint32_t bytes;
};
constexpr Format kFormats[] = {{I915_OA_FORMAT_C4_B8, hw::OaReportFormat::C4_B8, 64},
                               {I915_OA_FORMAT_A12, hw::OaReportFormat::A12, 64},
                               {I915_OA_FORMAT_A12_B8_C8, hw::OaReportFormat::A12_B8_C8, 128},
                               {I915_OA_FORMAT_A32u40_A4u32_B8_C8, hw::OaReportFormat::A36_B8_C8, 256}};

int set_format(PerfProperties& properties, uint64_t value) {
  for (const Format& format : kFormats) {
    if (format.id != value) continue;
    properties.format = format.select;
    properties.report_bytes = format.bytes;
    return 0;
  }
  return -EINVAL;
}

int set_exponent(Call& call, PerfProperties& properties, uint64_t value) {
  if (value > kLastExponent) return -EINVAL;
  const uint64_t period = (uint64_t{2} << value) * kSecond / call.driver.model().timestamp_hz;
  const uint64_t rate = period <= kSecond ? kSecond / period : 0;
  if (rate > call.driver.perf().limits().max_rate() && !call.driver.may_monitor()) return -EACCES;
  properties.periodic = true;
  properties.exponent = static_cast<uint8_t>(value);
  return 0;
}

int set_property(Call& call, PerfProperties& properties, uint64_t name, uint64_t value) {
  switch (name) {
    case DRM_I915_PERF_PROP_CTX_HANDLE:
      properties.has_context = true;
      properties.context = value;
      return 0;
    case DRM_I915_PERF_PROP_SAMPLE_OA:
      if (value != 0) properties.samples = true;
      return 0;
    case DRM_I915_PERF_PROP_OA_METRICS_SET:
      properties.config = static_cast<int>(value);
      return value == 0 ? -EINVAL : 0;
    case DRM_I915_PERF_PROP_OA_FORMAT:
      return set_format(properties, value);
    case DRM_I915_PERF_PROP_OA_EXPONENT:
      return set_exponent(call, properties, value);
    case DRM_I915_PERF_PROP_HOLD_PREEMPTION:
      properties.holds_preemption = value != 0;
      return 0;
    case DRM_I915_PERF_PROP_GLOBAL_SSEU:
      properties.has_sseu = true;
      return check_global_sseu(call, value);
    case DRM_I915_PERF_PROP_POLL_OA_PERIOD:
      properties.poll_ns = value;
      return value < kShortestPoll ? -EINVAL : 0;
    default:
      return -EINVAL;
  }
}

int read_properties(Call& call, const drm_i915_perf_open_param& open, PerfProperties& properties) {
  if (open.num_properties == 0 || open.num_properties > kLastProperty) return -EINVAL;
  for (uint32_t i = 0; i < open.num_properties; ++i) {
    const uint64_t pair_address = open.properties_ptr + uint64_t{i} * 2 * sizeof(uint64_t);
    const auto name = read_user<uint64_t>(pair_address);
    const auto value = read_user<uint64_t>(pair_address + sizeof(uint64_t));
    if (!name || !value) return -EFAULT;
    if (const int result = set_property(call, properties, *name, *value); result != 0) return result;
  }
  return 0;
}

// Whether a stream shows or changes what other programs do.
bool concerns_others(Call& call, const PerfProperties& properties) {
  if (properties.holds_preemption || properties.has_sseu) return true;
  return !call.driver.perf().counts_apart() || !properties.has_context || properties.samples;
}

bool is_forbidden(Call& call) {
  return call.driver.perf().limits().is_paranoid() && !call.driver.may_monitor();
}

// Reads a list of pairs: address and value.
int read_registers(Call& call, uint64_t address, uint32_t count, const std::function<bool(uint32_t)>& is_allowed,
                   std::vector<RegisterValue>& list) {
  constexpr uint32_t kMaxRegisters = 1u << 19;  // more do not fit an allocation of Linux
  struct Pair {
    uint32_t offset;
    uint32_t value;
  };
  if (count > kMaxRegisters) return -ENOMEM;
  LongLoop loop(call, 4096);
  for (uint32_t i = 0; i < count; ++i) {
    if (const int result = loop.next(); result != 0) return result;
    const auto pair = read_user<Pair>(address + uint64_t{i} * sizeof(Pair));
    if (!pair) return -EFAULT;
    if (!is_allowed(pair->offset)) return -EINVAL;
    list.push_back({pair->offset, allowed_perf_value(pair->offset, pair->value)});
  }
  return 0;
}

}  // namespace

int open_perf(Call& call, drm_i915_perf_open_param& open) {
  constexpr uint32_t kKnown = I915_PERF_FLAG_FD_CLOEXEC | I915_PERF_FLAG_FD_NONBLOCK | I915_PERF_FLAG_DISABLED;
  Perf& perf = call.driver.perf();
  if (!perf.exists()) return -kNotSupported;
  if ((open.flags & ~kKnown) != 0) return -EINVAL;
  PerfProperties properties;
  if (const int result = read_properties(call, open, properties); result != 0) return result;
  ContextRef context;
  if (properties.has_context) {
    const auto [found, error] = call.file.use_context(static_cast<uint32_t>(properties.context));
    if (!found) return error;
    context = found;
  }
  if (properties.holds_preemption && !properties.has_context) return -EINVAL;
  if (concerns_others(call, properties) && is_forbidden(call)) return -EACCES;
  if (!properties.samples && (!perf.counts_apart() || !context)) return -EINVAL;
  return give_as_result(perf.open(call.lock, properties, context, open.flags));
}

int add_perf_configuration(Call& call, drm_i915_perf_oa_config& configuration) {
  if (!call.driver.perf().exists()) return -kNotSupported;
  if (is_forbidden(call)) return -EACCES;
  const bool empty = (configuration.mux_regs_ptr == 0 || configuration.n_mux_regs == 0) &&
                     (configuration.boolean_regs_ptr == 0 || configuration.n_boolean_regs == 0) &&
                     (configuration.flex_regs_ptr == 0 || configuration.n_flex_regs == 0);
  if (empty) return -EINVAL;
  PerfConfig config;
  config.uuid.assign(configuration.uuid, sizeof configuration.uuid);
  if (!is_uuid(config.uuid)) return -EINVAL;
  const spec::DeviceId device = call.driver.model().id;
  const PerfRules& rules = perf_rules(device);
  const auto is_mux = [&](uint32_t offset) { return is_perf_register(rules.mux, offset); };
  const auto is_boolean = [&](uint32_t offset) { return is_perf_register(rules.boolean, offset); };
  const auto is_flexible = [device](uint32_t offset) {
    return std::ranges::any_of(flexible_registers(),
                               [&](const spec::RegisterDesc* each) { return each->offset(device) == offset; });
  };
  const struct {
    uint64_t address;
    uint32_t count;
    std::function<bool(uint32_t)> is_allowed;
    std::vector<RegisterValue>& list;
  } lists[] = {{configuration.mux_regs_ptr, configuration.n_mux_regs, is_mux, config.mux},
               {configuration.boolean_regs_ptr, configuration.n_boolean_regs, is_boolean, config.boolean},
               {configuration.flex_regs_ptr, configuration.n_flex_regs, is_flexible, config.flexible}};
  for (const auto& each : lists) {
    const int result = read_registers(call, each.address, each.count, each.is_allowed, each.list);
    if (result != 0) return result;
  }
  return call.driver.perf().configs().add(std::move(config));
}

int remove_perf_configuration(Call& call, uint64_t& id) {
  if (!call.driver.perf().exists()) return -kNotSupported;
  if (is_forbidden(call)) return -EACCES;
  return call.driver.perf().configs().remove(id);
}

}  // namespace halogen::driver
