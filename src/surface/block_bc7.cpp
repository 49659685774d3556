// BC7: up to three pairs of colours, selected for each texel by a partition, interpolated by indices of two to four
// bits. Tables: BPTC specification.
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "surface/block_codes.h"
#include "surface/bptc.h"

namespace halogen::surface {
namespace {

using namespace bptc;

// Subset of each texel, two bits each.
constexpr std::array<uint32_t, 64> kTriples{
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254,
};
// Anchor texels, as hexadecimal digits, whose index has one bit less: for the second and third of three subsets.
constexpr std::string_view kAnchorOfTriple[] = {"33ff83ff88666533338f336a588685ff8f356a8ff3f5ffff3f55585a5a8dfc33",
                                                "f883ff38fffffff8f8f3f8f83f6affa8f3faa89a6f8f3668f3ffffffffff3ff8"};

struct Mode {
  unsigned sets, partition_bits, rotation_bits, choice_bits, color_bits, alpha_bits;
  bool each_shares, pair_shares;  // a shared low bit for each colour, or for each pair
  unsigned index_bits, second_bits;
};
constexpr std::array<Mode, 8> kModes{{{3, 4, 0, 0, 4, 0, true, false, 3, 0},
                                      {2, 6, 0, 0, 6, 0, false, true, 3, 0},
                                      {3, 6, 0, 0, 5, 0, false, false, 2, 0},
                                      {2, 6, 0, 0, 7, 0, true, false, 2, 0},
                                      {1, 0, 2, 1, 5, 6, false, false, 2, 3},
                                      {1, 0, 2, 0, 7, 8, false, false, 2, 2},
                                      {1, 0, 0, 0, 7, 7, true, false, 4, 0},
                                      {2, 6, 0, 0, 5, 5, true, false, 2, 0}}};

unsigned set_of(const Mode& mode, unsigned partition, unsigned texel) {
  return mode.sets == 1 ? 0 : mode.sets == 2 ? set_of_pair(partition, texel) : kTriples[partition] >> (2 * texel) & 3u;
}

bool is_anchor(const Mode& mode, unsigned partition, unsigned texel) {
  if (texel == 0) {
    return true;
  }
  if (mode.sets == 2) {
    return anchor_of_pair(partition) == texel;
  }
  return mode.sets == 3 &&
         (digit(kAnchorOfTriple[0][partition]) == texel || digit(kAnchorOfTriple[1][partition]) == texel);
}

// Returns the index of one texel after reading the bits of all.
unsigned index_of(Bits& bits, const Mode& mode, unsigned partition, unsigned width, unsigned wanted) {
  unsigned found = 0;
  for (unsigned texel = 0; texel < 16; ++texel) {
    const unsigned index = bits.take(width - (is_anchor(mode, partition, texel) ? 1 : 0));
    if (texel == wanted) {
      found = index;
    }
  }
  return found;
}

unsigned widened(unsigned value, unsigned bits) {
  return bits >= 8 ? value : value << (8 - bits) | value >> (2 * bits - 8);
}

}  // namespace

BlockColor bc7_color(uint64_t low, uint64_t high, unsigned x, unsigned y) {
  Bits bits(low, high);
  unsigned number = 0;
  while (number < kModes.size() && bits.take(1) == 0) {
    ++number;
  }
  if (number == kModes.size()) {
    return {0.0, 0.0, 0.0, 0.0};  // reserved
  }
  const Mode& mode = kModes[number];
  const unsigned partition = bits.take(mode.partition_bits);
  const unsigned rotation = bits.take(mode.rotation_bits);
  const bool swapped = bits.take(mode.choice_bits) != 0;
  std::array<std::array<unsigned, 4>, 6> ends{};
  for (unsigned channel = 0; channel < 4; ++channel) {
    const unsigned width = channel < 3 ? mode.color_bits : mode.alpha_bits;
    for (unsigned end = 0; end < 2 * mode.sets; ++end) {
      ends[end][channel] = bits.take(width);
    }
  }
  unsigned shared = 0;
  for (unsigned end = 0; end < 2 * mode.sets; ++end) {
    if (mode.each_shares || (mode.pair_shares && end % 2 == 0)) {
      shared = bits.take(1);
    }
    for (unsigned channel = 0; channel < 4; ++channel) {
      unsigned width = channel < 3 ? mode.color_bits : mode.alpha_bits;
      unsigned& value = ends[end][channel];
      if (width == 0) {
        value = 255;
        continue;
      }
      if (mode.each_shares || mode.pair_shares) {
        value = value << 1 | shared;
        ++width;
      }
      value = widened(value, width);
    }
  }
  const unsigned texel = 4 * y + x;
  const unsigned first = index_of(bits, mode, partition, mode.index_bits, texel);
  const unsigned second = mode.second_bits != 0 ? index_of(bits, mode, partition, mode.second_bits, texel) : first;
  const unsigned first_weight = weight_of(first, mode.index_bits);
  const unsigned second_weight = mode.second_bits != 0 ? weight_of(second, mode.second_bits) : first_weight;
  const unsigned set = set_of(mode, partition, texel);
  std::array<double, 4> out{};
  for (unsigned channel = 0; channel < 4; ++channel) {
    const unsigned weight = (channel == 3) != swapped ? second_weight : first_weight;
    const unsigned a = ends[2 * set][channel];
    const unsigned b = ends[2 * set + 1][channel];
    const unsigned value = ((64 - weight) * a + weight * b + 32) / 64;  // rounds to a whole number
    out[channel] = value / 255.0;
  }
  if (rotation != 0) {
    std::swap(out[3], out[rotation - 1]);
  }
  return {out[0], out[1], out[2], out[3]};
}

}  // namespace halogen::surface
