// Numbers as lanes hold them: element types, exact values, conversions, float modes. An integer of any type (and of the
// accumulator) is a Wide, a float of any type is a double, which holds HF, F and DF exactly, payloads of NaN included.
#pragma once

#include <bit>
#include <cstdint>

#include "eu/isa/instruction.h"

namespace halogen::eu {

static_assert(std::endian::native == std::endian::little, "registers are little-endian bytes");

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

struct TypeTraits {
  uint8_t bytes;
  bool is_float;
  bool is_signed;
};

constexpr TypeTraits traits(Type type) {
  switch (type) {
    case Type::ub:
      return {1, false, false};
    case Type::b:
      return {1, false, true};
    case Type::uw:
      return {2, false, false};
    case Type::w:
      return {2, false, true};
    case Type::ud:
      return {4, false, false};
    case Type::d:
      return {4, false, true};
    case Type::uq:
      return {8, false, false};
    case Type::q:
      return {8, false, true};
    case Type::hf:
      return {2, true, true};
    case Type::f:
    case Type::nf:  // kept as F: the accumulator's extra mantissa is not modelled
      return {4, true, true};
    case Type::df:
      return {8, true, true};
    case Type::v:  // what an element of a vector immediate is
      return {2, false, true};
    case Type::uv:
      return {2, false, false};
    case Type::vf:
      return {4, true, true};
  }
  return {4, false, false};
}

enum class Rounding : uint8_t { nearest = 0, up = 1, down = 2, zero = 3 };

// What cr0 says about floats.
struct FloatMode {
  Rounding rounding = Rounding::nearest;
  bool flush_half = true;
  bool flush_single = true;
  bool flush_double = true;
  bool alternate = false;  // no infinities, 0 * x is 0
  friend bool operator==(const FloatMode&, const FloatMode&) = default;
};

// Sets the host's rounding while it lives. Nearest costs nothing.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding);
  ~RoundingScope();
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  bool changed_ = false;
};

inline constexpr uint64_t kDefaultNan = 0xfff8'0000'0000'0000;  // FFC00000 as F
inline double default_nan() {
  return std::bit_cast<double>(kDefaultNan);
}
inline double quiet(double nan) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(nan) | (uint64_t{1} << 51));
}

// Exact. A signalling NaN stays one.
double half_to_double(uint16_t bits);
double single_to_double(uint32_t bits);
// A NaN keeps the upper part of its payload.
uint16_t double_to_half(double value, Rounding rounding);
uint32_t double_to_single(double value, Rounding rounding);
double vf_to_double(uint8_t bits);

double float_from_bits(Type type, uint64_t bits);
uint64_t float_to_bits(Type type, double value, Rounding rounding);
// Rounded to the type and back.
double round_to(Type type, double value, Rounding rounding);
bool flushes(Type type, const FloatMode& mode);
double flush(Type type, double value);  // denormals of the type become a zero of the same sign

Wide int_from_bits(Type type, uint64_t bits);
Wide lowest(Type type);
Wide highest(Type type);
Wide wrap(Type type, Wide value);
Wide clamp(Type type, Wide value);
// Toward zero, clamped; NaN is 0.
Wide float_to_int(Type type, double value);
// Rounded once, to the precision of the float type, as a double.
double int_to_float(Type type, Wide value, Rounding rounding);

}  // namespace halogen::eu
