// A range of bits in a word. spec/eu describes the ranges.
#pragma once

#include <cstdint>

namespace halogen::eu {

struct BitRange {
  uint8_t low = 0;
  uint8_t width = 0;

  constexpr uint32_t mask() const { return static_cast<uint32_t>((uint64_t{1} << width) - 1) << low; }
  constexpr uint32_t of(uint32_t word) const { return (word & mask()) >> low; }
  constexpr uint32_t put(uint32_t value) const { return value << low & mask(); }
};

}  // namespace halogen::eu
