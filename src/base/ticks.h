// Counters that show virtual time: the ticks of a frequency, and the first nanosecond of a tick. Exact: whole seconds
// and the rest are converted separately, so that nothing overflows.
#pragma once

#include <cstdint>

namespace halogen {

inline constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;

// Returns the ticks of a counter at `hz` after `nanoseconds`.
constexpr uint64_t ticks_after(uint64_t nanoseconds, uint64_t hz) {
  return nanoseconds / kNanosecondsPerSecond * hz + nanoseconds % kNanosecondsPerSecond * hz / kNanosecondsPerSecond;
}

// Returns the first nanosecond at which the counter shows `ticks`. `hz` is at most one tick a nanosecond.
constexpr uint64_t first_nanosecond(uint64_t ticks, uint64_t hz) {
  const uint64_t rest = ticks % hz * kNanosecondsPerSecond;
  return ticks / hz * kNanosecondsPerSecond + rest / hz + (rest % hz != 0 ? 1 : 0);
}

static_assert(ticks_after(80, 12'500'000) == 1, "80 ns a tick");
static_assert(ticks_after(first_nanosecond(7, 19'200'000), 19'200'000) == 7);
static_assert(ticks_after(first_nanosecond(7, 19'200'000) - 1, 19'200'000) == 6);

}  // namespace halogen
