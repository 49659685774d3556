#include "oa/work_share.h"

#include <algorithm>

namespace halogen::oa {

namespace {

// The stages of A1 to A6.
constexpr size_t kFirstThreads = 1;
constexpr std::array kThreadCounters{Stage::vertex,  Stage::hull,     Stage::domain,
                                     Stage::compute, Stage::geometry, Stage::pixel};

}  // namespace

Share share_of(const WorkSpan& span, ClockRange clocks, const FlexibleEvents& events, const EuArray& array,
               IntegratorRests& rests) {
  Share share{.begin = clocks.begin, .end = clocks.end};
  for (size_t index = 0; index < kThreadCounters.size(); ++index) {
    share.counts[kFirstThreads + index] = span.counts.threads[static_cast<size_t>(kThreadCounters[index])];
  }
  const auto flexible = count_events(events, array, span, clocks.end - clocks.begin, rests);
  std::ranges::copy(flexible, share.counts.begin() + kFirstFlexible);
  for (const CounterOfWork& counter : kCountersOfWork) {
    share.counts[counter.counter] = span.counts.*counter.count * counter.step;
  }
  return share;
}

}  // namespace halogen::oa
