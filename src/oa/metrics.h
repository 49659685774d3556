// Metric sets: counters that people read, as equations over the A counters of an interval. A set selects flexible EU
// events, so its A7 to A20 have a meaning of their own. Symbols are those of public metric sets where one exists; the
// equations follow from what each A counter counts (Cherryview observability, seed 002; DG1 PRM, Performance
// Visibility, seed 000).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oa/flexible_events.h"
#include "oa/sampler.h"
#include "spec/device_model.h"

namespace halogen::oa {

// scale * raw / per.
struct Equation {
  enum class Raw : uint8_t { time_ns, clocks, a };
  enum class Per : uint8_t { nothing, time_ns, clocks, eu_clocks, slot_clocks };

  Raw raw = Raw::a;
  uint8_t counter = 0;  // n of A(n)
  uint32_t scale = 1;
  Per per = Per::nothing;
};

// How the model's value relates to the chip's.
enum class Accuracy : uint8_t {
  exact,         // the chip counts the same events
  virtual_time,  // exact in the virtual time of the model, which is not the time of a chip
  approximate,   // the note says why
};
std::string_view name_of(Accuracy accuracy);

struct Metric {
  std::string_view symbol;
  std::string_view unit;  // "%" for shares of the most that the chip could do
  std::string_view meaning;
  Equation equation;
  Accuracy accuracy = Accuracy::exact;
  std::string_view note{};
};

struct MetricSet {
  std::string_view name;
  std::string_view meaning;
  FlexibleEvents events;
  std::vector<Metric> metrics;
};

// Returns the sets of a device, the usual one first. None: it has no counters.
std::span<const MetricSet> metric_sets(const spec::DeviceModel& model);
// Null: the device has no such set. An empty name is the usual set.
const MetricSet* find_metric_set(const spec::DeviceModel& model, std::string_view name);

// Returns 0 if the divisor is 0.
double value_of(const Equation& equation, const Sample& sample, const EuArray& array);
// Returns the equation as text, for example "100 * A7 / (EUs * clocks)".
std::string text_of(const Equation& equation);
// Returns the codes of the event as registers have them: fine filter, coarse filter, increment event.
std::string text_of(const FlexibleEvent& event);

}  // namespace halogen::oa
