// Values of lanes: conversions, float modes. An integer of any type (and of the accumulator) is a Wide.
// A float of any type is a double, which represents HF, F and DF exactly, including the payloads of NaN.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "eu/isa/instruction.h"
#include "eu/isa/type_traits.h"

namespace halogen::eu {

static_assert(std::endian::native == std::endian::little, "registers are little-endian bytes");

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

enum class Rounding : uint8_t { nearest = 0, up = 1, down = 2, zero = 3 };

// The float modes of cr0.
struct FloatMode {
  Rounding rounding = Rounding::nearest;
  bool flush_half = true;
  bool flush_single = true;
  bool flush_double = true;
  bool alternate = false;  // no infinities, 0 * x is 0
  friend bool operator==(const FloatMode&, const FloatMode&) = default;
};

// Sets the host's rounding mode for its lifetime. Does nothing for rounding to nearest, the host's default.
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

// Return the exact value. A signalling NaN stays a signalling NaN.
double half_to_double(uint16_t bits);
double single_to_double(uint32_t bits);
// Return the bits of the rounded value. A NaN keeps the upper part of its payload.
uint16_t double_to_half(double value, Rounding rounding);
uint32_t double_to_single(double value, Rounding rounding);
double vf_to_double(uint8_t bits);

double float_from_bits(Type type, uint64_t bits);
uint64_t float_to_bits(Type type, double value, Rounding rounding);
// Returns the value rounded to the type.
double round_to(Type type, double value, Rounding rounding);
bool flushes(Type type, const FloatMode& mode);
double flush(Type type, double value);  // replaces denormals of the type by a zero of the same sign

Wide int_from_bits(Type type, uint64_t bits);
Wide lowest(Type type);
Wide highest(Type type);
Wide wrap(Type type, Wide value);
Wide clamp(Type type, Wide value);
// Converts a float to an integer: rounds toward zero and clamps to the type; NaN becomes 0.
Wide float_to_int(Type type, double value);
// Converts an integer to a float: rounds once, to the precision of the type.
double int_to_float(Type type, Wide value, Rounding rounding);

}  // namespace halogen::eu
