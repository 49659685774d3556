// Properties of operations that are the same on every generation: class, number of values, effects on the accumulator.
// The data comes from spec/eu (eu/op_data.h is generated).
#pragma once

#include "eu/isa/instruction.h"
#include "eu/isa/operand_fields.h"
#include "eu/op_data.h"

namespace halogen::eu {

constexpr bool is_logic(Op op) {
  return op_traits(op).group == OpClass::logic;
}
constexpr bool is_send(Op op) {
  return op_traits(op).group == OpClass::send;
}

// Returns whether an instruction is a step of division or square root. Its elements are contiguous; the bits of access
// mode and regions hold the numbers of mme registers.
constexpr bool is_macro(const Instruction& in) {
  return op_traits(in.op).group == OpClass::macro || (in.op == Op::math && is_macro(in.math));
}

// Returns whether an operation computes values of its operands' types.
constexpr bool computes(Op op) {
  switch (op_traits(op).group) {
    case OpClass::move:
    case OpClass::select:
    case OpClass::logic:
    case OpClass::shift:
    case OpClass::compare:
    case OpClass::bits:
    case OpClass::arithmetic:
    case OpClass::function:
    case OpClass::group:
    case OpClass::macro:
      return true;
    case OpClass::mask:
    case OpClass::branch:
    case OpClass::send:
    case OpClass::wait:
    case OpClass::nothing:
    case OpClass::illegal:
      break;
  }
  return false;
}

// Returns whether an operation runs lane by lane: it computes values or moves mask registers.
constexpr bool runs_by_lanes(Op op) {
  return computes(op) || op_traits(op).group == OpClass::mask;
}

// Returns the number of sources that hold values. SMOV has a second source, which masks channels.
constexpr unsigned value_count(const Instruction& in) {
  return in.op == Op::math ? math_sources(in.math) : op_traits(in.op).values;
}

}  // namespace halogen::eu
