// Counters of an engine's long work for the hang watch.
#pragma once

#include <cstdint>

namespace halogen::engine {

struct WorkDone {
  uint64_t amount = 0;    // grows with work in which the model is much slower than a chip
  uint64_t progress = 0;  // grows when such work advances: by threads started, parts of a draw, bytes of a BLT
};

}  // namespace halogen::engine
