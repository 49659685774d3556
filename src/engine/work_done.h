// The work that an engine has done so far: long work, for the hang watch, and the use of its time, for monitors.
#pragma once

#include <cstdint>

namespace halogen::engine {

struct WorkDone {
  uint64_t amount = 0;    // grows with work in which the model is much slower than a chip
  uint64_t progress = 0;  // grows when such work advances: by threads started, parts of a draw, bytes of a BLT
};

// Virtual time in nanoseconds.
struct TimeSpent {
  uint64_t busy = 0;              // with work, or stopped in it
  uint64_t waits_for_event = 0;   // part of `busy`
  uint64_t waits_for_signal = 0;  // of a semaphore; part of `busy`
};

}  // namespace halogen::engine
