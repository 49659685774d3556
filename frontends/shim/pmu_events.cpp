#include "pmu_events.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <libdrm/i915_drm.h>

#include "gen/clock_rules.h"
#include "spec/interface_model.h"
#include "tree_files.h"

namespace halogen::shim {
namespace {

constexpr uint64_t kFirstOther = __I915_PMU_OTHER(0);

struct EngineEvent {
  unsigned user_class;
  unsigned instance;
  unsigned sample;
};

EngineEvent engine_event(uint64_t config) {
  constexpr uint64_t kByte = 0xff;
  return {.user_class = static_cast<unsigned>(config >> I915_PMU_CLASS_SHIFT & kByte),
          .instance = static_cast<unsigned>(config >> I915_PMU_SAMPLE_BITS & kByte),
          .sample = static_cast<unsigned>(config & I915_PMU_SAMPLE_MASK)};
}

int check_engine_event(const spec::DeviceModel& model, uint64_t config) {
  const EngineEvent event = engine_event(config);
  const std::vector<UserEngine> engines = user_engines(model);
  const bool exists = std::ranges::any_of(engines, [&](const UserEngine& each) {
    return each.user_class == event.user_class && each.instance == event.instance;
  });
  if (!exists) return -ENODEV;
  switch (event.sample) {
    case I915_SAMPLE_BUSY:
    case I915_SAMPLE_WAIT:
      return 0;
    case I915_SAMPLE_SEMA:
      return spec::interface_of(model.id).semaphore_events ? 0 : -ENODEV;
    default:
      return -ENOENT;
  }
}

uint64_t engine_value(const driver::LoadPage& page, const EngineEvent& event) {
  if (event.user_class >= driver::kUserClasses || event.instance >= driver::kUserInstances) return 0;
  const driver::EngineLoad& load = page.engines[event.user_class][event.instance];
  switch (event.sample) {
    case I915_SAMPLE_BUSY:
      return load.busy;
    case I915_SAMPLE_WAIT:
      return load.waits_for_event;
    default:
      return load.waits_for_signal;
  }
}

// Returns millions of clocks in a time: the unit in which i915 counts frequencies.
uint64_t mega_clocks(uint64_t nanoseconds, uint32_t mhz) {
  constexpr uint64_t kSecond = 1'000'000'000;
  return nanoseconds / kSecond * mhz + nanoseconds % kSecond * mhz / kSecond;
}

}  // namespace

std::string pmu_name(const spec::DeviceModel& model) {
  if (!spec::interface_of(model.id).discrete) return "i915";
  std::string slot = pci_slot(model);
  std::ranges::replace(slot, ':', '_');
  return "i915_" + slot;
}

std::vector<PmuEvent> pmu_events(const spec::DeviceModel& model) {
  std::vector<PmuEvent> events;
  const auto add = [&](std::string name, uint64_t config, const char* unit) {
    if (check_pmu_event(model, config) == 0) events.push_back({std::move(name), config, unit});
  };
  add("actual-frequency", I915_PMU_ACTUAL_FREQUENCY, "M");
  add("requested-frequency", I915_PMU_REQUESTED_FREQUENCY, "M");
  add("interrupts", I915_PMU_INTERRUPTS, "");
  add("rc6-residency", I915_PMU_RC6_RESIDENCY, "ns");
  add("software-gt-awake-time", I915_PMU_SOFTWARE_GT_AWAKE_TIME, "ns");
  for (const UserEngine& each : user_engines(model)) {
    const uint64_t busy = uint64_t{each.user_class} << I915_PMU_CLASS_SHIFT | each.instance << I915_PMU_SAMPLE_BITS;
    add(each.name + "-busy", busy + I915_SAMPLE_BUSY, "ns");
    add(each.name + "-sema", busy + I915_SAMPLE_SEMA, "ns");
    add(each.name + "-wait", busy + I915_SAMPLE_WAIT, "ns");
  }
  return events;
}

int check_pmu_event(const spec::DeviceModel& model, uint64_t config) {
  if (config < kFirstOther) return check_engine_event(model, config);
  const spec::InterfaceModel& rules = spec::interface_of(model.id);
  switch (config) {
    case I915_PMU_ACTUAL_FREQUENCY:
      return rules.actual_frequency ? 0 : -ENODEV;
    case I915_PMU_REQUESTED_FREQUENCY:
      return rules.frequency_events ? 0 : -ENODEV;
    case I915_PMU_RC6_RESIDENCY:
      return rules.rc6_events ? 0 : -ENODEV;
    case I915_PMU_INTERRUPTS:
    case I915_PMU_SOFTWARE_GT_AWAKE_TIME:
      return 0;
    default:
      return -ENOENT;
  }
}

uint64_t pmu_value(const spec::DeviceModel& model, const driver::LoadPage& page, uint64_t config) {
  if (config < kFirstOther) return engine_value(page, engine_event(config));
  switch (config) {
    case I915_PMU_ACTUAL_FREQUENCY:
    case I915_PMU_REQUESTED_FREQUENCY:
      return mega_clocks(page.awake_ns, clock_rules(model.id).render_mhz);
    case I915_PMU_INTERRUPTS:
      return page.interrupts;
    case I915_PMU_SOFTWARE_GT_AWAKE_TIME:
      return page.awake_ns;
    default:  // the model does not sleep
      return 0;
  }
}

}  // namespace halogen::shim
