#include "eu/exec/vector/fast.h"

#include "eu/exec/control/masks.h"
#include "eu/exec/vector/fast_operands.h"
#include "eu/exec/vector/fast_parts.h"
#include "eu/ir/op_traits.h"

namespace halogen::eu {

namespace {

using namespace fast;

enum class Domain : uint8_t { none, dword, qword, single, dbl };

template <class Lane, unsigned N>
FastPlan::Load integer_load(Type type) {
  switch (type) {
    case Type::ub:
      return load_integer<uint8_t, Lane, N>;
    case Type::b:
      return load_integer<int8_t, Lane, N>;
    case Type::uw:
      return load_integer<uint16_t, Lane, N>;
    case Type::w:
      return load_integer<int16_t, Lane, N>;
    case Type::ud:
      return load_integer<uint32_t, Lane, N>;
    case Type::d:
      return load_integer<int32_t, Lane, N>;
    case Type::uq:
      return sizeof(Lane) == 8 ? load_integer<uint64_t, uint64_t, N> : nullptr;
    case Type::q:
      return sizeof(Lane) == 8 ? load_integer<int64_t, uint64_t, N> : nullptr;
    default:
      return nullptr;
  }
}

template <class Lane, unsigned N>
FastPlan::Load bits_load(Type type) {
  switch (traits(type).bytes) {
    case 1:
      return load_bits<uint8_t, Lane, N>;
    case 2:
      return load_bits<uint16_t, Lane, N>;
    case 4:
      return load_bits<uint32_t, Lane, N>;
    default:
      return sizeof(Lane) == 8 ? load_bits<uint64_t, uint64_t, N> : nullptr;
  }
}

template <class Lane, unsigned N>
FastPlan::Store any_store(Type type) {
  switch (traits(type).bytes) {
    case 1:
      return store<uint8_t, Lane, N>;
    case 2:
      return store<uint16_t, Lane, N>;
    case 4:
      return store<uint32_t, Lane, N>;
    default:
      return sizeof(Lane) == 8 ? store<uint64_t, uint64_t, N> : nullptr;
  }
}

template <class Lane, unsigned N>
FastPlan::Compute integer_compute(Op op, bool wide_shift, bool signed_shift) {
  switch (op) {
    case Op::mov:
      return integers<Move, Lane, N>;
    case Op::not_:
      return integers<Not, Lane, N>;
    case Op::and_:
      return integers<And, Lane, N>;
    case Op::or_:
      return integers<Or, Lane, N>;
    case Op::xor_:
      return integers<Xor, Lane, N>;
    case Op::add:
      return integers<Add, Lane, N>;
    case Op::mul:
      return integers<Multiply, Lane, N>;
    case Op::mad:
      return integers<MultiplyAdd, Lane, N>;
    case Op::shl:
      return wide_shift ? integers<ShiftLeft<sizeof(Lane) == 8 ? 6 : 5>, Lane, N> : integers<ShiftLeft<5>, Lane, N>;
    case Op::shr:
      return wide_shift ? integers<ShiftRight<sizeof(Lane) == 8 ? 6 : 5>, Lane, N> : integers<ShiftRight<5>, Lane, N>;
    case Op::rol:
      return integers<RotateLeft, Lane, N>;
    case Op::ror:
      return integers<RotateRight, Lane, N>;
    case Op::asr:
      if (!signed_shift) {
        return wide_shift ? integers<ShiftRight<sizeof(Lane) == 8 ? 6 : 5>, Lane, N> : integers<ShiftRight<5>, Lane, N>;
      }
      return wide_shift ? integers<ShiftArithmetic<sizeof(Lane) == 8 ? 6 : 5>, Lane, N>
                        : integers<ShiftArithmetic<5>, Lane, N>;
    default:
      return nullptr;
  }
}

template <class T, class Lane, unsigned N>
FastPlan::Compute compare_compute(Condition condition) {
  switch (condition) {
    case Condition::zero:
      return compares<T, Lane, Condition::zero, N>;
    case Condition::not_zero:
      return compares<T, Lane, Condition::not_zero, N>;
    case Condition::greater:
      return compares<T, Lane, Condition::greater, N>;
    case Condition::greater_equal:
      return compares<T, Lane, Condition::greater_equal, N>;
    case Condition::less:
      return compares<T, Lane, Condition::less, N>;
    case Condition::less_equal:
      return compares<T, Lane, Condition::less_equal, N>;
    default:
      return nullptr;
  }
}

template <class T, class Lane, unsigned N>
FastPlan::Compute select_compute(const Instruction& in) {
  switch (in.condition) {
    case Condition::none:
      return selects<Lane, N>;
    case Condition::greater_equal:
      return extremes<T, Lane, Condition::greater_equal, N>;
    case Condition::less:
      return extremes<T, Lane, Condition::less, N>;
    default:
      return nullptr;
  }
}

template <class Lane, unsigned N>
FastPlan::Compute float_compute(Op op, const EuRules& rules) {
  switch (op) {
    case Op::add:
      return floats<FloatAdd, Lane, N>;
    case Op::mul:
      return floats<FloatMultiply, Lane, N>;
    case Op::mad:
      if (!rules.fused_mad) {
        return nullptr;
      }
#ifdef __x86_64__
      if (__builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0) {
        return floats_fma<FloatFused, Lane, N>;
      }
#endif
      return floats<FloatFused, Lane, N>;
    default:
      return nullptr;
  }
}

template <class Lane, unsigned N>
Step run_fast(Frame& frame, const Prepared& prepared) {
  const FastPlan& plan = prepared.plan;
  if (plan.is_float && (frame.mode.rounding != Rounding::nearest || frame.mode.alternate)) {
    return prepared.handler(frame, prepared);
  }
  const uint32_t enabled = enabled_lanes(frame, prepared);
  uint32_t chosen = prepared.lanes;
  if (prepared.in.predicate != Predicate::none) {
    chosen = predicate_lanes(frame, prepared);
  }
  const uint32_t mask = plan.chooses ? enabled : enabled & chosen;
  const bool flush = plan.is_double ? frame.mode.flush_double : frame.mode.flush_single;
  constexpr unsigned kSpace = N == 0 ? 4 : N;
  alignas(64) Lane sources[3][kSpace];
  alignas(64) Lane result[kSpace];
  const unsigned count = prepared.in.exec_size;
  auto* registers = reinterpret_cast<std::byte*>(&frame.thread);
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    plan.load[i](registers, plan.source[i], count, sources[i]);
  }
  for (unsigned i = prepared.source_count; i < 3; ++i) {
    for (unsigned lane = 0; lane < kSpace; ++lane) {
      sources[i][lane] = 0;
    }
  }
  uint32_t truths = plan.compute(sources[0], sources[1], sources[2], result, count, flush, chosen);
  if (plan.store != nullptr) {
    plan.store(registers, plan.destination, count, result, mask);
    if (lies_in_accumulator(plan.destination)) {
      forget_extensions(frame.thread, plan.destination, mask);
    }
  }
  if (prepared.in.condition != Condition::none && !plan.chooses) {
    if (plan.test != nullptr) {
      truths = plan.test(result, count, prepared.in.condition);
    }
    write_flag(frame, prepared, mask, truths);
  }
  return Step::next;
}

Domain domain_of(const Prepared& prepared) {
  const Instruction& in = prepared.in;
  bool has_qword = traits(in.dst.type).bytes == 8;
  bool all_integer = !traits(in.dst.type).is_float;
  bool all_single = in.dst.type == Type::f;
  bool all_double = in.dst.type == Type::df;
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    const TypeTraits of = traits(in.src[i].type);
    has_qword |= of.bytes == 8;
    all_integer &= !of.is_float;
    all_single &= in.src[i].type == Type::f;
    all_double &= in.src[i].type == Type::df;
  }
  // A comparison's destination takes part in nothing.
  if (in.op == Op::cmp) {
    const bool f = in.src[0].type == Type::f && in.src[1].type == Type::f;
    const bool integer = !traits(in.src[0].type).is_float && !traits(in.src[1].type).is_float;
    return f && traits(in.dst.type).bytes == 4 ? Domain::single : integer && !has_qword ? Domain::dword : Domain::none;
  }
  return all_integer  ? (has_qword ? Domain::qword : Domain::dword)
         : all_single ? Domain::single
         : all_double ? Domain::dbl
                      : Domain::none;
}

// Whether integers of both sources can be compared as signed or as unsigned lanes.
enum class Signs : uint8_t { mixed, as_signed, as_unsigned };
Signs signs_of(const Instruction& in, unsigned lane_bytes) {
  bool some_signed = false;
  bool some_full_unsigned = false;
  for (unsigned i = 0; i < 2; ++i) {
    const TypeTraits of = traits(in.src[i].type);
    some_signed |= of.is_signed;
    some_full_unsigned |= !of.is_signed && of.bytes == lane_bytes;
    if (!of.is_signed && in.src[i].negate && in.src[i].file != File::immediate) {
      return Signs::mixed;  // a negative number beyond the lane
    }
  }
  return !some_full_unsigned ? Signs::as_signed : some_signed ? Signs::mixed : Signs::as_unsigned;
}

bool is_plain_condition(Condition condition) {
  return condition >= Condition::zero && condition <= Condition::less_equal && condition != Condition::none;
}

template <class Lane, unsigned N>
bool plan_integer(Prepared& prepared, const EuRules& rules) {
  const Instruction& in = prepared.in;
  FastPlan& plan = prepared.plan;
  const bool wide_shift = traits(in.dst.type).bytes == 8 || traits(in.src[0].type).bytes == 8;
  const TypeTraits first = traits(in.src[0].type);
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    const Operand& source = in.src[i];
    const bool modified = (source.negate || source.absolute) && source.file != File::immediate;
    if (is_logic(in.op) && rules.logic_negate_is_not) {
      if (modified) {
        return false;
      }
      plan.load[i] = integer_load<Lane, N>(source.type);
    } else {
      plan.source[i].negate = modified && source.negate;
      plan.source[i].absolute = modified && source.absolute;
      plan.load[i] = integer_load<Lane, N>(source.type);
    }
    if (plan.load[i] == nullptr) {
      return false;
    }
    if (modified && !traits(source.type).is_signed && (in.op == Op::asr || in.op == Op::shr)) {
      return false;
    }
  }
  if (in.op == Op::shr && (first.is_signed && first.bytes < sizeof(Lane))) {
    return false;
  }
  if ((in.op == Op::rol || in.op == Op::ror) && (first.bytes != sizeof(Lane) || in.condition != Condition::none)) {
    return false;
  }
  if (in.op == Op::mul && rules.dword_multiply != DwordMultiply::full && first.bytes == 4 &&
      traits(in.src[1].type).bytes == 4) {
    return false;
  }
  const Signs signs = signs_of(in, sizeof(Lane));
  using Signed = std::make_signed_t<Lane>;
  if (in.op == Op::cmp) {
    plan.compute = signs == Signs::as_signed     ? compare_compute<Signed, Lane, N>(in.condition)
                   : signs == Signs::as_unsigned ? compare_compute<Lane, Lane, N>(in.condition)
                                                 : nullptr;
  } else if (in.op == Op::sel) {
    if (in.condition != Condition::none && signs == Signs::mixed) {
      return false;
    }
    plan.chooses = true;
    plan.compute =
        signs == Signs::as_unsigned ? select_compute<Lane, Lane, N>(in) : select_compute<Signed, Lane, N>(in);
  } else {
    plan.compute = integer_compute<Lane, N>(in.op, wide_shift, first.is_signed);
    if (in.condition != Condition::none) {
      const bool sees_result =
          is_logic(in.op) || in.op == Op::shl || in.op == Op::shr || in.op == Op::asr || prepared.raw_move;
      if (!sees_result || !is_plain_condition(in.condition) || traits(in.dst.type).bytes != sizeof(Lane)) {
        return false;
      }
      plan.test = traits(in.dst.type).is_signed ? tests<Signed, Lane, N> : tests<Lane, Lane, N>;
    }
  }
  return plan.compute != nullptr;
}

template <class Lane, unsigned N>
bool plan_float(Prepared& prepared, const EuRules& rules) {
  const Instruction& in = prepared.in;
  FastPlan& plan = prepared.plan;
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    const Operand& source = in.src[i];
    if (source.file != File::immediate) {
      plan.source[i].clear = source.absolute ? RealOf<Lane>::kSign : 0;
      plan.source[i].turn = source.negate ? RealOf<Lane>::kSign : 0;
    }
    plan.load[i] = bits_load<Lane, N>(source.type);
  }
  plan.is_float = in.op != Op::mov && !(in.op == Op::sel && in.condition == Condition::none);
  plan.is_double = sizeof(Lane) == 8;
  using Real = typename RealOf<Lane>::Real;
  if (in.op == Op::cmp) {
    plan.compute = rules.convert_before_compare ? nullptr : compare_compute<Real, Lane, N>(in.condition);
  } else if (in.op == Op::sel) {
    plan.chooses = true;
    plan.compute = select_compute<Real, Lane, N>(in);
  } else {
    plan.compute = in.op == Op::mov ? integers<Move, Lane, N> : float_compute<Lane, N>(in.op, rules);
    if (in.condition != Condition::none) {
      if (!is_plain_condition(in.condition)) {
        return false;
      }
      plan.test = tests<Real, Lane, N>;
    }
  }
  return plan.compute != nullptr;
}

// Moves between integers of up to 32 bits and F.
template <unsigned N>
bool plan_conversion(Prepared& prepared) {
  const Instruction& in = prepared.in;
  FastPlan& plan = prepared.plan;
  if (in.op != Op::mov || in.condition != Condition::none) {
    return false;
  }
  const Operand& source = in.src[0];
  const bool modified = (source.negate || source.absolute) && source.file != File::immediate;
  plan.is_float = true;
  if (in.dst.type == Type::f && !traits(source.type).is_float && traits(source.type).bytes <= 4) {
    if (modified && !traits(source.type).is_signed) {
      return false;
    }
    plan.source[0].negate = modified && source.negate;
    plan.source[0].absolute = modified && source.absolute;
    plan.load[0] = integer_load<uint32_t, N>(source.type);
    plan.compute = source.type == Type::ud ? to_single<uint32_t, N> : to_single<int32_t, N>;
    return true;
  }
  if (source.type != Type::f) {
    return false;
  }
  plan.source[0].clear = modified && source.absolute ? RealOf<uint32_t>::kSign : 0;
  plan.source[0].turn = modified && source.negate ? RealOf<uint32_t>::kSign : 0;
  plan.load[0] = bits_load<uint32_t, N>(source.type);
  switch (in.dst.type) {
    case Type::ub:
      plan.compute = from_single<uint8_t, N>;
      break;
    case Type::b:
      plan.compute = from_single<int8_t, N>;
      break;
    case Type::uw:
      plan.compute = from_single<uint16_t, N>;
      break;
    case Type::w:
      plan.compute = from_single<int16_t, N>;
      break;
    case Type::ud:
      plan.compute = from_single<uint32_t, N>;
      break;
    case Type::d:
      plan.compute = from_single<int32_t, N>;
      break;
    default:
      return false;
  }
  return true;
}

template <unsigned N>
void plan_for(Prepared& prepared, const EuRules& rules) {
  const Instruction& in = prepared.in;
  const Domain domain = domain_of(prepared);
  const bool narrow = domain == Domain::dword || domain == Domain::single;
  bool planned = false;
  bool wide = false;
  if (prepared.raw_move) {
    // Any type: bits pass. A condition sees them in the destination's type.
    wide = traits(in.dst.type).bytes == 8;
    planned = in.condition == Condition::none;
    prepared.plan.load[0] = wide ? bits_load<uint64_t, N>(in.src[0].type) : bits_load<uint32_t, N>(in.src[0].type);
    prepared.plan.compute = wide ? integers<Move, uint64_t, N> : integers<Move, uint32_t, N>;
  }
  if (!planned) {
    switch (domain) {
      case Domain::dword:
        planned = plan_integer<uint32_t, N>(prepared, rules);
        break;
      case Domain::qword:
        wide = true;
        planned = plan_integer<uint64_t, N>(prepared, rules);
        break;
      case Domain::single:
        planned = plan_float<uint32_t, N>(prepared, rules);
        break;
      case Domain::dbl:
        wide = true;
        planned = plan_float<uint64_t, N>(prepared, rules);
        break;
      case Domain::none:
        planned = plan_conversion<N>(prepared);
        wide = false;
        break;
    }
  }
  if (!planned) {
    return;
  }
  if (!in.dst.is_null()) {
    prepared.plan.store = wide ? any_store<uint64_t, N>(in.dst.type) : any_store<uint32_t, N>(in.dst.type);
    if (prepared.plan.store == nullptr || (narrow && traits(in.dst.type).bytes == 8)) {
      return;
    }
  }
  prepared.fast = wide ? run_fast<uint64_t, N> : run_fast<uint32_t, N>;
}

}  // namespace

void choose_fast(Prepared& prepared, const EuRules& rules) {
  const Instruction& in = prepared.in;
  switch (in.op) {
    case Op::mov:
    case Op::sel:
    case Op::cmp:
    case Op::not_:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::shl:
    case Op::shr:
    case Op::asr:
    case Op::rol:
    case Op::ror:
      break;
    case Op::add:
    case Op::mul:
    case Op::mad:
      if (rules.implicit_accumulator_write) {
        return;
      }
      break;
    default:
      return;
  }
  if (in.saturate || in.accumulator_write || in.exec_size == 0 ||
      (in.op == Op::sel && in.condition != Condition::none && rules.select_writes_flag)) {
    return;
  }
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    if (!place_source(in, in.src[i], prepared.plan.source[i])) {
      return;
    }
  }
  if (!in.dst.is_null() && !place_destination(in, prepared.plan.destination)) {
    return;
  }
  // Accumulators that this generation does not have: only the general path knows what that means.
  const size_t end = offsetof(Thread, accumulator) + rules.accumulators * kGrfBytes;
  const auto beyond = [&](const FastOperand& operand) {
    return lies_in_accumulator(operand) &&
           operand.offset + static_cast<size_t>(operand.step) * (in.exec_size - 1u) + 4 > end;
  };
  if (beyond(prepared.plan.destination) || beyond(prepared.plan.source[0]) || beyond(prepared.plan.source[1]) ||
      beyond(prepared.plan.source[2])) {
    return;
  }
  switch (in.exec_size) {
    case 1:
    case 2:
    case 4:
      plan_for<0>(prepared, rules);
      break;
    case 8:
      plan_for<8>(prepared, rules);
      break;
    case 16:
      plan_for<16>(prepared, rules);
      break;
    case 32:
      plan_for<32>(prepared, rules);
      break;
    default:
      break;
  }
}

}  // namespace halogen::eu
