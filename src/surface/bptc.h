// Shared by BC6H and BC7 (BPTC): partitions into two subsets, anchor texels whose index has one bit less, weights, and
// a reader of bits from the lowest up. Tables: BPTC specification.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace halogen::surface::bptc {

// Texels of the second subset, one bit each.
inline constexpr std::array<uint16_t, 64> kPairs{
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80, 0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8,
    0xff00, 0xfff0, 0xf000, 0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce, 0x088c, 0x3110,
    0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c, 0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696,
    0xa55a, 0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660, 0x0272, 0x04e4, 0x4e40, 0x2720,
    0xc936, 0x936c, 0x39c6, 0x639c, 0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22,
};
// Anchor texel of the second subset, as a hexadecimal digit. Texel 0 is always an anchor.
inline constexpr std::string_view kAnchorOfPair = "fffffffffffffffff282288f28228822ff6828ff28222ff66268ff22fffff22f";

inline constexpr std::array<unsigned, 4> kWeights2{0, 21, 43, 64};
inline constexpr std::array<unsigned, 8> kWeights3{0, 9, 18, 27, 37, 46, 55, 64};
inline constexpr std::array<unsigned, 16> kWeights4{0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64};

constexpr unsigned digit(char letter) {
  return static_cast<unsigned>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
}

constexpr unsigned set_of_pair(unsigned partition, unsigned texel) {
  return kPairs[partition] >> texel & 1u;
}

constexpr unsigned anchor_of_pair(unsigned partition) {
  return digit(kAnchorOfPair[partition]);
}

constexpr unsigned weight_of(unsigned index, unsigned width) {
  return width == 2 ? kWeights2[index & 3] : width == 3 ? kWeights3[index & 7] : kWeights4[index & 15];
}

class Bits {
 public:
  Bits(uint64_t low, uint64_t high) : low_(low), high_(high) {}
  unsigned take(unsigned count) {
    unsigned value = 0;
    for (unsigned i = 0; i < count; ++i, ++at_) {
      const uint64_t word = at_ < 64 ? low_ : high_;
      value |= static_cast<unsigned>(word >> (at_ % 64) & 1) << i;
    }
    return value;
  }

 private:
  uint64_t low_;
  uint64_t high_;
  unsigned at_ = 0;
};

}  // namespace halogen::surface::bptc
