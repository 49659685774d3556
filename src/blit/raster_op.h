// The 256 raster operations. The code is the operation's truth table: its bit 4 P + 2 S + D is the result (G45 PRM
// vol. 1b 8.2.1.3, seed 003; Windows' ROP3 codes). Every code has a compiled kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halogen::blit {

// Return whether the result depends on the operand.
constexpr bool rop_uses_pattern(uint8_t code) {
  return ((code >> 4 ^ code) & 0x0f) != 0;
}
constexpr bool rop_uses_source(uint8_t code) {
  return ((code >> 2 ^ code) & 0x33) != 0;
}
constexpr bool rop_uses_destination(uint8_t code) {
  return ((code >> 1 ^ code) & 0x55) != 0;
}

inline constexpr uint8_t kRopSource = 0xcc;
inline constexpr uint8_t kRopPattern = 0xf0;

// Applies an operation bit by bit, as its definition says, to any unsigned type. The compiled kernels give the same
// result.
template <class T>
constexpr T apply_rop(uint8_t code, T pattern, T source, T destination) {
  T result = 0;
  for (unsigned entry = 0; entry < 8; ++entry) {
    if ((code >> entry & 1) != 0) {
      const T p = (entry & 4) != 0 ? pattern : static_cast<T>(~pattern);
      const T s = (entry & 2) != 0 ? source : static_cast<T>(~source);
      const T d = (entry & 1) != 0 ? destination : static_cast<T>(~destination);
      result = static_cast<T>(result | (p & s & d));
    }
  }
  return result;
}

// Combines `bytes` bytes; an operand that the code does not use may be null. `out` may be the destination, but must not
// overlap another operand.
using RopKernel = void (*)(std::byte* out, const std::byte* source, const std::byte* pattern,
                           const std::byte* destination, size_t bytes);
RopKernel rop_kernel(uint8_t code);

}  // namespace halogen::blit
