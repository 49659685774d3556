#include "oa/sampler.h"

#include <algorithm>
#include <utility>

#include "base/ticks.h"
#include "oa/work_share.h"

namespace halogen::oa {

Sampler::Sampler(const FlexibleEvents& events, uint64_t period_ns, Sink sink)
    : events_(events),
      activity_(std::ranges::any_of(events, &FlexibleEvent::counts)),
      period_ns_(period_ns),
      sink_(std::move(sink)) {}

void Sampler::begin(uint64_t clock_hz, const EuArray& array, uint64_t now_ns, const ContextTag& context) {
  clock_hz_ = clock_hz;
  array_ = array;
  rests_ = {};
  changes_.clear();
  context_ = context;
  now_ns_ = taken_ns_ = now_ns;
  taken_ = {};
  domain_.restore({.clock = clock_at(now_ns)});
  domain_.configure({.counts = true, .start_at_once = true});
}

uint64_t Sampler::clock_at(uint64_t ns) const {
  return ticks_after(ns, clock_hz_);
}

void Sampler::add_work(const WorkSpan& span) {
  if (span.end_ns >= span.begin_ns) {
    domain_.add_work(share_of(span, {clock_at(span.begin_ns), clock_at(span.end_ns)}, events_, array_, rests_));
  }
}

void Sampler::add_busy(uint64_t begin_ns, uint64_t end_ns) {
  domain_.add_busy({clock_at(begin_ns), clock_at(end_ns)});
}

// Returns the time of the next sample, change of context, or `end_ns`. Periods in which nothing counts are skipped.
uint64_t Sampler::next_stop(uint64_t end_ns) const {
  uint64_t from = now_ns_;
  if (domain_.state().counters == taken_) {
    uint64_t first_clock = clock_at(end_ns);
    for (const Share& share : domain_.state().shares) {
      first_clock = std::min(first_clock, share.begin);
    }
    for (const ClockRange& range : domain_.state().busy) {
      first_clock = std::min(first_clock, range.begin);
    }
    from = std::max(from, std::min(first_nanosecond(first_clock, clock_hz_), end_ns));
  }
  const uint64_t sample = (from / period_ns_ + 1) * period_ns_;
  const uint64_t change = changes_.empty() ? end_ns : std::max(changes_.front().time_ns, now_ns_);
  return std::min({sample, change, end_ns});
}

void Sampler::advance_to(uint64_t nanoseconds) {
  while (now_ns_ < nanoseconds) {
    change_contexts();
    now_ns_ = next_stop(nanoseconds);
    domain_.advance(clock_at(now_ns_));
    if (now_ns_ % period_ns_ == 0) {
      take(now_ns_);
    }
  }
  change_contexts();
}

void Sampler::settle() {
  uint64_t end = 0;
  for (const Share& share : domain_.state().shares) {
    end = std::max(end, share.end);
  }
  for (const ClockRange& range : domain_.state().busy) {
    end = std::max(end, range.end);
  }
  advance_to(first_nanosecond(end, clock_hz_));
}

void Sampler::finish() {
  settle();
  take(now_ns_);
}

// Executes the changes up to now.
void Sampler::change_contexts() {
  auto change = changes_.begin();
  for (; change != changes_.end() && change->time_ns <= now_ns_; ++change) {
    if (change->to != context_) {
      take(now_ns_);
      context_ = change->to;
    }
  }
  changes_.erase(changes_.begin(), change);
}

void Sampler::take(uint64_t ns) {
  const Counters& counters = domain_.state().counters;
  if (counters == taken_) {
    return;
  }
  // The counters changed in the current period: otherwise a sample would have been taken at its start.
  const uint64_t period_begin = ns == 0 ? 0 : (ns - 1) / period_ns_ * period_ns_;
  if (period_begin > taken_ns_) {
    emit(period_begin, {}, taken_);
  }
  emit(ns, context_, counters);
}

void Sampler::emit(uint64_t end_ns, const ContextTag& context, const Counters& counters) {
  Sample sample{
      .begin_ns = taken_ns_, .end_ns = end_ns, .clocks = clock_at(end_ns) - clock_at(taken_ns_), .context = context};
  for (size_t index = 0; index < kACounters; ++index) {
    sample.counts[index] = counters.a[index] - taken_.a[index];
  }
  taken_ns_ = end_ns;
  taken_ = counters;
  sink_(sample);
}

}  // namespace halogen::oa
