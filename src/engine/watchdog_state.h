#pragma once

#include <cstdint>

namespace halogen::engine {

struct WatchdogState {
  uint64_t counted_to = 0;  // virtual time up to which the counter has run

  bool operator==(const WatchdogState&) const = default;
};

}  // namespace halogen::engine
