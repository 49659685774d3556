// Flexible EU events: counters A7 to A20. Each is an event of all EUs, filtered by stage, row, EU number or kind of
// instruction. DG1 PRM and Cherryview observability, Flexible EU Event Counters (seeds 000 and 002).
//
// The model knows what the EUs did in a span of time as sums over all EUs (work_counts.h). Threads are dealt out
// evenly, so filters by row and EU number divide a sum in equal parts.
#pragma once

#include <array>
#include <cstdint>

#include "oa/work_counts.h"
#include "spec/device_model.h"

namespace halogen::oa {

inline constexpr size_t kFlexibleEvents = 14;
inline constexpr size_t kFirstFlexible = 7;  // the counter of event 0

struct FlexibleEvent {
  // Events and filters by the codes of the registers. Codes that no manual defines count nothing.
  static constexpr uint8_t kFpu0 = 0, kFpu1 = 1, kSend = 2, kBoth = 3, kSomePipe = 4, kStalled = 5, kIntegrator = 8,
                           kNone = 15;
  static constexpr uint8_t kFirstStage = 1, kLastStage = 6, kRow0 = 7, kRow1 = 8;
  static constexpr uint8_t kHybrid = 1, kTernary = 2, kBinary = 3, kMove = 4, kSendStart = 5, kUndefined = 6, kEu0 = 7,
                           kEu3 = 10;

  uint8_t increment = kNone;
  uint8_t coarse = 0;
  uint8_t fine = 0;
  bool operator==(const FlexibleEvent&) const = default;

  bool counts() const { return increment <= kStalled || increment == kIntegrator; }
};
using FlexibleEvents = std::array<FlexibleEvent, kFlexibleEvents>;

// The EUs of a chip.
struct EuArray {
  uint64_t eus = 1;
  uint64_t slots = 1;  // for threads, in all EUs

  static EuArray of(const spec::Topology& topology);
};

// Clocks that the integrator has not turned into pulses yet, by event.
using IntegratorRests = std::array<uint64_t, kFlexibleEvents>;
inline constexpr uint64_t kIntegratorStep = 8;  // thread clocks per pulse: a clock counts once for each loaded thread

// Returns what a span of work adds to the flexible counters. `clocks`: length of the span. Updates `rests`.
std::array<uint64_t, kFlexibleEvents> count_events(const FlexibleEvents& events, const EuArray& array,
                                                   const WorkSpan& span, uint64_t clocks, IntegratorRests& rests);

}  // namespace halogen::oa
