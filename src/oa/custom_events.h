// Custom events: each compares a vector of signals with a value in every clock. The vector is the 16 lanes of the
// signal network, or the output of the preceding event or of all events in the previous clock. The eight events are
// therefore a state machine of eight bits. The registers are CECn_0 and CECn_1 (Linux i915; DG1 PRM, Custom Event
// Counters, seed 000, whose figure is missing). No source states that outputs are one clock late; it follows from what
// drivers' metric sets say they count.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "oa/counters.h"

namespace halogen::oa {

struct CustomEvent {
  enum class Function : uint8_t { any_equal, greater, equal, greater_or_equal, less, not_equal, less_or_equal, always };
  enum class Source : uint8_t { network, previous, events, none };

  Function function = Function::any_equal;
  Source source = Source::network;
  uint16_t value = 0;
  uint16_t ignored = 0;  // lanes that are not compared
  uint16_t negated = 0;  // lanes
  bool operator==(const CustomEvent&) const = default;
};
using CustomEvents = std::array<CustomEvent, kBooleans>;

// Returns the outputs after a clock: bit n is event n.
uint8_t next_outputs(const CustomEvents& events, uint16_t lanes, uint8_t outputs);

// The outputs over time while configuration and lanes stay the same: they repeat after at most 256 clocks, so counts
// over any number of clocks come from one table.
class EventCycle {
 public:
  using Counts = std::array<uint64_t, kBooleans>;

  void prepare(const CustomEvents& events, uint16_t lanes, uint8_t outputs);
  // Moves forward and returns the clocks in which each event was asserted.
  Counts advance(uint64_t clocks);
  uint8_t outputs() const { return steps_[at_].outputs; }

 private:
  struct Step {
    uint8_t outputs = 0;                         // before the step
    std::array<uint16_t, kBooleans> asserted{};  // in all steps before it
  };
  Counts counted_to(uint64_t step) const;
  size_t index_of(uint64_t step) const;

  std::vector<Step> steps_{1};  // the last one leads back to loop_
  std::array<uint16_t, kBooleans> total_{};
  size_t loop_ = 0;
  size_t at_ = 0;
};

}  // namespace halogen::oa
