#pragma once

#include <cstdint>

namespace halogen::engine {

struct WatchdogState {
  uint64_t counted_to = 0;  // virtual time up to which the counter has run
  uint64_t rest = 0;        // of a tick, in nanoseconds times the clock's frequency

  bool operator==(const WatchdogState&) const = default;
};

}  // namespace halogen::engine
