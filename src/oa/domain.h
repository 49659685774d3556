// One set of counters with its time. Gen8 to Gen11 have one. Gen12 has two: the global one, and that of the render
// engine, whose values belong to contexts. Work and busy time arrive as spans and are spread over their clocks.
#pragma once

#include <cstdint>
#include <vector>

#include "oa/counters.h"
#include "oa/custom_events.h"
#include "oa/trigger.h"

namespace halogen::oa {

// Counts of a piece of work, between two clocks.
struct Share {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::array<uint64_t, kACounters> counts{};
  bool operator==(const Share&) const = default;
};

struct ClockRange {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool operator==(const ClockRange&) const = default;
};

// The state of counting that the registers select.
struct CountConfig {
  bool counts = false;  // enabled, and counting resumed
  uint16_t lanes = 0;   // of the signal network
  CustomEvents events;
  uint8_t event_select = 0;  // bit n: B(n) counts event n, else lane n
  bool start_at_once = false;
  std::array<Trigger, kTriggers> start;
  bool operator==(const CountConfig&) const = default;
};

struct DomainState {
  uint64_t clock = 0;
  Counters counters;
  uint8_t outputs = 0;        // of the custom events
  uint16_t lanes_before = 0;  // in the last clock
  std::array<TriggerState, kTriggers> start{};
  std::vector<Share> shares;     // that end after `clock`
  std::vector<ClockRange> busy;  // of all engines that count, in no order
  bool operator==(const DomainState&) const = default;
};

class Domain {
 public:
  const DomainState& state() const { return state_; }
  Counters& counters() { return state_.counters; }
  void restore(const DomainState& state);
  // Sets the configuration for the clocks from now on.
  void configure(const CountConfig& config);
  const CountConfig& config() const { return config_; }
  // Resets the custom events and the start triggers, because the unit was enabled or disabled.
  void stop();

  // Moves forward to a clock. A clock that has passed has no effect.
  void advance(uint64_t clock);

  void add_work(const Share& share);
  void add_busy(ClockRange range);

 private:
  void count_shares(uint64_t clock);
  void count_busy(uint64_t clock);
  void count_signals(uint64_t clock);

  DomainState state_;
  CountConfig config_;
  EventCycle cycle_;
};

}  // namespace halogen::oa
