// Routines made of a load, an operation and a store over arrays of 32-bit or 64-bit elements, for scalars and operands
// with a constant stride.
#include "eu/exec/vector/loops.h"

#include "eu/exec/control/masks.h"
#include "eu/exec/general/operands.h"
#include "eu/exec/vector/routines.h"

namespace halogen::eu {

namespace {

using namespace loops;
using ir::Operation;

template <class Element, unsigned N>
Loops::Load integer_load(Type type) {
  switch (type) {
    case Type::ub:
      return load_integer<uint8_t, Element, N>;
    case Type::b:
      return load_integer<int8_t, Element, N>;
    case Type::uw:
      return load_integer<uint16_t, Element, N>;
    case Type::w:
      return load_integer<int16_t, Element, N>;
    case Type::ud:
      return load_integer<uint32_t, Element, N>;
    case Type::d:
      return load_integer<int32_t, Element, N>;
    case Type::uq:
      return sizeof(Element) == 8 ? load_integer<uint64_t, uint64_t, N> : nullptr;
    case Type::q:
      return sizeof(Element) == 8 ? load_integer<int64_t, uint64_t, N> : nullptr;
    default:
      return nullptr;
  }
}

template <class Element, unsigned N>
Loops::Load bits_load(Type type) {
  switch (traits(type).bytes) {
    case 1:
      return load_bits<uint8_t, Element, N>;
    case 2:
      return load_bits<uint16_t, Element, N>;
    case 4:
      return load_bits<uint32_t, Element, N>;
    default:
      return sizeof(Element) == 8 ? load_bits<uint64_t, uint64_t, N> : nullptr;
  }
}

template <class Element, unsigned N>
Loops::Store any_store(Type type) {
  switch (traits(type).bytes) {
    case 1:
      return store<uint8_t, Element, N>;
    case 2:
      return store<uint16_t, Element, N>;
    case 4:
      return store<uint32_t, Element, N>;
    default:
      return sizeof(Element) == 8 ? store<uint64_t, uint64_t, N> : nullptr;
  }
}

template <class Element, unsigned N>
Loops::Compute integer_compute(const ir::Lowered& lowered) {
  const TypeTraits first = traits(lowered.source[0].type);
  // If the target or source 0 has 64 bits, the shift count has six bits.
  const bool wide = traits(lowered.target.type).bytes == 8 || first.bytes == 8;
  constexpr unsigned kWide = sizeof(Element) == 8 ? 6 : 5;
  switch (lowered.compute.operation) {
    case Operation::copy:
    case Operation::convert:
      return integers<Move, Element, N>;
    case Operation::bit_not:
      return integers<Not, Element, N>;
    case Operation::bit_and:
      return integers<And, Element, N>;
    case Operation::bit_or:
      return integers<Or, Element, N>;
    case Operation::bit_xor:
      return integers<Xor, Element, N>;
    case Operation::add:
      return integers<Add, Element, N>;
    case Operation::multiply:
      return integers<Multiply, Element, N>;
    case Operation::add_product:
      return integers<MultiplyAdd, Element, N>;
    case Operation::shift_left:
      return wide ? integers<ShiftLeft<kWide>, Element, N> : integers<ShiftLeft<5>, Element, N>;
    case Operation::shift_right:
      return wide ? integers<ShiftRight<kWide>, Element, N> : integers<ShiftRight<5>, Element, N>;
    case Operation::rotate_left:
      return integers<RotateLeft, Element, N>;
    case Operation::rotate_right:
      return integers<RotateRight, Element, N>;
    case Operation::shift_arithmetic:
      if (!first.is_signed) {
        return wide ? integers<ShiftRight<kWide>, Element, N> : integers<ShiftRight<5>, Element, N>;
      }
      return wide ? integers<ShiftArithmetic<kWide>, Element, N> : integers<ShiftArithmetic<5>, Element, N>;
    default:
      return nullptr;
  }
}

template <class T, class Element, unsigned N>
Loops::Compute compare_compute(Condition condition) {
  switch (condition) {
    case Condition::zero:
      return compares<T, Element, Condition::zero, N>;
    case Condition::not_zero:
      return compares<T, Element, Condition::not_zero, N>;
    case Condition::greater:
      return compares<T, Element, Condition::greater, N>;
    case Condition::greater_equal:
      return compares<T, Element, Condition::greater_equal, N>;
    case Condition::less:
      return compares<T, Element, Condition::less, N>;
    case Condition::less_equal:
      return compares<T, Element, Condition::less_equal, N>;
    default:
      return nullptr;
  }
}

template <class T, class Element, unsigned N>
Loops::Compute select_compute(const ir::Compute& compute) {
  switch (compute.relation) {
    case Condition::none:
      return selects<Element, N>;
    case Condition::greater_equal:
      return extremes<T, Element, Condition::greater_equal, N>;
    case Condition::less:
      return extremes<T, Element, Condition::less, N>;
    default:
      return nullptr;
  }
}

template <class Operation, class Element, unsigned N>
Loops::Compute fused_compute(const ir::Compute& compute) {
  if (!compute.fused) {
    return nullptr;
  }
#ifdef __x86_64__
  if (__builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0) {
    return floats_fma<Operation, Element, N>;
  }
#endif
  return floats<Operation, Element, N>;
}

template <unsigned N>
Loops::Compute function_compute(MathFunction function) {
  switch (function) {
    case MathFunction::inverse:
      return functions<MathFunction::inverse, N>;
    case MathFunction::log2:
      return functions<MathFunction::log2, N>;
    case MathFunction::exp2:
      return functions<MathFunction::exp2, N>;
    case MathFunction::sqrt:
      return functions<MathFunction::sqrt, N>;
    case MathFunction::rsqrt:
      return functions<MathFunction::rsqrt, N>;
    case MathFunction::sin:
      return functions<MathFunction::sin, N>;
    case MathFunction::cos:
      return functions<MathFunction::cos, N>;
    case MathFunction::divide:
      return functions<MathFunction::divide, N>;
    case MathFunction::power:
      return functions<MathFunction::power, N>;
    default:
      return nullptr;
  }
}

template <class Element, unsigned N>
Loops::Compute float_compute(const ir::Compute& compute) {
  using Real = typename RealOf<Element>::Real;
  switch (compute.operation) {
    case Operation::copy:
    case Operation::convert:
      return integers<Move, Element, N>;
    case Operation::add:
      return floats<FloatAdd, Element, N>;
    case Operation::multiply:
      return floats<FloatMultiply, Element, N>;
    case Operation::add_product:
      return fused_compute<FloatAddProduct, Element, N>(compute);
    case Operation::product_add:
      return fused_compute<FloatProductAdd, Element, N>(compute);
    case Operation::compare:
      return compare_compute<Real, Element, N>(compute.relation);
    case Operation::select:
    case Operation::select_related:
      return select_compute<Real, Element, N>(compute);
    case Operation::function:
      return sizeof(Element) == 4 ? function_compute<N>(compute.function) : nullptr;
    default:
      return nullptr;
  }
}

// Drops the bits that an integer kept above its accumulator element: a float has overwritten the element.
void forget_extensions(Thread& thread, const ir::Access& to, uint32_t mask) {
  if ((thread.extension[0].valid | thread.extension[1].valid) == 0) {
    return;
  }
  const size_t first = static_cast<size_t>(to.base) - offsetof(Thread, accumulator);
  for (; mask != 0; mask &= mask - 1) {
    const size_t offset = first + static_cast<size_t>(std::countr_zero(mask)) * static_cast<size_t>(to.step);
    uint32_t bits = 0;
    std::memcpy(&bits, thread.accumulator.data() + offset, sizeof(bits));
    set_accumulator_bits(thread, static_cast<int32_t>(offset), sizeof(bits), bits);
  }
}

template <class Element, unsigned N>
Step run_loops(Frame& frame, const Prepared& prepared) {
  const Loops& parts = prepared.loops;
  const ir::Lowered& lowered = prepared.lowered;
  if (parts.has_modes && (frame.mode.rounding != Rounding::nearest || frame.mode.alternate)) {
    return prepared.handler(frame, prepared);
  }
  const uint32_t enabled = enabled_lanes(frame, lowered.mask);
  const uint32_t chosen = predicate_lanes(frame.thread, lowered.mask);
  const bool selects = lowered.mask.predicate_selects;
  const uint32_t mask = selects ? enabled : enabled & chosen;
  const bool flush = parts.is_double ? frame.mode.flush_double : frame.mode.flush_single;
  constexpr unsigned kSpace = N == 0 ? 4 : N;
  alignas(64) Element sources[3][kSpace];
  alignas(64) Element result[kSpace];
  const unsigned count = lowered.exec_size;
  auto* const thread = reinterpret_cast<std::byte*>(&frame.thread);
  for (unsigned i = 0; i < lowered.sources; ++i) {
    parts.load[i](thread, lowered.source[i], count, sources[i]);
  }
  for (unsigned i = lowered.sources; i < 3; ++i) {
    for (unsigned lane = 0; lane < kSpace; ++lane) {
      sources[i][lane] = 0;
    }
  }
  uint32_t truths = parts.compute(sources[0], sources[1], sources[2], result, count, flush, selects ? chosen : mask);
  if (parts.store != nullptr) {
    parts.store(thread, lowered.target.access, count, result, mask);
    if (lowered.target.file == ir::File::accumulator) {
      forget_extensions(frame.thread, lowered.target.access, mask);
    }
  }
  if (lowered.flag.kind != ir::FlagEffect::Kind::none) {
    if (parts.test != nullptr) {
      truths = parts.test(result, count, lowered.flag.condition);
    }
    write_flag(frame.thread, lowered, mask, truths);
  }
  return Step::next;
}

// How the integers of both sources can be compared: as signed or as unsigned elements, or not in one element.
enum class Signs : uint8_t { mixed, as_signed, as_unsigned };
Signs signs_of(const ir::Lowered& lowered, unsigned element_bytes) {
  bool some_signed = false;
  bool some_full_unsigned = false;
  for (unsigned i = 0; i < 2; ++i) {
    const TypeTraits of = traits(lowered.source[i].type);
    some_signed |= of.is_signed;
    some_full_unsigned |= !of.is_signed && of.bytes == element_bytes;
    if (!of.is_signed && lowered.source[i].modifier.negate) {
      return Signs::mixed;  // the negated value may not fit a signed element
    }
  }
  return !some_full_unsigned ? Signs::as_signed : some_signed ? Signs::mixed : Signs::as_unsigned;
}

bool is_plain_condition(Condition condition) {
  return condition >= Condition::zero && condition <= Condition::less_equal;
}

bool is_choice(Operation operation) {
  return operation == Operation::select || operation == Operation::select_related || operation == Operation::compare;
}

// Returns whether the element that is stored is the value that a condition modifier tests.
bool shows_result(Operation operation) {
  switch (operation) {
    case Operation::copy:
    case Operation::bit_not:
    case Operation::bit_and:
    case Operation::bit_or:
    case Operation::bit_xor:
    case Operation::shift_left:
    case Operation::shift_right:
    case Operation::shift_arithmetic:
      return true;
    default:
      return false;
  }
}

template <class Element, unsigned N>
bool bind_integer(const ir::Lowered& lowered, Loops& parts) {
  const Operation operation = lowered.compute.operation;
  const TypeTraits first = traits(lowered.source[0].type);
  const bool is_shift_right = operation == Operation::shift_right || operation == Operation::shift_arithmetic;
  for (unsigned i = 0; i < lowered.sources; ++i) {
    const ir::Source& source = lowered.source[i];
    parts.load[i] = integer_load<Element, N>(source.type);
    if (parts.load[i] == nullptr || (source.modifier.any() && !traits(source.type).is_signed && is_shift_right)) {
      return false;
    }
  }
  if (operation == Operation::shift_right && first.is_signed && first.bytes < sizeof(Element)) {
    return false;
  }
  if ((operation == Operation::rotate_left || operation == Operation::rotate_right) && first.bytes != sizeof(Element)) {
    return false;
  }
  using Signed = std::make_signed_t<Element>;
  if (is_choice(operation)) {
    const Signs signs = signs_of(lowered, sizeof(Element));
    if (operation == Operation::compare) {
      parts.compute = signs == Signs::as_signed     ? compare_compute<Signed, Element, N>(lowered.compute.relation)
                      : signs == Signs::as_unsigned ? compare_compute<Element, Element, N>(lowered.compute.relation)
                                                    : nullptr;
      return parts.compute != nullptr;
    }
    if (operation == Operation::select_related && signs == Signs::mixed) {
      return false;
    }
    parts.compute = signs == Signs::as_unsigned ? select_compute<Element, Element, N>(lowered.compute)
                                                : select_compute<Signed, Element, N>(lowered.compute);
    return parts.compute != nullptr;
  }
  parts.compute = integer_compute<Element, N>(lowered);
  if (lowered.flag.kind != ir::FlagEffect::Kind::none) {
    const Type to = lowered.target.type;
    if (!shows_result(operation) || !is_plain_condition(lowered.flag.condition) ||
        traits(to).bytes != sizeof(Element)) {
      return false;
    }
    parts.test = traits(to).is_signed ? tests<Signed, Element, N> : tests<Element, Element, N>;
  }
  return parts.compute != nullptr;
}

template <class Element, unsigned N>
bool bind_float(const ir::Lowered& lowered, Loops& parts) {
  const Operation operation = lowered.compute.operation;
  for (unsigned i = 0; i < lowered.sources; ++i) {
    parts.load[i] = bits_load<Element, N>(lowered.source[i].type);
    // Accumulators that hold floats are handled as F only.
    if (lowered.source[i].file == ir::File::accumulator && sizeof(Element) != 4) {
      return false;
    }
  }
  if (lowered.target.file == ir::File::accumulator && sizeof(Element) != 4) {
    return false;
  }
  parts.has_modes = operation != Operation::copy && operation != Operation::convert && operation != Operation::select;
  parts.is_double = sizeof(Element) == 8;
  parts.compute = float_compute<Element, N>(lowered.compute);
  if (lowered.flag.kind == ir::FlagEffect::Kind::result || lowered.flag.kind == ir::FlagEffect::Kind::overflow) {
    if (!is_plain_condition(lowered.flag.condition)) {
      return false;
    }
    parts.test = tests<typename RealOf<Element>::Real, Element, N>;
  }
  return parts.compute != nullptr;
}

template <unsigned N>
bool bind_from_integer(const ir::Lowered& lowered, Loops& parts) {
  const ir::Source& source = lowered.source[0];
  if (source.modifier.any() && !traits(source.type).is_signed) {
    return false;
  }
  parts.has_modes = true;
  parts.load[0] = integer_load<uint32_t, N>(source.type);
  parts.compute = source.type == Type::ud ? to_single<uint32_t, N> : to_single<int32_t, N>;
  return lowered.flag.kind == ir::FlagEffect::Kind::none;
}

template <unsigned N>
bool bind_to_integer(const ir::Lowered& lowered, Loops& parts) {
  parts.has_modes = true;
  parts.load[0] = bits_load<uint32_t, N>(Type::f);
  switch (lowered.target.type) {
    case Type::ub:
      parts.compute = from_single<uint8_t, N>;
      break;
    case Type::b:
      parts.compute = from_single<int8_t, N>;
      break;
    case Type::uw:
      parts.compute = from_single<uint16_t, N>;
      break;
    case Type::w:
      parts.compute = from_single<int16_t, N>;
      break;
    case Type::ud:
      parts.compute = from_single<uint32_t, N>;
      break;
    case Type::d:
      parts.compute = from_single<int32_t, N>;
      break;
    default:
      return false;
  }
  return lowered.flag.kind == ir::FlagEffect::Kind::none;
}

template <unsigned N>
bool bind_width(Prepared& prepared) {
  const ir::Lowered& lowered = prepared.lowered;
  Loops parts;
  bool bound = false;
  bool wide = false;
  switch (shape_of(lowered).domain) {
    case Domain::bits32:
      parts.load[0] = bits_load<uint32_t, N>(lowered.source[0].type);
      parts.compute = integers<Move, uint32_t, N>;
      bound = true;
      break;
    case Domain::bits64:
      parts.load[0] = bits_load<uint64_t, N>(lowered.source[0].type);
      parts.compute = integers<Move, uint64_t, N>;
      bound = wide = true;
      break;
    case Domain::i32:
      bound = bind_integer<uint32_t, N>(lowered, parts);
      break;
    case Domain::i64:
      wide = true;
      bound = bind_integer<uint64_t, N>(lowered, parts);
      break;
    case Domain::f32:
      bound = bind_float<uint32_t, N>(lowered, parts);
      break;
    case Domain::f64:
      wide = true;
      bound = bind_float<uint64_t, N>(lowered, parts);
      break;
    case Domain::from_integer:
      bound = bind_from_integer<N>(lowered, parts);
      break;
    case Domain::to_integer:
      bound = bind_to_integer<N>(lowered, parts);
      break;
    case Domain::mixed:
      break;
  }
  if (!bound) {
    return false;
  }
  if (lowered.target.file != ir::File::none) {
    const Type to = lowered.target.type;
    parts.store = wide ? any_store<uint64_t, N>(to) : any_store<uint32_t, N>(to);
    if (parts.store == nullptr) {
      return false;
    }
  }
  prepared.loops = parts;
  prepared.fast = wide ? run_loops<uint64_t, N> : run_loops<uint32_t, N>;
  return true;
}

}  // namespace

bool bind_loops(Prepared& prepared) {
  switch (prepared.lowered.exec_size) {
    case 1:
    case 2:
    case 4:
      return bind_width<0>(prepared);
    case 8:
      return bind_width<8>(prepared);
    case 16:
      return bind_width<16>(prepared);
    case 32:
      return bind_width<32>(prepared);
    default:
      return false;
  }
}

}  // namespace halogen::eu
