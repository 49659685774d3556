// Float operations over lanes. Sources and results are doubles; the caller rounds to the execution type.
#include <bit>
#include <cmath>

#include "eu/exec/general/math.h"
#include "eu/exec/general/relation.h"
#include "eu/exec/general/rounding_ops.h"
#include "eu/exec/vector/lane_plan.h"

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

void move(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  each(count, [&](unsigned i) { out.real[i] = a[i]; });
}

void add(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  each(count, [&](unsigned i) { out.real[i] = a[i] + b[i]; });
}

void multiply(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  each(count, [&](unsigned i) { out.real[i] = a[i] * b[i]; });
}

void interpolate(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  const double* c = source[2]->real;
  each(count, [&](unsigned i) {
    const double part = a[i] * b[i];
    const double rest = (1.0 - a[i]) * c[i];
    out.real[i] = part + rest;
  });
}

// a + b * c, rounded once. Singles are rounded to F here: a second rounding through a double would show.
void multiply_add_single(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  const double* c = source[2]->real;
  each(count, [&](unsigned i) {
    out.real[i] =
        static_cast<double>(std::fma(static_cast<float>(b[i]), static_cast<float>(c[i]), static_cast<float>(a[i])));
  });
}

void multiply_add_double(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  const double* c = source[2]->real;
  each(count, [&](unsigned i) { out.real[i] = std::fma(b[i], c[i], a[i]); });
}

#ifdef __x86_64__
[[gnu::target("avx2,fma")]] void multiply_add_single_host(LaneContext&, LaneValues* const* source, LaneValues& out,
                                                          unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  const double* c = source[2]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = static_cast<double>(
        __builtin_fmaf(static_cast<float>(b[i]), static_cast<float>(c[i]), static_cast<float>(a[i])));
  }
}

[[gnu::target("avx2,fma")]] void multiply_add_double_host(LaneContext&, LaneValues* const* source, LaneValues& out,
                                                          unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  const double* c = source[2]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = __builtin_fma(b[i], c[i], a[i]);
  }
}
#endif

LaneCompute multiply_add(Type type) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0) {
    return type == Type::f ? multiply_add_single_host : multiply_add_double_host;
  }
#endif
  return type == Type::f ? multiply_add_single : multiply_add_double;
}

// Sums over groups of four: the first products of each.
template <unsigned Products, bool Homogeneous>
void dot(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
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

// p u + r, and p u + q v + r.
void line(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  each(count, [&](unsigned i) {
    const double product = source[0]->real[i] * source[1]->real[i];
    out.real[i] = product + source[2]->real[i];
  });
}

void plane(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  each(count, [&](unsigned i) {
    const double first = source[0]->real[i] * source[1]->real[i];
    const double second = source[2]->real[i] * source[3]->real[i];
    const double both = first + second;
    out.real[i] = both + source[4]->real[i];
  });
}

// Before Gen8: the product keeps double precision.
void multiply_then_add(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  const double* c = source[2]->real;
  each(count, [&](unsigned i) {
    const double product = b[i] * c[i];
    out.real[i] = product + a[i];
  });
}

template <Op Operation>
void round_lanes(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  each(count, [&](unsigned i) { out.real[i] = round_whole(Operation, a[i], false).value; });
}

// Always below one: what would round up to it stops short.
template <Type Exec>
void fraction_lanes(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = round_to(Exec, a[i] - std::floor(a[i]), Rounding::zero);
  }
}

template <MathFunction Function>
void math(LaneContext&, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = math_function(Function, a[i], b[i], false);
  }
}

void compare_lanes(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  uint32_t truths = 0;
  for (unsigned i = 0; i < count; ++i) {
    const bool truth = relation(context.in.condition, a[i], b[i]);
    out.integer[i] = truth ? -1 : 0;
    truths |= static_cast<uint32_t>(truth) << i;
  }
  context.truths = truths;
}

void select_lanes(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
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
void extreme_lanes(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  uint32_t truths = 0;
  for (unsigned i = 0; i < count; ++i) {
    const bool first =
        relation(context.in.condition, flushed(Exec, context.mode, a[i]), flushed(Exec, context.mode, b[i]));
    out.real[i] = first ? a[i] : b[i];
    truths |= static_cast<uint32_t>(first) << i;
  }
  context.truths = truths;
}

template <Type Exec>
void conditional_lanes(LaneContext& context, LaneValues* const* source, LaneValues& out, unsigned count) {
  const double* a = source[0]->real;
  const double* b = source[1]->real;
  const double* c = source[2]->real;
  for (unsigned i = 0; i < count; ++i) {
    out.real[i] = relation(context.in.condition, flushed(Exec, context.mode, c[i]), 0.0) ? a[i] : b[i];
  }
}

LaneCompute math_lanes(MathFunction function) {
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

}  // namespace

LaneCompute float_lanes(const Instruction& in, const EuRules& rules, Type exec) {
  switch (in.op) {
    case Op::mov:
      return move;
    case Op::add:
      return add;
    case Op::mul:
      return multiply;
    case Op::dp2:
      return dot<2, false>;
    case Op::dp3:
      return dot<3, false>;
    case Op::dp4:
      return dot<4, false>;
    case Op::dph:
      return dot<3, true>;
    case Op::line:
      return line;
    case Op::pln:
      return plane;
    case Op::mac:
    case Op::mad:
      return rules.fused_mad || exec == Type::df ? multiply_add(exec) : multiply_then_add;
    case Op::lrp:
      return interpolate;
    case Op::frc:
      return exec == Type::hf  ? fraction_lanes<Type::hf>
             : exec == Type::f ? fraction_lanes<Type::f>
                               : fraction_lanes<Type::df>;
    case Op::rndd:
      return round_lanes<Op::rndd>;
    case Op::rndu:
      return rules.rounding_needs_increment ? nullptr : round_lanes<Op::rndu>;
    case Op::rnde:
      return rules.rounding_needs_increment ? nullptr : round_lanes<Op::rnde>;
    case Op::rndz:
      return rules.rounding_needs_increment ? nullptr : round_lanes<Op::rndz>;
    case Op::math:
      return math_lanes(in.math);
    case Op::cmp:
    case Op::cmpn:
      return rules.convert_before_compare ? nullptr : compare_lanes;
    case Op::sel:
      if (in.condition == Condition::none) {
        return select_lanes;
      }
      return exec == Type::hf  ? extreme_lanes<Type::hf>
             : exec == Type::f ? extreme_lanes<Type::f>
                               : extreme_lanes<Type::df>;
    case Op::csel:
      return exec == Type::hf  ? conditional_lanes<Type::hf>
             : exec == Type::f ? conditional_lanes<Type::f>
                               : conditional_lanes<Type::df>;
    default:
      return nullptr;
  }
}

}  // namespace halogen::eu
