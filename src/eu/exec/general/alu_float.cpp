#include <cfloat>
#include <cmath>

#include "eu/exec/general/alu.h"
#include "eu/exec/general/math.h"
#include "eu/exec/general/rounding_ops.h"

namespace halogen::eu {

double pick_nan(const double* values, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    if (std::isnan(values[i])) {
      return quiet(values[i]);
    }
  }
  return default_nan();
}

double finish_float(Type type, double exact, const FloatMode& mode) {
  double value = exact;
  if (!std::isnan(value)) {
    value = round_to(type, value, mode.rounding);
    if (flushes(type, mode)) {
      value = flush(type, value);
    }
  }
  if (mode.alternate && type == Type::f) {
    if (std::isinf(value)) {
      value = std::copysign(static_cast<double>(FLT_MAX), value);
    } else if (std::isnan(value)) {
      value = 0.0;
    }
  }
  return value;
}

namespace {

// Volatile keeps each operation between the calls that set the host's rounding.
double add(double a, double b, Rounding rounding) {
  const RoundingScope scope(rounding);
  volatile double x = a;
  volatile double y = b;
  volatile double sum = x + y;
  return sum;
}

double multiply(double a, double b, const FloatMode& mode) {
  if (mode.alternate && (a == 0.0 || b == 0.0)) {
    return 0.0;
  }
  const RoundingScope scope(mode.rounding);
  volatile double x = a;
  volatile double y = b;
  volatile double product = x * y;
  return product;
}

// a * b + c, rounded once to the type.
double fused(Type type, double a, double b, double c, const FloatMode& mode) {
  if (mode.alternate && (a == 0.0 || b == 0.0)) {
    return c;
  }
  const RoundingScope scope(mode.rounding);
  if (type == Type::f) {
    volatile float x = static_cast<float>(a);
    volatile float y = static_cast<float>(b);
    volatile float z = static_cast<float>(c);
    volatile float result = std::fma(x, y, z);
    return static_cast<double>(result);
  }
  volatile double x = a;
  volatile double y = b;
  volatile double z = c;
  volatile double result = std::fma(x, y, z);
  return result;
}

double multiply_add(const Frame& frame, Type type, double a, double b, double c) {
  if (frame.rules.fused_mad || type == Type::df) {
    return fused(type, a, b, c, frame.mode);
  }
  return add(multiply(a, b, frame.mode), c, frame.mode.rounding);
}

}  // namespace

Result float_lane(const Frame& frame, const Prepared& prepared, const LaneInput& input) {
  const Instruction& in = prepared.in;
  const FloatMode& mode = frame.mode;
  const Type type = prepared.exec;
  Result result;
  result.type = type;
  const double a = input.value[0].real;
  const double b = input.value[1].real;
  const double c = input.value[2].real;
  const std::array<double, 3> values{a, b, c};
  const bool reads_accumulator = in.op == Op::mac;
  for (unsigned i = 0; i < prepared.source_count; ++i) {
    if (std::isnan(values[i])) {
      result.value.real = finish_float(type, pick_nan(values.data(), prepared.source_count), mode);
      return result;
    }
  }
  if (reads_accumulator && std::isnan(input.accumulator_real)) {
    result.value.real = finish_float(type, quiet(input.accumulator_real), mode);
    return result;
  }
  double exact = 0.0;
  switch (in.op) {
    case Op::add:
      exact = add(a, b, mode.rounding);
      break;
    case Op::mul:
      exact = multiply(a, b, mode);
      break;
    case Op::avg:
      exact = add(a, b, mode.rounding) / 2;
      break;
    case Op::mac:
      exact = multiply_add(frame, type, a, b, input.accumulator_real);
      break;
    case Op::mad:
      exact = multiply_add(frame, type, b, c, a);
      break;
    case Op::lrp:
      exact = add(multiply(a, b, mode), multiply(1.0 - a, c, mode), mode.rounding);
      break;
    case Op::frc: {
      // Always below one: what would round up to it stops short.
      exact = round_to(type, a - std::floor(a), Rounding::zero);
      break;
    }
    case Op::rndu:
    case Op::rndd:
    case Op::rnde:
    case Op::rndz: {
      const Rounded rounded = round_whole(in.op, a, frame.rules.rounding_needs_increment);
      exact = rounded.value;
      if (in.condition == Condition::round) {
        result.compared = true;
        result.truth = rounded.increment;
      }
      break;
    }
    case Op::math:
      exact = math_function(in.math, a, b, mode.alternate);
      break;
    default:
      exact = a;
      break;
  }
  if (std::isnan(exact)) {
    exact = default_nan();
  }
  result.value.real = finish_float(type, exact, mode);
  return result;
}

}  // namespace halogen::eu
