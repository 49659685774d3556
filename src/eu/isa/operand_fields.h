// The fields of each operand, so that the same code handles destination and sources.
#pragma once

#include <array>

#include "eu/isa/tables.h"

namespace halogen::eu {

struct OperandFields {
  Field file, type, reg, sub, address_mode, address_sub, address_offset, address_offset16, sub16, horizontal;
};

struct SourceFields {
  OperandFields common;
  Field immediate, negate, absolute, width, vertical, swizzle;
};

inline constexpr OperandFields kDst = {Field::dst_file,
                                       Field::dst_type,
                                       Field::dst_reg,
                                       Field::dst_sub,
                                       Field::dst_address_mode,
                                       Field::dst_address_sub,
                                       Field::dst_address_offset,
                                       Field::dst_address_offset16,
                                       Field::dst_sub16,
                                       Field::dst_horizontal};

inline constexpr std::array<SourceFields, 2> kSources = {{
    {{Field::src0_file, Field::src0_type, Field::src0_reg, Field::src0_sub, Field::src0_address_mode,
      Field::src0_address_sub, Field::src0_address_offset, Field::src0_address_offset16, Field::src0_sub16,
      Field::src0_horizontal},
     Field::src0_immediate,
     Field::src0_negate,
     Field::src0_absolute,
     Field::src0_width,
     Field::src0_vertical,
     Field::src0_swizzle},
    {{Field::src1_file, Field::src1_type, Field::src1_reg, Field::src1_sub, Field::src1_address_mode,
      Field::src1_address_sub, Field::src1_address_offset, Field::src1_address_offset16, Field::src1_sub16,
      Field::src1_horizontal},
     Field::src1_immediate,
     Field::src1_negate,
     Field::src1_absolute,
     Field::src1_width,
     Field::src1_vertical,
     Field::src1_swizzle},
}};

// Sources of three-source forms. kNoField stands for fields that a source lacks.
struct TernaryFields {
  Field reg, sub, sub4, file, type, half, immediate, value, vertical, horizontal, negate, absolute, replicate, swizzle,
      macro;
};

inline constexpr Field kNoField = Field::opcode;  // not a field of an operand

inline constexpr std::array<TernaryFields, 3> kTernary = {{
    {Field::src0_reg, Field::src0_sub, Field::src0_sub4, Field::src0_file, Field::src0_type, kNoField,
     Field::src0_immediate, Field::src0_value, Field::src0_vertical, Field::src0_horizontal, Field::src0_negate,
     Field::src0_absolute, Field::src0_replicate, Field::src0_swizzle, Field::src0_macro},
    {Field::src1_reg, Field::src1_sub, Field::src1_sub4, Field::src1_file, Field::src1_type, Field::src1_half, kNoField,
     kNoField, Field::src1_vertical, Field::src1_horizontal, Field::src1_negate, Field::src1_absolute,
     Field::src1_replicate, Field::src1_swizzle, Field::src1_macro},
    {Field::src2_reg, Field::src2_sub, Field::src2_sub4, Field::src2_file, Field::src2_type, Field::src2_half,
     Field::src2_immediate, Field::src2_value, kNoField, Field::src2_horizontal, Field::src2_negate,
     Field::src2_absolute, Field::src2_replicate, Field::src2_swizzle, Field::src2_macro},
}};

// Strides and widths by their code, the same on every generation.
inline constexpr std::array<uint8_t, 16> kVerticals = {0,     1,     2,     4,     8,     16,    32,    kNone,
                                                       kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
inline constexpr uint8_t kVerticalByAddress = 15;
inline constexpr std::array<uint8_t, 8> kWidths = {1, 2, 4, 8, 16, kNone, kNone, kNone};
inline constexpr std::array<uint8_t, 4> kHorizontals = {0, 1, 2, 4};

constexpr unsigned size_of(Type type) {
  switch (type) {
    case Type::ub:
    case Type::b:
      return 1;
    case Type::uw:
    case Type::w:
    case Type::hf:
    case Type::v:
    case Type::uv:
      return 2;
    case Type::ud:
    case Type::d:
    case Type::f:
    case Type::vf:
      return 4;
    case Type::uq:
    case Type::q:
    case Type::df:
    case Type::nf:
      return 8;
  }
  return 4;
}

// Returns the number of sources of a math function.
constexpr uint8_t math_sources(MathFunction function) {
  return (function >= MathFunction::divide && function <= MathFunction::inverse_macro) ? 2 : 1;
}
constexpr bool is_macro(MathFunction function) {
  return function == MathFunction::inverse_macro || function == MathFunction::rsqrt_macro;
}

}  // namespace halogen::eu
