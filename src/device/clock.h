// Virtual time: advances only when the model advances it, never with the wall clock.
#pragma once

#include <cstdint>

#include "base/ticks.h"

namespace halogen::device {

struct VirtualClock {
  uint64_t nanoseconds = 0;

  // Returns the ticks of a counter at `hz` since power-on.
  constexpr uint64_t ticks(uint64_t hz) const { return ticks_after(nanoseconds, hz); }
  constexpr bool operator==(const VirtualClock&) const = default;
};

}  // namespace halogen::device
