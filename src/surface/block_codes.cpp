#include "surface/block_codes.h"

#include <algorithm>
#include <array>

namespace halogen::surface {
namespace {

struct Rgb {
  int red = 0;
  int green = 0;
  int blue = 0;
};

// ETC blocks are big-endian.
uint64_t swapped(uint64_t block) {
  uint64_t out = 0;
  for (unsigned i = 0; i < 8; ++i) {
    out = out << 8 | (block >> (8 * i) & 0xff);
  }
  return out;
}

int field(uint64_t block, unsigned high, unsigned low) {
  return static_cast<int>(block >> low & ((uint64_t{1} << (high - low + 1)) - 1));
}

int widen4(int value) {
  return value << 4 | value;
}
int widen5(int value) {
  return value << 3 | value >> 2;
}
int widen6(int value) {
  return value << 2 | value >> 4;
}
int widen7(int value) {
  return value << 1 | value >> 6;
}
int signed3(int value) {
  return value > 3 ? value - 8 : value;
}

BlockColor as_fractions(const Rgb& color) {
  const auto byte = [](int value) { return std::clamp(value, 0, 255) / 255.0; };
  return {byte(color.red), byte(color.green), byte(color.blue), 1.0};
}

Rgb plus(const Rgb& color, int delta) {
  return {color.red + delta, color.green + delta, color.blue + delta};
}

constexpr std::array<std::array<int, 2>, 8> kModifiers{
    {{2, 8}, {5, 17}, {9, 29}, {13, 42}, {18, 60}, {24, 80}, {33, 106}, {47, 183}}};
constexpr std::array<int, 8> kDistances{3, 6, 11, 16, 23, 32, 41, 64};

constexpr std::array<std::array<int, 8>, 16> kEac{{{-3, -6, -9, -15, 2, 5, 8, 14},
                                                   {-3, -7, -10, -13, 2, 6, 9, 12},
                                                   {-2, -5, -8, -13, 1, 4, 7, 12},
                                                   {-2, -4, -6, -13, 1, 3, 5, 12},
                                                   {-3, -6, -8, -12, 2, 5, 7, 11},
                                                   {-3, -7, -9, -11, 2, 6, 8, 10},
                                                   {-4, -7, -8, -11, 3, 6, 7, 10},
                                                   {-3, -5, -8, -11, 2, 4, 7, 10},
                                                   {-2, -6, -8, -10, 1, 5, 7, 9},
                                                   {-2, -5, -8, -10, 1, 4, 7, 9},
                                                   {-2, -4, -8, -10, 1, 3, 7, 9},
                                                   {-2, -5, -7, -10, 1, 4, 6, 9},
                                                   {-3, -4, -7, -10, 2, 3, 6, 9},
                                                   {-1, -2, -3, -10, 0, 1, 2, 9},
                                                   {-4, -6, -8, -9, 3, 5, 7, 8},
                                                   {-3, -5, -7, -9, 2, 4, 6, 8}}};

// Returns the two bits of a texel; columns come first.
int etc_index(uint64_t block, unsigned x, unsigned y) {
  const unsigned at = 4 * x + y;
  return static_cast<int>((block >> (16 + at) & 1) << 1 | (block >> at & 1));
}

constexpr int kClear = 2;  // index of a transparent texel

BlockColor four_paints(const std::array<Rgb, 4>& paints, int index, bool transparent) {
  if (transparent && index == kClear) {
    return {0.0, 0.0, 0.0, 0.0};
  }
  return as_fractions(paints[static_cast<size_t>(index)]);
}

BlockColor mode_t(uint64_t block, int index, bool transparent) {
  const Rgb first{widen4(field(block, 60, 59) << 2 | field(block, 57, 56)), widen4(field(block, 55, 52)),
                  widen4(field(block, 51, 48))};
  const Rgb second{widen4(field(block, 47, 44)), widen4(field(block, 43, 40)), widen4(field(block, 39, 36))};
  const int distance = kDistances[static_cast<size_t>(field(block, 35, 34) << 1 | field(block, 32, 32))];
  return four_paints({first, plus(second, distance), second, plus(second, -distance)}, index, transparent);
}

BlockColor mode_h(uint64_t block, int index, bool transparent) {
  const int r1 = field(block, 62, 59);
  const int g1 = field(block, 58, 56) << 1 | field(block, 52, 52);
  const int b1 = field(block, 51, 51) << 3 | field(block, 49, 47);
  const int r2 = field(block, 46, 43);
  const int g2 = field(block, 42, 39);
  const int b2 = field(block, 38, 35);
  const bool later = (r1 << 8 | g1 << 4 | b1) >= (r2 << 8 | g2 << 4 | b2);
  const int distance =
      kDistances[static_cast<size_t>(field(block, 34, 34) << 2 | field(block, 32, 32) << 1 | (later ? 1 : 0))];
  const Rgb first{widen4(r1), widen4(g1), widen4(b1)};
  const Rgb second{widen4(r2), widen4(g2), widen4(b2)};
  return four_paints({plus(first, distance), plus(first, -distance), plus(second, distance), plus(second, -distance)},
                     index, transparent);
}

BlockColor mode_planar(uint64_t block, int x, int y) {
  const Rgb origin{widen6(field(block, 62, 57)), widen7(field(block, 56, 56) << 6 | field(block, 54, 49)),
                   widen6(field(block, 48, 48) << 5 | field(block, 44, 43) << 3 | field(block, 41, 39))};
  const Rgb right{widen6(field(block, 38, 34) << 1 | field(block, 32, 32)), widen7(field(block, 31, 25)),
                  widen6(field(block, 24, 19))};
  const Rgb below{widen6(field(block, 18, 13)), widen7(field(block, 12, 6)), widen6(field(block, 5, 0))};
  const auto at = [&](int o, int h, int v) { return (x * (h - o) + y * (v - o) + 4 * o + 2) >> 2; };
  return as_fractions({at(origin.red, right.red, below.red), at(origin.green, right.green, below.green),
                       at(origin.blue, right.blue, below.blue)});
}

}  // namespace

BlockColor bc1_color(uint64_t block, unsigned x, unsigned y, Bc1Alpha alpha) {
  const auto first = static_cast<uint32_t>(block & 0xffff);
  const auto second = static_cast<uint32_t>(block >> 16 & 0xffff);
  const auto index = static_cast<unsigned>(block >> (32 + 2 * (4 * y + x)) & 3);
  const bool four = alpha == Bc1Alpha::four_colors || first > second;
  if (!four && index == 3) {
    return {0.0, 0.0, 0.0, alpha == Bc1Alpha::punchthrough ? 0.0 : 1.0};
  }
  // Share of the second colour, in sixths.
  const double share = index == 0 ? 0 : index == 1 ? 6 : !four ? 3 : index == 2 ? 2 : 4;
  const auto mix = [&](unsigned shift, unsigned mask) {
    const double a = first >> shift & mask;
    const double b = second >> shift & mask;
    return (a * (6 - share) + b * share) / (6.0 * mask);
  };
  return {mix(11, 31), mix(5, 63), mix(0, 31), 1.0};
}

double bc4_value(uint64_t block, unsigned x, unsigned y, bool is_signed) {
  const auto index = static_cast<unsigned>(block >> (16 + 3 * (4 * y + x)) & 7);
  double first = static_cast<double>(block & 0xff);
  double second = static_cast<double>(block >> 8 & 0xff);
  double low = 0;
  double high = 255;
  if (is_signed) {
    first = std::max(-127, static_cast<int>(static_cast<int8_t>(block & 0xff)));
    second = std::max(-127, static_cast<int>(static_cast<int8_t>(block >> 8 & 0xff)));
    low = -127;
    high = 127;
  }
  const double scale = high;
  if (index < 2) {
    return (index == 0 ? first : second) / scale;
  }
  const int i = static_cast<int>(index);
  if (first > second) {
    return (first * (8 - i) + second * (i - 1)) / 7.0 / scale;
  }
  if (index >= 6) {
    return (index == 6 ? low : high) / scale;
  }
  return (first * (6 - i) + second * (i - 1)) / 5.0 / scale;
}

BlockColor etc2_color(uint64_t little, unsigned x, unsigned y, bool punchthrough) {
  const uint64_t block = swapped(little);
  const bool bit33 = field(block, 33, 33) != 0;
  const bool transparent = punchthrough && !bit33;
  const int index = etc_index(block, x, y);
  std::array<Rgb, 2> base;
  if (!punchthrough && !bit33) {
    base = {Rgb{widen4(field(block, 63, 60)), widen4(field(block, 55, 52)), widen4(field(block, 47, 44))},
            Rgb{widen4(field(block, 59, 56)), widen4(field(block, 51, 48)), widen4(field(block, 43, 40))}};
  } else {
    const Rgb first{field(block, 63, 59), field(block, 55, 51), field(block, 47, 43)};
    const Rgb second{first.red + signed3(field(block, 58, 56)), first.green + signed3(field(block, 50, 48)),
                     first.blue + signed3(field(block, 42, 40))};
    const auto overflows = [](int value) { return value < 0 || value > 31; };
    if (overflows(second.red)) {
      return mode_t(block, index, transparent);
    }
    if (overflows(second.green)) {
      return mode_h(block, index, transparent);
    }
    if (overflows(second.blue)) {
      return mode_planar(block, static_cast<int>(x), static_cast<int>(y));
    }
    base = {Rgb{widen5(first.red), widen5(first.green), widen5(first.blue)},
            Rgb{widen5(second.red), widen5(second.green), widen5(second.blue)}};
  }
  const bool flipped = field(block, 32, 32) != 0;
  const size_t half = (flipped ? y : x) >= 2 ? 1 : 0;
  const int table = half == 0 ? field(block, 39, 37) : field(block, 36, 34);
  if (transparent && index == kClear) {
    return {0.0, 0.0, 0.0, 0.0};
  }
  const auto& steps = kModifiers[static_cast<size_t>(table)];
  int step = steps[static_cast<size_t>(index & 1)];
  if (transparent && (index & 1) == 0) {
    step = 0;
  }
  return as_fractions(plus(base[half], (index & 2) != 0 ? -step : step));
}

namespace {

int eac_modifier(uint64_t block, unsigned x, unsigned y) {
  const auto index = static_cast<size_t>(block >> (45 - 3 * (4 * x + y)) & 7);
  return kEac[static_cast<size_t>(field(block, 51, 48))][index];
}

}  // namespace

double eac_byte(uint64_t little, unsigned x, unsigned y) {
  const uint64_t block = swapped(little);
  const int value = field(block, 63, 56) + eac_modifier(block, x, y) * field(block, 55, 52);
  return std::clamp(value, 0, 255) / 255.0;
}

double eac_eleven(uint64_t little, unsigned x, unsigned y, bool is_signed) {
  const uint64_t block = swapped(little);
  const int multiplier = field(block, 55, 52);
  const int step = eac_modifier(block, x, y) * (multiplier == 0 ? 1 : multiplier * 8);
  if (is_signed) {
    const int base = std::max(-127, static_cast<int>(static_cast<int8_t>(field(block, 63, 56))));
    return std::clamp(base * 8 + step, -1023, 1023) / 1023.0;
  }
  return std::clamp(field(block, 63, 56) * 8 + 4 + step, 0, 2047) / 2047.0;
}

}  // namespace halogen::surface
