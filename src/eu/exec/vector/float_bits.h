// Floats as bits: constants and tests for elements of 32 or 64 bits, for specialised routines.
#pragma once

#include <bit>
#include <cstdint>

namespace halogen::eu {

template <class Element>
struct RealOf;
template <>
struct RealOf<uint32_t> {
  using Real = float;
  static constexpr uint32_t kSign = 0x8000'0000;
  static constexpr uint32_t kExponent = 0x7f80'0000;
  static constexpr uint32_t kQuiet = 0x0040'0000;
  static constexpr uint32_t kDefaultNan = 0xffc0'0000;
};
template <>
struct RealOf<uint64_t> {
  using Real = double;
  static constexpr uint64_t kSign = 0x8000'0000'0000'0000;
  static constexpr uint64_t kExponent = 0x7ff0'0000'0000'0000;
  static constexpr uint64_t kQuiet = 0x0008'0000'0000'0000;
  static constexpr uint64_t kDefaultNan = 0xfff8'0000'0000'0000;
};

template <class Element>
constexpr Element flushed(Element bits) {
  return (bits & RealOf<Element>::kExponent) == 0 ? bits & RealOf<Element>::kSign : bits;
}

template <class Element>
constexpr bool is_nan(Element bits) {
  return (bits & ~RealOf<Element>::kSign) > RealOf<Element>::kExponent;
}

template <class Element>
typename RealOf<Element>::Real real(Element bits) {
  return std::bit_cast<typename RealOf<Element>::Real>(bits);
}

template <class Element>
Element bits_of(typename RealOf<Element>::Real value) {
  return std::bit_cast<Element>(value);
}

// Returns the first NaN of the sources, made quiet. If no source is NaN, returns the default NaN.
template <class Element>
Element nan_of(Element a, Element b, Element c, unsigned sources) {
  if (is_nan(a)) {
    return a | RealOf<Element>::kQuiet;
  }
  if (sources > 1 && is_nan(b)) {
    return b | RealOf<Element>::kQuiet;
  }
  if (sources > 2 && is_nan(c)) {
    return c | RealOf<Element>::kQuiet;
  }
  return RealOf<Element>::kDefaultNan;
}

}  // namespace halogen::eu
