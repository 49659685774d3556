// How time passes for the observation unit: from one report to the next.
#include <algorithm>

#include <fmt/format.h>

#include "base/ticks.h"
#include "oa/sampler.h"
#include "oa/unit.h"

namespace halogen::oa {

namespace {

constexpr unsigned kTimestampBits = 36;

std::optional<uint64_t> earlier(std::optional<uint64_t> one, std::optional<uint64_t> other) {
  return one && other ? std::min(*one, *other) : (one ? one : other);
}

}  // namespace

void Unit::advance_to(uint64_t nanoseconds) {
  if (!rules_.exists) {
    return;
  }
  advance_global(nanoseconds);
  if (sampler_ != nullptr) {
    sampler_->advance_to(nanoseconds);
  }
}

// Derives the configuration from the registers. The clocks up to now have been counted with the old one.
void Unit::configure() {
  if (!stale_) {
    return;
  }
  stale_ = false;
  const bool enabled = registers_.enabled();
  if (!enabled && !state_.enabled && !registers_.context_enabled() && !settings_.context_enabled) {
    return;  // both units are disabled, so no other setting matters
  }
  settings_ = registers_.read();
  flexible_ = registers_.flexible_events();
  const bool matches =
      !settings_.one_context || (state_.reported.valid && state_.reported.id() == settings_.context_id);
  settings_.context_counting.counts &= !state_.left;
  settings_.counting.counts = settings_.enabled && settings_.resumed && matches;
  if (enabled != state_.enabled) {
    state_.enabled = enabled;
    state_.report_triggers = {};
    state_.report_lanes_before = 0;
    global_.stop();
  }
  settings_.counting.lanes = find_lanes(false);
  settings_.context_counting.lanes = find_lanes(true);
  if (enabled) {
    check_buffer();
  }
  if (global_.config() != settings_.counting) {
    global_.configure(settings_.counting);
  }
  if (rules_.split && context_.config() != settings_.context_counting) {
    context_.configure(settings_.context_counting);
  }
}

void Unit::check_buffer() {
  ReportBuffer& buffer = settings_.buffer;
  const bool tail_outside = !buffer.contains(buffer.tail);
  if (tail_outside || (buffer.base != settings_.asked_base && told_buffer_ != settings_.asked_base)) {
    told_buffer_ = settings_.asked_base;
    raise(EventKind::undefined_behaviour, "OABUFFER", settings_.asked_base, buffer.tail,
          "base not aligned to the size, or tail outside the buffer");
  }
  if (tail_outside) {
    buffer.tail = buffer.base;
    registers_.publish_tail(buffer.tail);
  }
  if (!settings_.buffer_in_global_table && !rules_.high_address) {
    settings_.buffer_in_global_table = true;
    if (told_buffer_ != settings_.asked_base) {
      told_buffer_ = settings_.asked_base;
      raise(EventKind::undefined_behaviour, "OAG_OABUFFER", buffer.base, 0,
            "per-process memory selected: the unit has only the global table");
    }
  }
}

uint16_t Unit::find_lanes(bool context) {
  network_unknown_ = false;
  if (!settings_.network_enabled || state_.network.words == 0) {
    return 0;
  }
  if (const NetworkLanes* const network = find_network(model_.id, state_.network.hash)) {
    return context ? network->context_lanes : network->lanes;
  }
  network_unknown_ = true;
  return 0;
}

// Raises an Event if the signals of the list are not known. Called when counters are read, because the list of words
// may be incomplete before that.
void Unit::note_network() {
  if (network_unknown_ && told_network_ != state_.network.hash) {
    told_network_ = state_.network.hash;
    raise(EventKind::approximation, "NOA_WRITE", 0, state_.network.hash,
          fmt::format("the signals that {} words route are not known: all lanes are zero", state_.network.words));
  }
}

std::optional<uint64_t> Unit::next_timer(uint64_t after_ns) const {
  if (!state_.enabled || !settings_.timer_exponent || *settings_.timer_exponent >= kTimestampBits) {
    return std::nullopt;
  }
  const uint64_t half = uint64_t{1} << *settings_.timer_exponent;
  const uint64_t period = 2 * half;
  const uint64_t now = ticks_after(after_ns, model_.timestamp_hz);
  return first_nanosecond((now + half) / period * period + half, model_.timestamp_hz);
}

// Returns the time of the next report of a trigger block. Triggers while a report is being written are lost.
std::optional<uint64_t> Unit::next_trigger(unsigned number) {
  const Trigger& trigger = settings_.report_triggers[number];
  if (!state_.enabled || !trigger.enabled || !settings_.counting.counts) {
    return std::nullopt;
  }
  TriggerState state = state_.report_triggers[number];
  uint16_t before = state_.report_lanes_before;
  uint64_t clock = global_.state().clock;
  const uint16_t lanes = settings_.counting.lanes;
  std::optional<uint64_t> fires = clocks_to_report(trigger, state, before, lanes);
  lost_[number] = false;
  if (fires && clock + *fires < state_.quiet_until) {
    advance_report(trigger, state, {before, lanes, state_.quiet_until - 1 - clock});
    lost_[number] = true;
    clock = state_.quiet_until - 1;
    before = lanes;
    fires = clocks_to_report(trigger, state, before, lanes);
  }
  return fires ? std::optional(first_nanosecond(clock + *fires, clock_hz_)) : std::nullopt;
}

// Moves counters and triggers forward to a time before which no report is due.
void Unit::move_to(uint64_t ns) {
  const uint64_t clock = clock_at(ns);
  const uint64_t before = global_.state().clock;
  if (clock > before && settings_.counting.counts) {
    const LaneInterval interval{state_.report_lanes_before, settings_.counting.lanes, clock - before};
    for (unsigned number = 0; number < kTriggers; ++number) {
      advance_report(settings_.report_triggers[number], state_.report_triggers[number], interval);
    }
    state_.report_lanes_before = settings_.counting.lanes;
  }
  global_.advance(clock);
  state_.now_ns = std::max(state_.now_ns, ns);
}

// Skips reports that later ones of the same interval overwrite.
void Unit::skip_overwritten(uint64_t ns) {
  const uint64_t report = report_dwords(settings_.format) * sizeof(uint32_t);
  const uint64_t capacity = settings_.buffer.bytes / report;
  std::optional<uint64_t> shortest;
  uint64_t timer_period = 0;
  if (settings_.timer_exponent && *settings_.timer_exponent < kTimestampBits) {
    timer_period = first_nanosecond(uint64_t{2} << *settings_.timer_exponent, model_.timestamp_hz);
    shortest = timer_period;
  }
  std::array<uint64_t, kTriggers> trigger_periods{};
  for (unsigned number = 0; number < kTriggers; ++number) {
    const Trigger& trigger = settings_.report_triggers[number];
    if (trigger.enabled && trigger.threshold_enable && !trigger.always()) {
      const uint64_t clocks = std::max<uint64_t>(trigger.threshold, kReportClocks);
      trigger_periods[number] = first_nanosecond(clocks, clock_hz_);
      shortest = earlier(shortest, trigger_periods[number]);
    }
  }
  if (!shortest || (ns - state_.now_ns) / *shortest <= capacity + 2) {
    return;
  }
  const uint64_t to = ns - (capacity + 1) * *shortest;
  uint64_t skipped = 0;
  if (timer_period != 0) {
    const auto count = [this](uint64_t time) {
      const uint64_t half = uint64_t{1} << *settings_.timer_exponent;
      return (ticks_after(time, model_.timestamp_hz) + half) / (2 * half);
    };
    skipped += count(to) - count(state_.now_ns);
  }
  for (const uint64_t period : trigger_periods) {
    skipped += period != 0 ? (to - state_.now_ns) / period : 0;
  }
  move_to(to);
  advance_tail(skipped * report, timer_period != 0);
}

void Unit::advance_global(uint64_t ns) {
  configure();
  if (ns <= state_.now_ns && state_.changes.empty()) {
    return;
  }
  if (!state_.enabled) {
    for (; !state_.changes.empty() && state_.changes.front().time_ns <= ns;
         state_.changes.erase(state_.changes.begin())) {
      state_.reported = state_.changes.front().to;
    }
    global_.advance(clock_at(ns));
    state_.now_ns = std::max(state_.now_ns, ns);
    return;
  }
  while (true) {
    const bool changes = !state_.changes.empty() && state_.changes.front().time_ns <= ns;
    const uint64_t until = changes ? state_.changes.front().time_ns : ns;
    if (until > state_.now_ns) {
      skip_overwritten(until);
    }
    while (true) {
      const std::optional<uint64_t> timer = next_timer(state_.now_ns);
      const std::array triggers{next_trigger(0), next_trigger(1)};
      const std::optional<uint64_t> next = earlier(timer, earlier(triggers[0], triggers[1]));
      if (!next || *next > until) {
        break;
      }
      move_to(*next);
      write_buffer_report({.timer = timer == next, .triggers = {triggers[0] == next, triggers[1] == next}});
    }
    if (!changes) {
      break;
    }
    const ContextChange change = state_.changes.front();
    state_.changes.erase(state_.changes.begin());
    change_context(change);
  }
  move_to(ns);
}

void Unit::change_context(const ContextChange& change) {
  move_to(std::max(change.time_ns, state_.now_ns));
  state_.reported = change.to;
  if (settings_.one_context) {
    stale_ = true;
    configure();
  }
  if (change.reports && settings_.switch_reports) {
    write_buffer_report({.context_switch = true});
  }
}

void Unit::advance_context(uint64_t ns) {
  if (!rules_.split) {
    return;
  }
  configure();
  context_.advance(clock_at(ns));
  state_.context_now_ns = std::max(state_.context_now_ns, ns);
  if (context_.config().counts != (registers_.context_counts() && !state_.left)) {
    stale_ = true;  // the enable in the context's control register has no handler here
  }
}

}  // namespace halogen::oa
