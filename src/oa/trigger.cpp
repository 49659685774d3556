#include "oa/trigger.h"

#include <algorithm>

#include "base/bits.h"

namespace halogen::oa {

bool Trigger::asserted(uint16_t lanes, uint16_t before) const {
  constexpr unsigned kGroup = 4;
  unsigned inputs = 0;
  for (unsigned input = 0; input < kLanes; ++input) {
    const bool inverted = bit(invert_a, input);
    const bool now = bit(lanes, select[input]) != inverted;
    const bool earlier = bit(before, select[input]) != inverted;
    inputs |= (bit(edges, input) ? now && !earlier : now) ? 1u << input : 0u;
  }
  std::array<bool, kLanes / kGroup> groups{};
  for (unsigned group = 0; group < groups.size(); ++group) {
    groups[group] =
        (bits(inputs, group * kGroup + kGroup - 1, group * kGroup) == low_mask(kGroup)) != bit(invert_b, group);
  }
  const bool low = (groups[0] && groups[1]) != bit(invert_c, 0);
  const bool high = (groups[2] && groups[3]) != bit(invert_c, 1);
  return (low && high) != invert_d;
}

namespace {

// The clocks of an interval in which the tree is asserted: the first one or not, and all others or none.
struct Asserted {
  bool first;
  bool then;
  uint64_t in(uint64_t clocks) const { return clocks == 0 ? 0 : (first ? 1u : 0u) + (then ? clocks - 1 : 0); }
  // Returns the clocks until `count` of them were asserted.
  std::optional<uint64_t> until(uint64_t count) const {
    if (first && count == 1) {
      return 1;
    }
    if (!then) {
      return std::nullopt;
    }
    return first ? count : count + 1;
  }
};

Asserted asserted_in(const Trigger& trigger, uint16_t before, uint16_t lanes) {
  return {trigger.asserted(lanes, before), trigger.asserted(lanes, lanes)};
}

}  // namespace

std::optional<uint64_t> advance_start(const Trigger& trigger, TriggerState& state, const LaneInterval& interval) {
  if (state.fired || trigger.always()) {
    state.fired = true;
    return 0;
  }
  const Asserted asserted = asserted_in(trigger, interval.before, interval.lanes);
  const uint64_t needed =
      trigger.threshold_enable ? std::max<uint64_t>(trigger.threshold, state.clocks + uint64_t{1}) - state.clocks : 1;
  const std::optional<uint64_t> until = asserted.until(needed);
  if (until && *until <= interval.clocks) {
    state.fired = true;
    return *until;
  }
  if (trigger.threshold_enable) {
    state.clocks = static_cast<uint16_t>(state.clocks + asserted.in(interval.clocks));
  }
  return std::nullopt;
}

std::optional<uint64_t> clocks_to_report(const Trigger& trigger, const TriggerState& state, uint16_t before,
                                         uint16_t lanes) {
  if (!trigger.enabled) {
    return std::nullopt;
  }
  if (trigger.always()) {
    return state.asserted ? std::nullopt : std::optional<uint64_t>(1);
  }
  const Asserted asserted = asserted_in(trigger, before, lanes);
  if (trigger.threshold_enable) {
    const uint64_t counted = std::min<uint64_t>(state.clocks, trigger.threshold - uint64_t{1});
    return asserted.until(trigger.threshold - counted);
  }
  if (asserted.first && !state.asserted) {
    return 1;
  }
  return asserted.then && !asserted.first ? std::optional<uint64_t>(2) : std::nullopt;
}

void advance_report(const Trigger& trigger, TriggerState& state, const LaneInterval& interval) {
  if (interval.clocks == 0) {
    return;
  }
  if (trigger.always()) {
    state.asserted = trigger.enabled;
    return;
  }
  const Asserted asserted = asserted_in(trigger, interval.before, interval.lanes);
  state.asserted = trigger.enabled && (interval.clocks == 1 ? asserted.first : asserted.then);
  if (trigger.enabled && trigger.threshold_enable) {
    state.clocks = static_cast<uint16_t>((state.clocks + asserted.in(interval.clocks)) % trigger.threshold);
  }
}

}  // namespace halogen::oa
