#include "oa/flexible_events.h"

#include <algorithm>

#include "base/mul_div.h"

namespace halogen::oa {

namespace {

constexpr uint64_t kRows = 2;
constexpr uint64_t kEusOfRow = 4;
constexpr uint64_t kCells = kRows * kEusOfRow;  // EUs with the same row and number count as one

// Converts a sum of nanoseconds of the span to clocks of the span, rounded down.
uint64_t to_clocks(uint64_t nanoseconds, uint64_t clocks, uint64_t span_ns) {
  return span_ns == 0 ? 0 : mul_div(nanoseconds, clocks, span_ns);
}

// The clocks of one stage, as sums over all EUs.
struct StageClocks {
  uint64_t loaded = 0;   // with a thread
  uint64_t threads = 0;  // for each thread
  uint64_t active = 0;   // with a pipe that executes
};

StageClocks clocks_of(const StageActivity& stage, const EuArray& array, uint64_t clocks, uint64_t span_ns) {
  const uint64_t present = std::min(stage.active_ns, span_ns);
  StageClocks result;
  result.loaded = to_clocks(std::min(array.eus * present, stage.thread_ns), clocks, span_ns);
  result.threads = to_clocks(std::min(array.slots * present, stage.thread_ns), clocks, span_ns);
  uint64_t issued = 0;
  for (const auto& pipe : stage.issue_clocks) {
    for (const uint64_t kind : pipe) {
      issued += kind;
    }
  }
  result.active = std::min(issued, result.loaded);
  return result;
}

// Returns the issue clocks of a pipe that pass the fine filter.
uint64_t pipe_clocks(const StageActivity& stage, size_t pipe, uint8_t fine) {
  const auto& kinds = stage.issue_clocks[pipe];
  switch (fine) {
    case FlexibleEvent::kHybrid:
      return 0;  // the model has no hybrid instructions
    case FlexibleEvent::kTernary:
      return kinds[static_cast<size_t>(InstructionKind::ternary)];
    case FlexibleEvent::kBinary:
      return kinds[static_cast<size_t>(InstructionKind::binary)];
    case FlexibleEvent::kMove:
      return kinds[static_cast<size_t>(InstructionKind::move)];
    case FlexibleEvent::kSendStart:
      return pipe == static_cast<size_t>(Pipe::send) ? stage.sends : 0;
    default:
      break;  // none, undefined, or a filter by EU
  }
  uint64_t sum = 0;
  for (const uint64_t kind : kinds) {
    sum += kind;
  }
  return sum;
}

uint64_t stage_count(const FlexibleEvent& event, const StageActivity& stage, const StageClocks& clocks) {
  switch (event.increment) {
    case FlexibleEvent::kFpu0:
    case FlexibleEvent::kFpu1:
    case FlexibleEvent::kSend:
      return std::min(pipe_clocks(stage, event.increment, event.fine), clocks.loaded);
    case FlexibleEvent::kSomePipe:
      return event.fine == FlexibleEvent::kSendStart ? std::min(stage.sends, clocks.loaded) : clocks.active;
    case FlexibleEvent::kStalled:
      return clocks.loaded - clocks.active;
    case FlexibleEvent::kIntegrator:
      return clocks.threads;
    default:
      return 0;  // both FPUs in one clock: the model issues one instruction after the other
  }
}

// Stages in the order of the coarse filter's codes.
constexpr std::array kFilterStages{Stage::vertex,   Stage::hull,  Stage::domain,
                                   Stage::geometry, Stage::pixel, Stage::compute};

bool passes(const FlexibleEvent& event, size_t stage) {
  if (event.coarse < FlexibleEvent::kFirstStage || event.coarse > FlexibleEvent::kLastStage) {
    return true;
  }
  return static_cast<size_t>(kFilterStages[event.coarse - FlexibleEvent::kFirstStage]) == stage;
}

// Returns the part of a sum that belongs to the EUs which pass the filters. The parts of all EUs add up to the sum.
uint64_t share_of_eus(const FlexibleEvent& event, uint64_t sum) {
  const bool by_row = event.coarse == FlexibleEvent::kRow0 || event.coarse == FlexibleEvent::kRow1;
  const bool by_eu = event.fine >= FlexibleEvent::kEu0 && event.fine <= FlexibleEvent::kEu3;
  if (!by_row && !by_eu) {
    return sum;
  }
  uint64_t part = 0;
  for (uint64_t cell = 0; cell < kCells; ++cell) {
    const bool row = !by_row || cell / kEusOfRow == uint64_t{event.coarse} - FlexibleEvent::kRow0;
    const bool eu = !by_eu || cell % kEusOfRow == uint64_t{event.fine} - FlexibleEvent::kEu0;
    part += row && eu ? sum / kCells + (cell < sum % kCells ? 1 : 0) : 0;
  }
  return part;
}

}  // namespace

EuArray EuArray::of(const spec::Topology& topology) {
  const uint64_t eus = uint64_t{topology.slices} * topology.subslices * topology.eus;
  return {.eus = eus, .slots = eus * topology.threads};
}

std::array<uint64_t, kFlexibleEvents> count_events(const FlexibleEvents& events, const EuArray& array,
                                                   const WorkSpan& span, uint64_t clocks, IntegratorRests& rests) {
  const uint64_t span_ns = span.end_ns - span.begin_ns;
  std::array<StageClocks, kStages> stages;
  for (size_t stage = 0; stage < kStages; ++stage) {
    stages[stage] = clocks_of(span.counts.activity[stage], array, clocks, span_ns);
  }
  std::array<uint64_t, kFlexibleEvents> counts{};
  for (size_t number = 0; number < kFlexibleEvents; ++number) {
    const FlexibleEvent& event = events[number];
    if (!event.counts()) {
      continue;
    }
    uint64_t sum = 0;
    for (size_t stage = 0; stage < kStages; ++stage) {
      sum += passes(event, stage) ? stage_count(event, span.counts.activity[stage], stages[stage]) : 0;
    }
    counts[number] = share_of_eus(event, sum);
    if (event.increment == FlexibleEvent::kIntegrator) {
      const uint64_t integrated = rests[number] + counts[number];
      counts[number] = integrated / kIntegratorStep;
      rests[number] = integrated % kIntegratorStep;
    }
  }
  return counts;
}

}  // namespace halogen::oa
