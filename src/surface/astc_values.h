// ASTC integers: ranges, sequences of numbers packed into bits (BISE), and their expansion to 0..255 (colours) and
// 0..64 (weights). Source: Khronos Data Format Specification, ASTC.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace halogen::surface::astc {

// A number consists of up to six bits and a trit or a quint, or of up to eight bits.
struct Range {
  uint8_t bits = 0;
  bool trit = false;
  bool quint = false;
};

// The 128 bits of a block.
struct Block {
  uint64_t low = 0;
  uint64_t high = 0;
  unsigned get(unsigned first, unsigned count) const;
  Block reversed() const;  // bit 0 is bit 127
};

inline constexpr unsigned kMaxValues = 64;
using Values = std::array<uint8_t, kMaxValues>;

// Returns the number of bits of a sequence.
unsigned sequence_bits(const Range& range, unsigned count);
// Reads numbers from bit `first` on. The sequence ends with its last number; bits beyond it count as zero.
Values read_sequence(const Block& block, unsigned first, const Range& range, unsigned count);

// Returns the range of weights for the high precision bit and the three bits of its code (2..7).
Range weight_range(bool high, unsigned code);
// Finds the largest range of which `count` numbers fit. False: no allowed range fits.
bool color_range(unsigned bits, unsigned count, Range& range);

unsigned widen_color(unsigned value, const Range& range);   // 0..255
unsigned widen_weight(unsigned value, const Range& range);  // 0..64

}  // namespace halogen::surface::astc
