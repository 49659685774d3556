#pragma once

#include <cstdint>

namespace halogen::engine {

// Registers of the streamer's ALU that only MI_MATH can access.
struct MathState {
  uint64_t source_a = 0;
  uint64_t source_b = 0;
  uint64_t accumulator = 0;
  bool zero = false;
  bool carry = false;

  bool operator==(const MathState&) const = default;
};

}  // namespace halogen::engine
