// ASTC's whole numbers: ranges, sequences of numbers of a range packed into bits (BISE), and how they are brought to
// 0..255 (colours) and 0..64 (weights). After the format's document (Khronos Data Format Specification, ASTC).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace halogen::surface::astc {

// A number is up to six bits below a trit or a quint, or up to eight bits.
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

// Bits that so many numbers take.
unsigned sequence_bits(const Range& range, unsigned count);
// Numbers from bit `first` on; the sequence ends where its last number does, and bits behind it count as zero.
Values read_sequence(const Block& block, unsigned first, const Range& range, unsigned count);

// The range of a weight by the high precision bit and the three bits of its code (2..7).
Range weight_range(bool high, unsigned code);
// The largest range of which `count` numbers fit; false: none of those allowed.
bool color_range(unsigned bits, unsigned count, Range& range);

unsigned widen_color(unsigned value, const Range& range);   // 0..255
unsigned widen_weight(unsigned value, const Range& range);  // 0..64

}  // namespace halogen::surface::astc
