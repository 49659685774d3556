// BC6H: one or two pairs of half-float colours, of which later ones may be deltas to the first, interpolated by indices
// of three or four bits. Layouts: BPTC specification.
#include <array>
#include <cstdint>
#include <string_view>

#include "surface/block_codes.h"
#include "surface/bptc.h"
#include "surface/texel_format.h"

namespace halogen::surface {
namespace {

using namespace bptc;

struct Mode {
  unsigned code;     // of two or five bits
  bool differences;  // the second and later endpoints are deltas to the first
  unsigned bits;     // of the first endpoint
  std::array<unsigned, 3> delta_bits;
  // The bits after the mode code in order: channel, endpoint (w and x of the first pair, y and z of the second), first
  // and last bit.
  std::string_view fields;
  bool pairs() const { return fields.find('z') != std::string_view::npos; }
};

constexpr std::array<Mode, 14> kModes{{
    {0b00000,
     true,
     10,
     {5, 5, 5},
     "gy44 by44 bz44 rw09 gw09 bw09 rx04 gz44 gy03 gx04 bz00 gz03 bx04 bz11 by03 ry04 bz22 rz04 bz33"},
    {0b00001,
     true,
     7,
     {6, 6, 6},
     "gy55 gz44 gz55 rw06 bz00 bz11 by44 gw06 by55 bz22 gy44 bw06 bz33 bz55 bz44 rx05 gy03 gx05 gz03 bx05 by03 ry05 "
     "rz05"},
    {0b00010,
     true,
     11,
     {5, 4, 4},
     "rw09 gw09 bw09 rx04 rwaa gy03 gx03 gwaa bz00 gz03 bx03 bwaa bz11 by03 ry04 bz22 rz04 bz33"},
    {0b00110,
     true,
     11,
     {4, 5, 4},
     "rw09 gw09 bw09 rx03 rwaa gz44 gy03 gx04 gwaa gz03 bx03 bwaa bz11 by03 ry03 bz00 bz22 rz03 gy44 bz33"},
    {0b01010,
     true,
     11,
     {4, 4, 5},
     "rw09 gw09 bw09 rx03 rwaa by44 gy03 gx03 gwaa bz00 gz03 bx04 bwaa by03 ry03 bz11 bz22 rz03 bz44 bz33"},
    {0b01110,
     true,
     9,
     {5, 5, 5},
     "rw08 by44 gw08 gy44 bw08 bz44 rx04 gz44 gy03 gx04 bz00 gz03 bx04 bz11 by03 ry04 bz22 rz04 bz33"},
    {0b10010,
     true,
     8,
     {6, 5, 5},
     "rw07 gz44 by44 gw07 bz22 gy44 bw07 bz33 bz44 rx05 gy03 gx04 bz00 gz03 bx04 bz11 by03 ry05 rz05"},
    {0b10110,
     true,
     8,
     {5, 6, 5},
     "rw07 bz00 by44 gw07 gy55 gy44 bw07 gz55 bz44 rx04 gz44 gy03 gx05 gz03 bx04 bz11 by03 ry04 bz22 rz04 bz33"},
    {0b11010,
     true,
     8,
     {5, 5, 6},
     "rw07 bz11 by44 gw07 by55 gy44 bw07 bz55 bz44 rx04 gz44 gy03 gx04 bz00 gz03 bx05 by03 ry04 bz22 rz04 bz33"},
    {0b11110,
     false,
     6,
     {6, 6, 6},
     "rw05 gz44 bz00 bz11 by44 gw05 gy55 by55 bz22 gy44 bw05 gz55 bz33 bz55 bz44 rx05 gy03 gx05 gz03 bx05 by03 ry05 "
     "rz05"},
    {0b00011, false, 10, {10, 10, 10}, "rw09 gw09 bw09 rx09 gx09 bx09"},
    {0b00111, true, 11, {9, 9, 9}, "rw09 gw09 bw09 rx08 rwaa gx08 gwaa bx08 bwaa"},
    {0b01011, true, 12, {8, 8, 8}, "rw09 gw09 bw09 rx07 rwba gx07 gwba bx07 bwba"},
    {0b01111, true, 16, {4, 4, 4}, "rw09 gw09 bw09 rx03 rwfa gx03 gwfa bx03 bwfa"},
}};

using Ends = std::array<std::array<int, 3>, 4>;

Ends read_ends(Bits& bits, const Mode& mode) {
  constexpr std::string_view kChannels = "rgb";
  constexpr std::string_view kEnds = "wxyz";
  Ends ends{};
  for (std::string_view rest = mode.fields; rest.size() >= 4; rest.remove_prefix(rest.size() > 4 ? 5 : 4)) {
    int& value = ends[kEnds.find(rest[1])][kChannels.find(rest[0])];
    const auto first = static_cast<int>(digit(rest[2]));
    const auto last = static_cast<int>(digit(rest[3]));
    for (int at = first;; at += first <= last ? 1 : -1) {
      value |= static_cast<int>(bits.take(1)) << at;
      if (at == last) {
        break;
      }
    }
  }
  return ends;
}

int sign_extended(int value, unsigned bits) {
  const int sign = 1 << (bits - 1);
  return ((value & ((1 << bits) - 1)) ^ sign) - sign;
}

void resolve_ends(Ends& ends, const Mode& mode, bool is_signed) {
  for (unsigned channel = 0; channel < 3; ++channel) {
    int& base = ends[0][channel];
    if (is_signed) {
      base = sign_extended(base, mode.bits);
    }
    for (unsigned end = 1; end < 4; ++end) {
      int& value = ends[end][channel];
      if (mode.differences) {
        value = (base + sign_extended(value, mode.delta_bits[channel])) & ((1 << mode.bits) - 1);
      }
      if (is_signed) {
        value = sign_extended(value, mode.bits);
      }
    }
  }
}

// Expands to 16 bits, or to 15 bits and a sign.
int widened(int value, unsigned bits, bool is_signed) {
  if (bits >= 15 || value == 0) {
    return value;
  }
  if (!is_signed) {
    return value == (1 << bits) - 1 ? 0xffff : ((value << 16) + 0x8000) >> bits;
  }
  const int size = value < 0 ? -value : value;
  const int wide = size >= (1 << (bits - 1)) - 1 ? 0x7fff : ((size << 15) + 0x4000) >> (bits - 1);
  return value < 0 ? -wide : wide;
}

double as_half(int value, bool is_signed) {
  if (!is_signed) {
    return static_cast<double>(half_to_float(static_cast<uint16_t>(value * 31 >> 6)));
  }
  const int size = (value < 0 ? -value : value) * 31 >> 5;
  return static_cast<double>(half_to_float(static_cast<uint16_t>(size | (value < 0 ? 0x8000 : 0))));
}

}  // namespace

BlockColor bc6h_color(uint64_t low, uint64_t high, unsigned x, unsigned y, bool is_signed) {
  Bits bits(low, high);
  unsigned code = bits.take(2);
  if (code > 1) {
    code |= bits.take(3) << 2;
  }
  const Mode* mode = nullptr;
  for (const Mode& each : kModes) {
    if (each.code == code) {
      mode = &each;
    }
  }
  if (mode == nullptr) {
    return {};  // reserved: black
  }
  Ends ends = read_ends(bits, *mode);
  resolve_ends(ends, *mode, is_signed);
  const bool pairs = mode->pairs();
  const unsigned partition = pairs ? bits.take(5) : 0;
  const unsigned width = pairs ? 3 : 4;
  const unsigned wanted = 4 * y + x;
  unsigned index = 0;
  for (unsigned texel = 0; texel <= wanted; ++texel) {
    index = bits.take(width - (texel == 0 || (pairs && anchor_of_pair(partition) == texel) ? 1 : 0));
  }
  const unsigned set = pairs ? set_of_pair(partition, wanted) : 0;
  const auto weight = static_cast<int>(weight_of(index, width));
  std::array<double, 3> out{};
  for (unsigned channel = 0; channel < 3; ++channel) {
    const int a = widened(ends[2 * set][channel], mode->bits, is_signed);
    const int b = widened(ends[2 * set + 1][channel], mode->bits, is_signed);
    out[channel] = as_half((a * (64 - weight) + b * weight + 32) >> 6, is_signed);
  }
  return {out[0], out[1], out[2], 1.0};
}

}  // namespace halogen::surface
