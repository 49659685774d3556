#include "eu/exec/general/math.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "eu/exec/general/alu.h"
#include "eu/thread.h"

namespace halogen::eu {

namespace {

constexpr std::array kBounds{
    MathBound{MathFunction::inverse, "inv", "1 ulp"},
    MathBound{MathFunction::log2, "log", "4 ulp, 2^-21 absolute near 1"},
    MathBound{MathFunction::exp2, "exp", "4 ulp"},
    MathBound{MathFunction::sqrt, "sqt", "2 ulp"},
    MathBound{MathFunction::rsqrt, "rsqt", "2 ulp"},
    MathBound{MathFunction::sin, "sin", "8e-4 absolute in +-32767 pi"},
    MathBound{MathFunction::cos, "cos", "8e-4 absolute in +-32767 pi"},
    MathBound{MathFunction::sincos, "sincos", "8e-4 absolute in +-32767 pi"},
    MathBound{MathFunction::divide, "fdiv", "2 ulp"},
    MathBound{MathFunction::power, "pow", "bound of exp(b * log(a))"},
    MathBound{MathFunction::inverse_macro, "invm",
              "start value of a macro: bits below the mantissa may differ from hardware"},
    MathBound{MathFunction::rsqrt_macro, "rsqtm",
              "start value of a macro: bits below the mantissa may differ from hardware"},
};

}  // namespace

std::span<const MathBound> math_bounds() {
  return kBounds;
}

double math_function(MathFunction function, double a, double b, bool alternate) {
  switch (function) {
    case MathFunction::inverse:
      return 1.0 / a;
    case MathFunction::log2:
      return std::log2(alternate ? std::fabs(a) : a);
    case MathFunction::exp2:
      return std::exp2(a);
    case MathFunction::sqrt:
      return std::sqrt(alternate ? std::fabs(a) : a);
    case MathFunction::rsqrt:
      return 1.0 / std::sqrt(alternate ? std::fabs(a) : a);
    case MathFunction::sin:
    case MathFunction::sincos:
      return std::sin(a);
    case MathFunction::cos:
      return std::cos(a);
    case MathFunction::divide:
      return a / b;
    case MathFunction::power:
      return std::pow(std::fabs(a), b);
    case MathFunction::none:
    case MathFunction::int_divide_both:
    case MathFunction::int_quotient:
    case MathFunction::int_remainder:
    case MathFunction::inverse_macro:
    case MathFunction::rsqrt_macro:
      break;
  }
  return 0.0;
}

namespace {

MathFunction function_of(MessageControl::Math word) {
  using Math = MessageControl::Math;
  switch (word) {
    case Math::inv:
      return MathFunction::inverse;
    case Math::log:
      return MathFunction::log2;
    case Math::exp:
      return MathFunction::exp2;
    case Math::sqt:
      return MathFunction::sqrt;
    case Math::rsqt:
      return MathFunction::rsqrt;
    case Math::sin:
      return MathFunction::sin;
    case Math::cos:
      return MathFunction::cos;
    case Math::sincos:
      return MathFunction::sincos;
    case Math::pow:
      return MathFunction::power;
    case Math::idiv:
      return MathFunction::int_divide_both;
    case Math::iqot:
      return MathFunction::int_quotient;
    case Math::irem:
      return MathFunction::int_remainder;
    case Math::other:
      break;
  }
  return MathFunction::none;
}

}  // namespace

Wide integer_math(MathFunction function, Wide numerator, Wide denominator, Type type) {
  const bool remainder = function == MathFunction::int_remainder;
  if (denominator == 0) {
    return remainder ? numerator : wrap(type, -1);
  }
  return remainder ? numerator % denominator : numerator / denominator;
}

// For integer division, the first register of the payload holds the denominator and the second one the numerator.
SendOutcome math_box(const MessageControl& control, const Message& message, const FloatMode& mode) {
  const MathFunction function = function_of(control.math);
  const bool is_signed = control.signed_;
  const bool saturate = control.saturate;
  const bool scalar = control.scalar;
  const bool integer = function == MathFunction::int_divide_both || function == MathFunction::int_quotient ||
                       function == MathFunction::int_remainder;
  const bool pair = function == MathFunction::int_divide_both || function == MathFunction::sincos;
  constexpr unsigned kLanes = 8;
  const auto operand = [&](unsigned reg, unsigned lane) {
    uint32_t bits = 0;
    const size_t at = reg * kGrfBytes + (scalar ? 0 : lane) * 4u;
    if (at + 4 <= message.first.size()) {
      std::memcpy(&bits, message.first.data() + at, 4);
    }
    return bits;
  };
  std::array<std::array<uint32_t, kLanes>, 2> out{};
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t first = operand(0, lane);
    const uint32_t second = operand(1, lane);
    if (integer) {
      const Type type = is_signed ? Type::d : Type::ud;
      const Wide denominator = int_from_bits(type, first);
      const Wide numerator = int_from_bits(type, second);
      const MathFunction wanted = function == MathFunction::int_divide_both ? MathFunction::int_quotient : function;
      out[0][lane] = static_cast<uint32_t>(integer_math(wanted, numerator, denominator, type));
      out[1][lane] = static_cast<uint32_t>(integer_math(MathFunction::int_remainder, numerator, denominator, type));
      continue;
    }
    const bool two = function == MathFunction::power || function == MathFunction::divide;
    const std::array<double, 2> values{flush(Type::f, single_to_double(first)),
                                       flush(Type::f, single_to_double(second))};
    const auto evaluate = [&](MathFunction which) {
      Result result;
      result.type = Type::f;
      double exact = 0.0;
      if (std::isnan(values[0]) || (two && std::isnan(values[1]))) {
        exact = pick_nan(values.data(), two ? 2 : 1);
      } else {
        exact = math_function(which, values[0], values[1], mode.alternate);
        exact = std::isnan(exact) ? default_nan() : exact;
      }
      result.value.real = finish_float(Type::f, exact, mode);
      return static_cast<uint32_t>(convert(result, Type::f, saturate, mode).bits);
    };
    out[0][lane] = evaluate(function);
    out[1][lane] = function == MathFunction::sincos ? evaluate(MathFunction::cos) : 0;
  }
  // A response may begin inside a register, so its size need not be a multiple of a register.
  const size_t registers = std::min<size_t>(pair ? 2 : 1, (message.response.size() + kGrfBytes - 1) / kGrfBytes);
  for (size_t reg = 0; reg < registers; ++reg) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const size_t at = reg * kGrfBytes + lane * 4u;
      if (((message.channels >> lane) & 1) != 0 && at + 4 <= message.response.size()) {
        std::memcpy(message.response.data() + at, &out[reg][lane], 4);
      }
    }
  }
  return SendOutcome::done;
}

}  // namespace halogen::eu
