#include "eu/exec/vector/fast_math.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "eu/exec/control/masks.h"
#include "eu/exec/general/math.h"

namespace halogen::eu {

namespace {

constexpr unsigned kMostLanes = 16;
constexpr int kFloat = 4;
constexpr uint32_t kExponent = 0x7f80'0000;
constexpr uint32_t kSign = 0x8000'0000;

using Lanes = std::array<uint32_t, kMostLanes>;

// A scalar or elements at even distances, in general registers, or one number.
bool place(const Instruction& in, const Operand& operand, FastOperand& out) {
  if (operand.type != Type::f || operand.indirect) {
    return false;
  }
  if (operand.file == File::immediate) {
    out.is_immediate = true;
    out.immediate = operand.immediate & 0xffff'ffff;
    return true;
  }
  const Region& region = operand.region;
  if (operand.file != File::grf || region.vertical_by_address || region.width == 0) {
    return false;
  }
  const bool in_rows = region.width < in.exec_size;
  if (in_rows && region.width != 1 && region.vertical != region.width * region.horizontal) {
    return false;
  }
  const int step = kFloat * (in_rows && region.width == 1 ? region.vertical : region.horizontal);
  const int offset = operand.reg * static_cast<int>(kGrfBytes) + operand.sub;
  if (offset + step * (in.exec_size - 1) + kFloat > static_cast<int>(kGrfs * kGrfBytes)) {
    return false;
  }
  out.offset = static_cast<uint16_t>(offset);
  out.step = static_cast<int16_t>(step);
  out.clear = operand.absolute ? kSign : 0;
  out.turn = operand.negate ? kSign : 0;
  return true;
}

constexpr uint32_t flushed(uint32_t bits) {
  return (bits & kExponent) == 0 ? bits & kSign : bits;
}
constexpr bool is_nan(uint32_t bits) {
  return (bits & ~kSign) > kExponent;
}

void load(const Thread& thread, const FastOperand& operand, unsigned lanes, bool flush, Lanes& out) {
  for (unsigned lane = 0; lane < lanes; ++lane) {
    auto bits = static_cast<uint32_t>(operand.immediate);
    if (!operand.is_immediate) {
      std::memcpy(&bits, thread.grf.data() + operand.offset + static_cast<int>(lane) * operand.step, kFloat);
      bits = (bits & ~static_cast<uint32_t>(operand.clear)) ^ static_cast<uint32_t>(operand.turn);
    }
    out[lane] = flush ? flushed(bits) : bits;
  }
}

// The frequent ones without a call; all as math_function says.
template <MathFunction F>
double evaluate(double a, double b) {
  if constexpr (F == MathFunction::inverse) {
    return 1.0 / a;
  } else if constexpr (F == MathFunction::sqrt) {
    return std::sqrt(a);
  } else if constexpr (F == MathFunction::rsqrt) {
    return 1.0 / std::sqrt(a);
  } else if constexpr (F == MathFunction::divide) {
    return a / b;
  } else {
    return math_function(F, a, b, false);
  }
}

template <MathFunction F>
Step run_math(Frame& frame, const Prepared& prepared) {
  if (frame.mode.rounding != Rounding::nearest || frame.mode.alternate) {
    return prepared.handler(frame, prepared);
  }
  Thread& thread = frame.thread;
  const bool flush = frame.mode.flush_single;
  const unsigned lanes = prepared.in.exec_size;
  Lanes a{};
  Lanes b{};
  Lanes out{};
  load(thread, prepared.plan.source[0], lanes, flush, a);
  if (prepared.source_count > 1) {
    load(thread, prepared.plan.source[1], lanes, flush, b);
  }
  const uint32_t mask = enabled_lanes(frame, prepared) & predicate_lanes(frame, prepared);
  bool odd = false;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (((mask >> lane) & 1) != 0) {
      const double exact = evaluate<F>(static_cast<double>(std::bit_cast<float>(a[lane])),
                                       static_cast<double>(std::bit_cast<float>(b[lane])));
      const auto bits = std::bit_cast<uint32_t>(static_cast<float>(exact));
      odd = odd || is_nan(bits) || is_nan(a[lane]) || is_nan(b[lane]);
      out[lane] = flush ? flushed(bits) : bits;
    }
  }
  if (odd) {
    return prepared.handler(frame, prepared);
  }
  const FastOperand& to = prepared.plan.destination;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (((mask >> lane) & 1) != 0) {
      std::memcpy(thread.grf.data() + to.offset + static_cast<int>(lane) * to.step, &out[lane], kFloat);
    }
  }
  return Step::next;
}

Handler routine(MathFunction function) {
  switch (function) {
    case MathFunction::inverse:
      return run_math<MathFunction::inverse>;
    case MathFunction::log2:
      return run_math<MathFunction::log2>;
    case MathFunction::exp2:
      return run_math<MathFunction::exp2>;
    case MathFunction::sqrt:
      return run_math<MathFunction::sqrt>;
    case MathFunction::rsqrt:
      return run_math<MathFunction::rsqrt>;
    case MathFunction::sin:
      return run_math<MathFunction::sin>;
    case MathFunction::cos:
      return run_math<MathFunction::cos>;
    case MathFunction::divide:
      return run_math<MathFunction::divide>;
    case MathFunction::power:
      return run_math<MathFunction::power>;
    case MathFunction::none:
    case MathFunction::sincos:
    case MathFunction::int_divide_both:
    case MathFunction::int_quotient:
    case MathFunction::int_remainder:
    case MathFunction::inverse_macro:
    case MathFunction::rsqrt_macro:
      break;
  }
  return nullptr;
}

}  // namespace

void choose_math(Prepared& prepared, const EuRules& rules) {
  const Instruction& in = prepared.in;
  if (in.op != Op::math || in.align16 || in.saturate || in.accumulator_write || in.condition != Condition::none ||
      in.exec_size == 0 || in.exec_size > kMostLanes || prepared.exec != Type::f || in.dst.type != Type::f ||
      in.dst.file != File::grf || in.dst.indirect || in.dst.region.horizontal == 0) {
    return;
  }
  const int step = in.dst.region.horizontal * kFloat;
  const int offset = in.dst.reg * static_cast<int>(kGrfBytes) + in.dst.sub;
  if (offset + step * (in.exec_size - 1) + kFloat > static_cast<int>(kGrfs * kGrfBytes)) {
    return;
  }
  prepared.plan.destination.offset = static_cast<uint16_t>(offset);
  prepared.plan.destination.step = static_cast<int16_t>(step);
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    const bool passed_over = !rules.math_modifiers && (in.src[i].negate || in.src[i].absolute);
    if (passed_over || !place(in, in.src[i], prepared.plan.source[i])) {
      return;
    }
  }
  prepared.fast = routine(in.math);
}

}  // namespace halogen::eu
