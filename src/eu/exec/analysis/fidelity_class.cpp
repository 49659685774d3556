#include "eu/exec/analysis/fidelity_class.h"

#include "eu/exec/general/math.h"
#include "eu/ir/op_traits.h"

namespace halogen::eu {

namespace {

InstructionClass approximate(std::string_view reason) {
  return {FidelityClass::approximate, reason};
}

InstructionClass class_of_math(const Instruction& in) {
  for (const MathBound& bound : math_bounds()) {
    if (bound.function == in.math) {
      return approximate(bound.hardware);
    }
  }
  switch (in.math) {
    case MathFunction::int_divide_both:
    case MathFunction::int_quotient:
    case MathFunction::int_remainder:
      return {};
    default:
      return {FidelityClass::unsupported, "math function not implemented; result is 0"};
  }
}

bool only_floor(ir::Operation operation) {
  return operation == ir::Operation::floor_for_ceiling || operation == ir::Operation::floor_for_nearest ||
         operation == ir::Operation::floor_for_truncate;
}

bool is_float(const Operand& operand) {
  return traits(operand.type).is_float;
}

bool names(const Prepared& prepared, Arf which) {
  const Instruction& in = prepared.in;
  for (unsigned i = 0; i < value_count(in); ++i) {
    if (in.src[i].is_arf(which) && !in.src[i].indirect) {
      return true;
    }
  }
  return false;
}

bool has_type(const Prepared& prepared, Type type) {
  const Instruction& in = prepared.in;
  for (unsigned i = 0; i < value_count(in); ++i) {
    if (in.src[i].type == type) {
      return true;
    }
  }
  return in.dst.type == type;
}

// Returns the class that the operands cause: some registers hold fewer bits, or other values, than in hardware.
InstructionClass class_of_operands(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  if (has_type(prepared, Type::nf)) {
    return approximate("NF stored as F; extra mantissa bits of the accumulator not modelled");
  }
  if (names(prepared, Arf::timestamp)) {
    return approximate("timestamp counts the thread's instructions, not cycles");
  }
  if (names(prepared, Arf::flow_control)) {
    return approximate("flow control registers hold the active channels only");
  }
  const bool float_accumulator = traits(prepared.lowered.compute.type).is_float &&
                                 (names(prepared, Arf::accumulator) || in.op == Op::mac) &&
                                 prepared.lowered.compute.type != Type::df;
  if (float_accumulator) {
    return approximate("accumulator floats stored with the mantissa of their type; hardware keeps more bits");
  }
  if (in.saturate && in.condition != Condition::none && in.op != Op::sel && in.op != Op::csel) {
    return approximate("condition tests the saturated result; public sources give two readings");
  }
  if (prepared.lowered.compute.type == Type::f && !prepared.lowered.compute.fused && in.op == Op::mad) {
    return approximate("product kept in double precision; hardware precision not published");
  }
  // Mixed mode: operands of F and of HF.
  bool half = in.dst.type == Type::hf;
  bool single = in.dst.type == Type::f;
  for (unsigned i = 0; i < value_count(in); ++i) {
    half |= in.src[i].type == Type::hf;
    single |= in.src[i].type == Type::f;
  }
  const OpClass group = op_traits(in.op).group;
  const bool rounds = group == OpClass::arithmetic || group == OpClass::group || group == OpClass::macro;
  if (half && single && rounds && in.dst.type == Type::hf) {
    return approximate("result rounded to F, then to HF; hardware may round once");
  }
  return {};
}

}  // namespace

InstructionClass class_of(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  switch (in.op) {
    case Op::math:
      return class_of_math(in);
    case Op::madm:
      return approximate("exact at the end of a macro; bits below the mantissa of a step may differ from hardware");
    case Op::dp4:
    case Op::dph:
    case Op::dp3:
    case Op::dp2:
    case Op::line:
    case Op::pln:
    case Op::lrp:
      return approximate("sum in double precision, rounded once; within 1 ulp of the largest term");
    case Op::smov:
    case Op::movi:
    case Op::msave:
    case Op::mrest:
    case Op::push:
    case Op::pop:
      return approximate("meaning taken from compilers, not from a specification");
    case Op::rndu:
    case Op::rnde:
    case Op::rndz:
      if (only_floor(prepared.lowered.compute.operation)) {
        return approximate("floor with a flag for the increment; not documented for RNDU");
      }
      break;
    case Op::brd:
    case Op::brc:
    case Op::call:
    case Op::calla:
    case Op::ret:
      return approximate("channels of the deepest call run first; hardware order of divergent calls not published");
    case Op::illegal:
    case Op::case_:
    case Op::fork:
      return {FidelityClass::unsupported, "operation illegal or not implemented; stops the thread"};
    default:
      break;
  }
  if (!computes(in.op)) {
    return {};
  }
  if (is_float(in.dst) || traits(prepared.lowered.compute.type).is_float || !in.dst.is_null()) {
    return class_of_operands(prepared);
  }
  return {};
}

}  // namespace halogen::eu
