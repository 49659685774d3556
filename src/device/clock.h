// Virtual time: advances only when the model advances it, never with the wall clock.
#pragma once

#include <cstdint>

namespace halogen::device {

struct VirtualClock {
  uint64_t nanoseconds = 0;

  // Returns the ticks of a counter at `hz` since power-on. Exact: whole seconds and the rest are multiplied separately,
  // so that nothing overflows.
  constexpr uint64_t ticks(uint64_t hz) const {
    constexpr uint64_t kSecond = 1'000'000'000;
    return nanoseconds / kSecond * hz + nanoseconds % kSecond * hz / kSecond;
  }
  constexpr bool operator==(const VirtualClock&) const = default;
};

static_assert(VirtualClock{80}.ticks(12'500'000) == 1, "80 ns a tick");

}  // namespace halogen::device
