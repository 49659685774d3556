// Exact arithmetic of binary floats in integers: a sum or a product with all its bits (or a sticky bit below them),
// rounded once by the definition of each mode. Independent of the interpreter.
#pragma once

#include <cstdint>

#include "unit/eu/exec_support.h"

namespace halogen::eu::test {

__extension__ using Mantissa = unsigned __int128;

struct FloatFormat {
  int mantissa;  // bits below the leading one
  int bias;
  int exponent_bits;
};
inline constexpr FloatFormat kHalfFormat{10, 15, 5};
inline constexpr FloatFormat kSingleFormat{23, 127, 8};
inline constexpr FloatFormat kDoubleFormat{52, 1023, 11};

// sign * mantissa * 2^exponent
struct Exact {
  bool negative = false;
  Mantissa mantissa = 0;
  int exponent = 0;
};

inline bool is_finite(FloatFormat format, uint64_t bits) {
  const uint64_t top = (uint64_t{1} << format.exponent_bits) - 1;
  return ((bits >> format.mantissa) & top) != top;
}

inline Exact unpack(FloatFormat format, uint64_t bits, bool flush) {
  const uint64_t fraction = bits & ((uint64_t{1} << format.mantissa) - 1);
  const auto field = static_cast<int>((bits >> format.mantissa) & ((uint64_t{1} << format.exponent_bits) - 1));
  Exact value;
  value.negative = ((bits >> (format.mantissa + format.exponent_bits)) & 1) != 0;
  value.exponent = (field == 0 ? 1 : field) - format.bias - format.mantissa;
  value.mantissa = field == 0 ? (flush ? 0 : fraction) : fraction | (uint64_t{1} << format.mantissa);
  return value;
}

inline int length(Mantissa value) {
  int bits = 0;
  for (; value != 0; value >>= 1) {
    ++bits;
  }
  return bits;
}

inline Exact product(const Exact& a, const Exact& b) {
  return {a.negative != b.negative, a.mantissa * b.mantissa, a.exponent + b.exponent};
}

// `zero_negative`: the sign of a sum that is exactly zero.
inline Exact sum(Exact a, Exact b, bool zero_negative) {
  if (a.mantissa == 0 && b.mantissa == 0) {
    return {a.negative == b.negative ? a.negative : zero_negative, 0, 0};
  }
  if (a.mantissa == 0) {
    return b;
  }
  if (b.mantissa == 0) {
    return a;
  }
  if (a.exponent < b.exponent) {
    std::swap(a, b);
  }
  // Shift a left while it fits, then shift b right with a sticky bit.
  while (a.exponent > b.exponent && length(a.mantissa) < 124) {
    a.mantissa <<= 1;
    --a.exponent;
  }
  while (a.exponent > b.exponent) {
    b.mantissa = (b.mantissa >> 1) | (b.mantissa & 1);
    ++b.exponent;
  }
  if (a.negative == b.negative) {
    return {a.negative, a.mantissa + b.mantissa, a.exponent};
  }
  if (a.mantissa == b.mantissa) {
    return {zero_negative, 0, 0};
  }
  return a.mantissa > b.mantissa ? Exact{a.negative, a.mantissa - b.mantissa, a.exponent}
                                 : Exact{b.negative, b.mantissa - a.mantissa, a.exponent};
}

// Rounds to a format. Modes: 0 nearest even, 1 up, 2 down, 3 toward zero.
inline uint64_t round_and_pack(FloatFormat format, const Exact& value, unsigned mode, bool flush) {
  const uint64_t sign = static_cast<uint64_t>(value.negative) << (format.mantissa + format.exponent_bits);
  if (value.mantissa == 0) {
    return sign;
  }
  const int lowest = 1 - format.bias - format.mantissa;  // exponent of the last bit of denormals
  int exponent = value.exponent + length(value.mantissa) - 1 - format.mantissa;
  exponent = exponent < lowest ? lowest : exponent;
  // In units of 2^exponent.
  const int shift = exponent - value.exponent;
  Mantissa units = 0;
  unsigned rest = 0;  // 0 exact, 1 below half, 2 half, 3 above half
  if (shift <= 0) {
    units = value.mantissa << -shift;
  } else if (shift > 126) {
    rest = 1;
  } else {
    units = value.mantissa >> shift;
    const Mantissa lost = value.mantissa - (units << shift);
    const Mantissa half = Mantissa{1} << (shift - 1);
    rest = lost == 0 ? 0 : lost < half ? 1 : lost == half ? 2 : 3;
  }
  bool away = false;
  switch (mode) {
    case 0:
      away = rest == 3 || (rest == 2 && (units & 1) != 0);
      break;
    case 1:
      away = rest != 0 && !value.negative;
      break;
    case 2:
      away = rest != 0 && value.negative;
      break;
    default:
      break;
  }
  units += away ? 1 : 0;
  if (length(units) > format.mantissa + 1) {
    units >>= 1;
    ++exponent;
  }
  const bool normal = length(units) == format.mantissa + 1;
  const int field = normal ? exponent - lowest + 1 : 0;
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa;
  if (field >= (1 << format.exponent_bits) - 1) {
    const bool to_infinity = mode == 0 || (mode == 1 && !value.negative) || (mode == 2 && value.negative);
    return sign | (to_infinity ? infinity : infinity - 1);
  }
  if (!normal) {
    return flush ? sign : sign | static_cast<uint64_t>(units);
  }
  const uint64_t fraction = static_cast<uint64_t>(units) & ((uint64_t{1} << format.mantissa) - 1);
  return sign | (static_cast<uint64_t>(field) << format.mantissa) | fraction;
}

}  // namespace halogen::eu::test
