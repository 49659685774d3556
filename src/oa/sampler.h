// Samples the counters of a unit for the owner of the device. It is not part of a chip: it counts beside the unit, with
// flexible EU events of its own, so that software which uses the unit sees no difference. A sample ends at each
// multiple of the period and when the render engine changes its context. An interval in which nothing counts gives one
// sample, however long it is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "oa/context_tag.h"
#include "oa/domain.h"
#include "oa/flexible_events.h"
#include "oa/work_counts.h"

namespace halogen::oa {

// The counts of an interval.
struct Sample {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint64_t clocks = 0;
  ContextTag context;  // of the render engine; not valid while nothing counts
  std::array<uint64_t, kACounters> counts{};
};

class Sampler {
 public:
  using Sink = std::function<void(const Sample&)>;

  // `period_ns`: not zero.
  Sampler(const FlexibleEvents& events, uint64_t period_ns, Sink sink);

  // Counts what the unit tells from now on.
  void begin(uint64_t clock_hz, const EuArray& array, uint64_t now_ns, const ContextTag& context);
  // Moves to the end of all work that is known. Engines execute ahead of the time of an idle device.
  void settle();
  // Settles and ends the last sample.
  void finish();

  // ---- for the unit
  CountsWanted wanted() const { return {.work = true, .activity = activity_}; }
  void add_work(const WorkSpan& span);
  void add_busy(uint64_t begin_ns, uint64_t end_ns);
  void change_context(uint64_t time_ns, const ContextTag& to) { changes_.push_back({time_ns, to}); }
  void advance_to(uint64_t nanoseconds);

 private:
  struct Change {
    uint64_t time_ns;
    ContextTag to;
  };

  uint64_t clock_at(uint64_t ns) const;
  uint64_t next_stop(uint64_t end_ns) const;
  void change_contexts();
  void take(uint64_t ns);
  void emit(uint64_t end_ns, const ContextTag& context, const Counters& counters);

  FlexibleEvents events_;
  bool activity_;
  uint64_t period_ns_;
  Sink sink_;
  uint64_t clock_hz_ = 1;
  EuArray array_;
  IntegratorRests rests_{};
  Domain domain_;
  ContextTag context_;
  std::vector<Change> changes_;  // after now_ns_, in order
  uint64_t now_ns_ = 0;
  uint64_t taken_ns_ = 0;  // the last sample ended here
  Counters taken_;
};

}  // namespace halogen::oa
