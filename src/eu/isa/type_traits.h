// The element types of operands: their size, and whether they are floats or signed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "eu/isa/instruction.h"

namespace halogen::eu {

struct TypeTraits {
  uint8_t bytes;
  bool is_float;
  bool is_signed;
};

// In the order of Type. NF is kept as F: the accumulator's extra mantissa is not modelled. The last three rows describe
// one element of a vector immediate.
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

}  // namespace halogen::eu
