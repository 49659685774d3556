#pragma once

#include <cstdint>

namespace halogen::engine {

struct WatchdogState {
  uint64_t counted_to = 0;  // virtual time up to which the counter has run
  uint64_t count = 0;

  bool operator==(const WatchdogState&) const = default;
};

}  // namespace halogen::engine
