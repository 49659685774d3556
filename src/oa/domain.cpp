#include "oa/domain.h"

#include <algorithm>

#include "base/bits.h"
#include "base/mul_div.h"

namespace halogen::oa {

namespace {

// Returns the part of a count that falls before a clock.
uint64_t part_before(const Share& share, uint64_t count, uint64_t clock) {
  if (clock >= share.end) {
    return count;
  }
  if (clock <= share.begin) {
    return 0;
  }
  return mul_div(count, clock - share.begin, share.end - share.begin);
}

}  // namespace

void Domain::restore(const DomainState& state) {
  state_ = state;
  cycle_.prepare(config_.events, config_.lanes, state_.outputs);
}

void Domain::configure(const CountConfig& config) {
  config_ = config;
  cycle_.prepare(config_.events, config_.lanes, state_.outputs);
}

void Domain::stop() {
  state_.outputs = 0;
  state_.start = {};
  cycle_.prepare(config_.events, config_.lanes, state_.outputs);
}

void Domain::advance(uint64_t clock) {
  if (clock <= state_.clock) {
    return;
  }
  if (!state_.shares.empty()) {
    count_shares(clock);
  }
  if (!state_.busy.empty()) {
    count_busy(clock);
  }
  if (config_.counts) {
    count_signals(clock);
  }
  state_.clock = clock;
}

void Domain::count_shares(uint64_t clock) {
  for (const Share& share : state_.shares) {
    const bool ends = share.end <= clock;
    const bool begins = share.begin >= state_.clock;
    for (size_t index = 0; config_.counts && index < kACounters; ++index) {
      const uint64_t count = share.counts[index];
      if (count != 0) {
        state_.counters.a[index] +=
            (ends ? count : part_before(share, count, clock)) - (begins ? 0 : part_before(share, count, state_.clock));
      }
    }
  }
  std::erase_if(state_.shares, [clock](const Share& share) { return share.end <= clock; });
}

// Counts the clocks in which one range at least is active.
void Domain::count_busy(uint64_t clock) {
  std::ranges::sort(state_.busy, {}, &ClockRange::begin);
  uint64_t counted_to = state_.clock;
  for (const ClockRange& range : state_.busy) {
    const uint64_t begin = std::max(range.begin, counted_to);
    const uint64_t end = std::min(range.end, clock);
    if (begin < end) {
      state_.counters.a[0] += config_.counts ? end - begin : 0;
      counted_to = end;
    }
  }
  std::erase_if(state_.busy, [clock](const ClockRange& range) { return range.end <= clock; });
}

void Domain::count_signals(uint64_t clock) {
  const LaneInterval interval{state_.lanes_before, config_.lanes, clock - state_.clock};
  std::optional<uint64_t> starts;
  if (config_.start_at_once) {
    starts = 0;
  }
  for (unsigned number = 0; !config_.start_at_once && number < kTriggers; ++number) {
    if (const auto fires = advance_start(config_.start[number], state_.start[number], interval)) {
      starts = std::min(starts.value_or(*fires), *fires);
    }
  }
  if (starts.value_or(interval.clocks) > 0) {
    cycle_.advance(starts.value_or(interval.clocks));
  }
  if (starts) {
    const uint64_t counted = interval.clocks - *starts;
    const EventCycle::Counts events = cycle_.advance(counted);
    for (unsigned number = 0; number < kBooleans; ++number) {
      state_.counters.b[number] +=
          bit(config_.event_select, number) ? events[number] : (bit(config_.lanes, number) ? counted : 0);
      state_.counters.c[number] += bit(config_.lanes, static_cast<unsigned>(kBooleans) + number) ? counted : 0;
    }
  }
  state_.outputs = cycle_.outputs();
  state_.lanes_before = config_.lanes;
}

void Domain::add_work(const Share& share) {
  if (!config_.counts) {
    return;
  }
  if (share.end > state_.clock) {
    state_.shares.push_back(share);
    // Another engine may have moved time past the begin. Nothing is lost: the rest of the span shows the whole count.
    state_.shares.back().begin = std::max(share.begin, state_.clock);
    return;
  }
  for (size_t index = 0; index < kACounters; ++index) {  // the span is shorter than a clock, or late
    state_.counters.a[index] += share.counts[index];
  }
}

void Domain::add_busy(ClockRange range) {
  if (!config_.counts || range.end <= std::max(range.begin, state_.clock)) {
    return;
  }
  for (ClockRange& known : state_.busy) {
    if (known.end == range.begin) {
      known.end = range.end;
      return;
    }
  }
  state_.busy.push_back(range);
}

}  // namespace halogen::oa
