#pragma once

#include <cstdint>

namespace halogen::engine {

// Registers of the streamer's ALU that software cannot reach but through MI_MATH.
struct MathState {
  uint64_t source_a = 0;
  uint64_t source_b = 0;
  uint64_t accumulator = 0;
  bool zero = false;
  bool carry = false;

  bool operator==(const MathState&) const = default;
};

}  // namespace halogen::engine
