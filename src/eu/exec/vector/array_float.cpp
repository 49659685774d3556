// Float operations over lanes. Sources and results are doubles; the caller rounds to the execution type.
#include <bit>
#include <cmath>

#include "eu/exec/general/math.h"
#include "eu/exec/general/relation.h"
#include "eu/exec/general/rounding_ops.h"
#include "eu/exec/vector/arrays.h"

namespace halogen::eu {

namespace {

constexpr unsigned kBlock = 8;

template <class Function>
[[gnu::always_inline]] inline void each(unsigned count, Function function) {
  for (unsigned base = 0; base < count; base += kBlock) {
    for (unsigned i = 0; i < kBlock; ++i) {
      function(base + i);
    }
  }
}

void move(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  each(count, [&](unsigned i) { out.real[i] = a[i]; });
}

void add(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  each(count, [&](unsigned i) { out.real[i] = a[i] + b[i]; });
}

void multiply(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  each(count, [&](unsigned i) { out.real[i] = a[i] * b[i]; });
}

void interpolate(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  const double* c = source[2]->real;
  each(count, [&](unsigned i) {
    const double part = a[i] * b[i];
    const double rest = (1.0 - a[i]) * c[i];
    out.real[i] = part + rest;
  });
}

// The source that is added to the product: a + b * c has `first`, a * b + c has `last`.
enum class Addend : uint8_t { first, last };
template <Addend Which, class Function>
[[gnu::always_inline]] inline void each_product(ArrayValues* const* source, ArrayValues& out, unsigned count,
                                                Function function) {
  const double* const addend = source[Which == Addend::first ? 0 : 2]->real;
  const double* const a = source[Which == Addend::first ? 1 : 0]->real;
  const double* const b = source[Which == Addend::first ? 2 : 1]->real;
  each(count, [&](unsigned i) { out.real[i] = function(a[i], b[i], addend[i]); });
}

// Computes a product and a sum with one rounding. F is rounded here, because rounding through a double first would give
// other results.
template <Addend Which, Type Exec>
void fused(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  each_product<Which>(source, out, count, [](double a, double b, double c) {
    return Exec == Type::f
               ? static_cast<double>(std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)))
               : std::fma(a, b, c);
  });
}

#ifdef __x86_64__
template <Addend Which, Type Exec>
[[gnu::target("avx2,fma")]] void fused_by_host(ArrayContext&, ArrayValues* const* source, ArrayValues& out,
                                               unsigned count) {
  const double* const addend = source[Which == Addend::first ? 0 : 2]->real;
  const double* const a = source[Which == Addend::first ? 1 : 0]->real;
  const double* const b = source[Which == Addend::first ? 2 : 1]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = Exec == Type::f
                      ? static_cast<double>(__builtin_fmaf(static_cast<float>(a[i]), static_cast<float>(b[i]),
                                                           static_cast<float>(addend[i])))
                      : __builtin_fma(a[i], b[i], addend[i]);
  }
}
#endif

template <Addend Which>
ArrayCompute fused_products(Type type) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0) {
    return type == Type::f ? fused_by_host<Which, Type::f> : fused_by_host<Which, Type::df>;
  }
#endif
  return type == Type::f ? fused<Which, Type::f> : fused<Which, Type::df>;
}

// Computes a product and a sum that are not fused, so the product keeps double precision.
template <Addend Which>
void product_then_sum(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  each_product<Which>(source, out, count, [](double a, double b, double c) {
    const double product = a * b;
    return product + c;
  });
}

// Sums the first `Products` products of each group of four lanes.
template <unsigned Products, bool Homogeneous>
void dot(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  for (unsigned first = 0; first < count; first += 4) {
    double total = a[first] * b[first];
    for (unsigned i = 1; i < Products; ++i) {
      total = total + a[first + i] * b[first + i];
    }
    total = Homogeneous ? total + b[first + 3] : total;
    for (unsigned i = 0; i < 4; ++i) {
      out.real[first + i] = total;
    }
  }
}

// Sources of line: p, u, r (p u + r). Sources of plane: p, u, q, v, r (p u + q v + r).
void line(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  each(count, [&](unsigned i) {
    const double product = source[0]->real[i] * source[1]->real[i];
    out.real[i] = product + source[2]->real[i];
  });
}

void plane(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  each(count, [&](unsigned i) {
    const double first = source[0]->real[i] * source[1]->real[i];
    const double second = source[2]->real[i] * source[3]->real[i];
    const double both = first + second;
    out.real[i] = both + source[4]->real[i];
  });
}

template <ir::Operation Operation>
void round_values(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  each(count, [&](unsigned i) { out.real[i] = round_whole(Operation, a[i]).value; });
}

// Rounds toward zero, so that the fraction stays below one.
template <Type Exec>
void fraction_lanes(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = round_to(Exec, a[i] - std::floor(a[i]), Rounding::zero);
  }
}

template <MathFunction Function>
void math(ArrayContext&, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = math_function(Function, a[i], b[i], false);
  }
}

void compare_lanes(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  uint32_t truths = 0;
  for (unsigned i = 0; i < count; ++i) {
    const bool truth = relation(context.lowered.compute.relation, a[i], b[i]);
    out.integer[i] = truth ? -1 : 0;
    truths |= static_cast<uint32_t>(truth) << i;
  }
  context.truths = truths;
}

void select_lanes(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = ((context.chosen >> i) & 1) != 0 ? a[i] : b[i];
  }
}

double flushed(Type type, const FloatMode& mode, double value) {
  return flushes(type, mode) ? flush(type, value) : value;
}

template <Type Exec>
void extreme_lanes(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  uint32_t truths = 0;
  for (unsigned i = 0; i < count; ++i) {
    const bool first = relation(context.lowered.compute.relation, flushed(Exec, context.mode, a[i]),
                                flushed(Exec, context.mode, b[i]));
    out.real[i] = first ? a[i] : b[i];
    truths |= static_cast<uint32_t>(first) << i;
  }
  context.truths = truths;
}

template <Type Exec>
void conditional_lanes(ArrayContext& context, ArrayValues* const* source, ArrayValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  const double* c = source[2]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = relation(context.lowered.compute.relation, flushed(Exec, context.mode, c[i]), 0.0) ? a[i] : b[i];
  }
}

ArrayCompute math_lanes(MathFunction function) {
  switch (function) {
    case MathFunction::inverse:
      return math<MathFunction::inverse>;
    case MathFunction::log2:
      return math<MathFunction::log2>;
    case MathFunction::exp2:
      return math<MathFunction::exp2>;
    case MathFunction::sqrt:
      return math<MathFunction::sqrt>;
    case MathFunction::rsqrt:
      return math<MathFunction::rsqrt>;
    case MathFunction::sin:
      return math<MathFunction::sin>;
    case MathFunction::cos:
      return math<MathFunction::cos>;
    case MathFunction::divide:
      return math<MathFunction::divide>;
    case MathFunction::power:
      return math<MathFunction::power>;
    default:
      return nullptr;
  }
}

template <template <Type> class Of>
ArrayCompute by_type(Type type) {
  return type == Type::hf ? Of<Type::hf>::run : type == Type::f ? Of<Type::f>::run : Of<Type::df>::run;
}
template <Type Exec>
struct Fraction {
  static constexpr ArrayCompute run = fraction_lanes<Exec>;
};
template <Type Exec>
struct Extreme {
  static constexpr ArrayCompute run = extreme_lanes<Exec>;
};
template <Type Exec>
struct Conditional {
  static constexpr ArrayCompute run = conditional_lanes<Exec>;
};

}  // namespace

ArrayCompute float_arrays(const ir::Compute& compute) {
  using ir::Operation;
  switch (compute.operation) {
    case Operation::convert:
      return move;
    case Operation::add:
      return add;
    case Operation::multiply:
      return multiply;
    case Operation::dot2:
      return dot<2, false>;
    case Operation::dot3:
      return dot<3, false>;
    case Operation::dot4:
      return dot<4, false>;
    case Operation::dot_homogeneous:
      return dot<3, true>;
    case Operation::line:
      return line;
    case Operation::plane:
      return plane;
    case Operation::product_add:
      return compute.fused ? fused_products<Addend::last>(compute.type) : product_then_sum<Addend::last>;
    case Operation::add_product:
      return compute.fused ? fused_products<Addend::first>(compute.type) : product_then_sum<Addend::first>;
    case Operation::interpolate:
      return interpolate;
    case Operation::fraction:
      return by_type<Fraction>(compute.type);
    case Operation::floor:
      return round_values<Operation::floor>;
    case Operation::ceiling:
      return round_values<Operation::ceiling>;
    case Operation::nearest_even:
      return round_values<Operation::nearest_even>;
    case Operation::truncate:
      return round_values<Operation::truncate>;
    case Operation::function:
      return math_lanes(compute.function);
    case Operation::compare:
    case Operation::compare_or_nan:
      return compare_lanes;
    case Operation::select:
      return select_lanes;
    case Operation::select_related:
      return by_type<Extreme>(compute.type);
    case Operation::select_signed:
      return by_type<Conditional>(compute.type);
    default:
      return nullptr;
  }
}

}  // namespace halogen::eu
