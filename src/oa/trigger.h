// A trigger block: 16 selected lanes, inverted and combined by a tree of ANDs, and an optional counter of the clocks in
// which the result is asserted. Start triggers let B and C counters begin; report triggers write reports. The figure in
// Cherryview observability (seed 002) is garbled. That the gates are ANDs is inferred from the places of the
// inversions: after the select, after each group of four, after each pair, at the end.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace halogen::oa {

inline constexpr unsigned kTriggers = 2;  // blocks of each kind
inline constexpr unsigned kLanes = 16;

struct Trigger {
  bool enabled = true;  // report triggers
  bool threshold_enable = false;
  uint16_t threshold = 0;
  uint16_t edges = 0;     // inputs that are asserted in the clock of a rising edge only; report triggers
  uint16_t invert_a = 0;  // inputs
  uint8_t invert_b = 0;   // groups of four inputs
  uint8_t invert_c = 0;   // pairs of groups
  bool invert_d = false;
  std::array<uint8_t, kLanes> select{};  // the lane of each input
  bool operator==(const Trigger&) const = default;

  // Returns whether the tree is asserted. `before`: the lanes in the previous clock.
  bool asserted(uint16_t lanes, uint16_t before) const;
  // Returns whether the trigger fires whatever the lanes are: its threshold is 0. Drivers program this so that a start
  // trigger does not delay the counters.
  bool always() const { return threshold_enable && threshold == 0; }
};

struct TriggerState {
  uint16_t clocks = 0;    // in which the tree was asserted
  bool asserted = false;  // in the previous clock
  bool fired = false;     // start triggers
  bool operator==(const TriggerState&) const = default;
};

// Lanes over an interval: they change at its first clock and stay constant after that.
struct LaneInterval {
  uint16_t before = 0;
  uint16_t lanes = 0;
  uint64_t clocks = 0;
};

// Advances a start trigger. Returns the number of clocks until it fires and counters count. 0: from the first clock on.
// No value: it does not fire in this interval.
std::optional<uint64_t> advance_start(const Trigger& trigger, TriggerState& state, const LaneInterval& interval);

// Returns the number of clocks until a report trigger fires, at least 1. No value: it does not fire while the lanes
// stay as they are. Without a threshold it fires when the tree becomes asserted. With a threshold it fires each time
// that the tree was asserted for that many clocks.
std::optional<uint64_t> clocks_to_report(const Trigger& trigger, const TriggerState& state, uint16_t before,
                                         uint16_t lanes);
// Moves the state forward, past reports that fall into the interval.
void advance_report(const Trigger& trigger, TriggerState& state, const LaneInterval& interval);

}  // namespace halogen::oa
