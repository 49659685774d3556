// Numbers as lanes hold them: element types, exact values, conversions, float modes. An integer of any type (and of the
// accumulator) is a Wide, a float of any type is a double, which holds HF, F and DF exactly, payloads of NaN included.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
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

// By the order of Type. NF is kept as F: the accumulator's extra mantissa is not modelled. The last three are what an
// element of a vector immediate is.
inline constexpr std::array kTypeTraits{
    TypeTraits{1, false, false},  // ub
    TypeTraits{1, false, true},   // b
    TypeTraits{2, false, false},  // uw
    TypeTraits{2, false, true},   // w
    TypeTraits{4, false, false},  // ud
    TypeTraits{4, false, true},   // d
    TypeTraits{8, false, false},  // uq
    TypeTraits{8, false, true},   // q
    TypeTraits{2, true, true},    // hf
    TypeTraits{4, true, true},    // f
    TypeTraits{8, true, true},    // df
    TypeTraits{4, true, true},    // nf
    TypeTraits{2, false, true},   // v
    TypeTraits{2, false, false},  // uv
    TypeTraits{4, true, true}     // vf
};
static_assert(kTypeTraits.size() == static_cast<size_t>(Type::vf) + 1);

constexpr TypeTraits traits(Type type) {
  return kTypeTraits[static_cast<size_t>(type)];
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
