#include <algorithm>
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

// `volatile` keeps the compiler from moving the operation across the calls that set the host's rounding mode.
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

// Returns a * b + c, rounded once to the type.
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

double multiply_add(const ir::Compute& compute, double a, double b, double c, const FloatMode& mode) {
  return compute.fused ? fused(compute.type, a, b, c, mode) : add(multiply(a, b, mode), c, mode.rounding);
}

}  // namespace

Result float_lane(const Frame& frame, const Prepared& prepared, const LaneInput& input) {
  const ir::Compute& compute = prepared.lowered.compute;
  const FloatMode& mode = frame.mode;
  const Type type = compute.type;
  Result result;
  result.type = type;
  const double a = input.value[0].real;
  const double b = input.value[1].real;
  const double c = input.value[2].real;
  const std::array<double, 3> values{a, b, c};
  const unsigned sources = std::min<unsigned>(prepared.lowered.sources, 3);
  for (unsigned i = 0; i < sources; ++i) {
    if (std::isnan(values[i])) {
      result.value.real = finish_float(type, pick_nan(values.data(), sources), mode);
      return result;
    }
  }
  double exact = 0.0;
  switch (compute.operation) {
    case ir::Operation::add:
      exact = add(a, b, mode.rounding);
      break;
    case ir::Operation::multiply:
      exact = multiply(a, b, mode);
      break;
    case ir::Operation::average:
      exact = add(a, b, mode.rounding) / 2;
      break;
    case ir::Operation::product_add:
      exact = multiply_add(compute, a, b, c, mode);
      break;
    case ir::Operation::add_product:
      exact = multiply_add(compute, b, c, a, mode);
      break;
    case ir::Operation::interpolate:
      exact = add(multiply(a, b, mode), multiply(1.0 - a, c, mode), mode.rounding);
      break;
    case ir::Operation::fraction:
      // Rounds toward zero, so that the fraction stays below one.
      exact = round_to(type, a - std::floor(a), Rounding::zero);
      break;
    case ir::Operation::floor:
    case ir::Operation::ceiling:
    case ir::Operation::nearest_even:
    case ir::Operation::truncate:
    case ir::Operation::floor_for_ceiling:
    case ir::Operation::floor_for_nearest:
    case ir::Operation::floor_for_truncate: {
      const Rounded rounded = round_whole(compute.operation, a);
      exact = rounded.value;
      if (prepared.lowered.flag.kind == ir::FlagEffect::Kind::decided) {
        result.compared = true;
        result.truth = rounded.increment;
      }
      break;
    }
    case ir::Operation::function:
      exact = math_function(compute.function, a, b, mode.alternate);
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
