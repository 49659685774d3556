#include "eu/number.h"

#include <cfenv>
#include <cfloat>
#include <cmath>

namespace halogen::eu {

namespace {

constexpr int host_rounding(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest:
      return FE_TONEAREST;
    case Rounding::up:
      return FE_UPWARD;
    case Rounding::down:
      return FE_DOWNWARD;
    case Rounding::zero:
      return FE_TOWARDZERO;
  }
  return FE_TONEAREST;
}

// Returns whether an inexact magnitude is rounded away from zero.
constexpr bool rounds_away(Rounding rounding, bool negative, bool odd, unsigned remainder_class) {
  // remainder_class: 0 exact, 1 below half, 2 half, 3 above half
  if (remainder_class == 0) {
    return false;
  }
  switch (rounding) {
    case Rounding::nearest:
      return remainder_class == 3 || (remainder_class == 2 && odd);
    case Rounding::up:
      return !negative;
    case Rounding::down:
      return negative;
    case Rounding::zero:
      return false;
  }
  return false;
}

struct Format {
  int mantissa;  // bits without the leading one
  int exponent;  // bits
};
constexpr Format kHalf{10, 5};
constexpr Format kSingle{23, 8};

uint64_t narrow(double value, Format format, Rounding rounding) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const bool negative = (bits >> 63) != 0;
  const uint64_t sign = static_cast<uint64_t>(negative) << (format.mantissa + format.exponent);
  const uint64_t infinity = ((uint64_t{1} << format.exponent) - 1) << format.mantissa;
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (exponent == 0x7ff) {
    if (fraction == 0) {
      return sign | infinity;
    }
    const uint64_t payload = fraction >> (52 - format.mantissa);
    return sign | infinity | (payload != 0 ? payload : uint64_t{1} << (format.mantissa - 1));
  }
  if (exponent == 0 && fraction == 0) {
    return sign;
  }
  const int bias = (1 << (format.exponent - 1)) - 1;
  const uint64_t significand = exponent == 0 ? fraction : fraction | (uint64_t{1} << 52);
  const int unbiased = exponent == 0 ? -1022 : exponent - 1023;
  int biased = unbiased + bias;
  int shift = 52 - format.mantissa;
  if (biased < 1) {
    shift += 1 - biased;
    biased = 0;
  }
  uint64_t kept = 0;
  unsigned rest = 1;
  if (shift < 64) {
    kept = significand >> shift;
    const uint64_t lost = significand & ((uint64_t{1} << shift) - 1);
    const uint64_t half = uint64_t{1} << (shift - 1);
    rest = lost == 0 ? 0 : lost < half ? 1 : lost == half ? 2 : 3;
  }
  if (biased > 0) {
    kept -= uint64_t{1} << format.mantissa;  // removes the implicit leading one
  }
  if (biased >= (1 << format.exponent) - 1) {
    const bool to_infinity = rounding == Rounding::nearest || (rounding == Rounding::up && !negative) ||
                             (rounding == Rounding::down && negative);
    return sign | (to_infinity ? infinity : infinity - 1);
  }
  uint64_t result = (static_cast<uint64_t>(biased) << format.mantissa) + kept;
  result += rounds_away(rounding, negative, (kept & 1) != 0, rest) ? 1u : 0u;  // may carry into the exponent
  return sign | result;
}

double widen(uint64_t bits, Format format) {
  const uint64_t sign = (bits >> (format.mantissa + format.exponent)) & 1;
  const auto exponent = static_cast<int>((bits >> format.mantissa) & ((uint64_t{1} << format.exponent) - 1));
  const uint64_t fraction = bits & ((uint64_t{1} << format.mantissa) - 1);
  const int bias = (1 << (format.exponent - 1)) - 1;
  uint64_t result = sign << 63;
  if (exponent == (1 << format.exponent) - 1) {
    result |= (uint64_t{0x7ff} << 52) | (fraction << (52 - format.mantissa));
  } else if (exponent != 0) {
    result |= (static_cast<uint64_t>(exponent - bias + 1023) << 52) | (fraction << (52 - format.mantissa));
  } else if (fraction != 0) {
    const double magnitude = std::ldexp(static_cast<double>(fraction), 1 - bias - format.mantissa);
    result |= std::bit_cast<uint64_t>(magnitude);
  }
  return std::bit_cast<double>(result);
}

}  // namespace

RoundingScope::RoundingScope(Rounding rounding) {
  if (rounding != Rounding::nearest) {
    std::fesetround(host_rounding(rounding));
    changed_ = true;
  }
}

RoundingScope::~RoundingScope() {
  if (changed_) {
    std::fesetround(FE_TONEAREST);
  }
}

double half_to_double(uint16_t bits) {
  return widen(bits, kHalf);
}
double single_to_double(uint32_t bits) {
  // The host's conversion is exact, but makes a signalling NaN quiet.
  return (bits & 0x7fff'ffff) > 0x7f80'0000 ? widen(bits, kSingle) : static_cast<double>(std::bit_cast<float>(bits));
}
uint16_t double_to_half(double value, Rounding rounding) {
  return static_cast<uint16_t>(narrow(value, kHalf, rounding));
}
uint32_t double_to_single(double value, Rounding rounding) {
  if (rounding == Rounding::nearest && !std::isnan(value)) {
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  }
  return static_cast<uint32_t>(narrow(value, kSingle, rounding));
}

double vf_to_double(uint8_t bits) {
  // A sign, three bits of exponent with a bias of 3 and four bits of fraction. If exponent and fraction are 0, the
  // value is a zero.
  const double sign = (bits & 0x80) != 0 ? -1.0 : 1.0;
  if ((bits & 0x7f) == 0) {
    return sign * 0.0;
  }
  return sign * std::ldexp(1.0 + static_cast<double>(bits & 0xf) / 16.0, ((bits >> 4) & 7) - 3);
}

double float_from_bits(Type type, uint64_t bits) {
  switch (type) {
    case Type::hf:
      return half_to_double(static_cast<uint16_t>(bits));
    case Type::df:
      return std::bit_cast<double>(bits);
    default:
      return single_to_double(static_cast<uint32_t>(bits));
  }
}

uint64_t float_to_bits(Type type, double value, Rounding rounding) {
  switch (type) {
    case Type::hf:
      return double_to_half(value, rounding);
    case Type::df:
      return std::bit_cast<uint64_t>(value);
    default:
      return double_to_single(value, rounding);
  }
}

double round_to(Type type, double value, Rounding rounding) {
  return float_from_bits(type, float_to_bits(type, value, rounding));
}

bool flushes(Type type, const FloatMode& mode) {
  switch (type) {
    case Type::hf:
      return mode.flush_half;
    case Type::df:
      return mode.flush_double;
    default:
      return mode.flush_single;
  }
}

double flush(Type type, double value) {
  const double smallest = type == Type::hf ? 0x1p-14 : type == Type::df ? DBL_MIN : static_cast<double>(FLT_MIN);
  return std::fabs(value) < smallest ? std::copysign(0.0, value) : value;
}

Wide int_from_bits(Type type, uint64_t bits) {
  const TypeTraits of = traits(type);
  switch (of.bytes) {
    case 1:
      return of.is_signed ? static_cast<Wide>(static_cast<int8_t>(bits)) : static_cast<Wide>(bits & 0xff);
    case 2:
      return of.is_signed ? static_cast<Wide>(static_cast<int16_t>(bits)) : static_cast<Wide>(bits & 0xffff);
    case 4:
      return of.is_signed ? static_cast<Wide>(static_cast<int32_t>(bits)) : static_cast<Wide>(bits & 0xffff'ffff);
    default:
      return of.is_signed ? static_cast<Wide>(static_cast<int64_t>(bits)) : static_cast<Wide>(bits);
  }
}

Wide lowest(Type type) {
  const TypeTraits of = traits(type);
  return of.is_signed ? -(static_cast<Wide>(1) << (of.bytes * 8 - 1)) : 0;
}

Wide highest(Type type) {
  const TypeTraits of = traits(type);
  return (static_cast<Wide>(1) << (of.bytes * 8 - (of.is_signed ? 1 : 0))) - 1;
}

Wide wrap(Type type, Wide value) {
  return int_from_bits(type, static_cast<uint64_t>(value));
}

Wide clamp(Type type, Wide value) {
  const Wide low = lowest(type);
  const Wide high = highest(type);
  return value < low ? low : value > high ? high : value;
}

Wide float_to_int(Type type, double value) {
  if (std::isnan(value)) {
    return 0;
  }
  const double whole = std::trunc(value);
  if (whole <= static_cast<double>(lowest(type))) {
    return lowest(type);
  }
  // A double may not represent the highest integer, so the value is compared with the next one, a power of two.
  const double beyond = std::ldexp(1.0, traits(type).bytes * 8 - (traits(type).is_signed ? 1 : 0));
  return whole >= beyond ? highest(type) : static_cast<Wide>(whole);
}

double int_to_float(Type type, Wide value, Rounding rounding) {
  if (value == 0) {
    return 0.0;
  }
  const bool negative = value < 0;
  UnsignedWide magnitude = negative ? -static_cast<UnsignedWide>(value) : static_cast<UnsignedWide>(value);
  // 62 bits, the last one sticky, are enough for a single rounding to double or a narrower type.
  int exponent = 0;
  while ((magnitude >> 62) != 0) {
    magnitude = (magnitude >> 1) | (magnitude & 1);
    ++exponent;
  }
  const RoundingScope scope(rounding);
  if (type == Type::df) {
    volatile int64_t signed_value = negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
    volatile double rounded = static_cast<double>(signed_value);
    return std::ldexp(rounded, exponent);
  }
  // 50 bits, the last one sticky, are exact in a double and enough for a single rounding to F or HF.
  while ((magnitude >> 50) != 0) {
    magnitude = (magnitude >> 1) | (magnitude & 1);
    ++exponent;
  }
  const double exact = std::ldexp(static_cast<double>(static_cast<int64_t>(magnitude)), exponent);
  return round_to(type, negative ? -exact : exact, rounding);
}

}  // namespace halogen::eu
