#include "eu/exec/general/macro.h"

#include <cmath>

namespace halogen::eu {

namespace {

// The widest float of the host: a mantissa of 113 bits where __float128 exists.
#ifdef __SIZEOF_FLOAT128__
__extension__ using Extended = __float128;
#else
using Extended = long double;
#endif

double& extension(const Frame& frame, uint8_t macro, unsigned lane) {
  return frame.thread.macro[macro % kMacroRegisters][lane % 16].value;
}

Extended operand(const Frame& frame, const SourceSet& sources, unsigned which, unsigned lane) {
  const double high = sources[which].value(lane).real;
  Extended value = static_cast<Extended>(high);
  const ir::Source& source = sources[which].source();
  if (source.macro < kMacroRegisters) {
    const double below = extension(frame, source.macro, lane);
    const bool negated = std::signbit(high) != std::signbit(float_from_bits(source.type, sources[which].bits(lane)));
    value += static_cast<Extended>(negated ? -below : below);
  }
  return value;
}

// Rounds to the register's type. F and HF are rounded from a double whose last bit is sticky, so that two roundings
// give the same result as one.
double rounded(Type type, Extended value, Rounding rounding) {
  const auto host = static_cast<double>(value);
  if (type == Type::df) {
    if (rounding == Rounding::nearest || std::isinf(host)) {
      return host;
    }
    const Extended rest = value - static_cast<Extended>(host);
    const double toward = rounding == Rounding::up ? HUGE_VAL : rounding == Rounding::down ? -HUGE_VAL : 0.0;
    const bool wrong_side = toward == 0.0 ? (host > 0 ? rest < 0 : rest > 0) : toward > 0 ? rest > 0 : rest < 0;
    return wrong_side ? std::nextafter(host, toward) : host;
  }
  const Extended rest = value - static_cast<Extended>(host);
  double sticky = host;
  if (rest != 0 && (std::bit_cast<uint64_t>(host) & 1) == 0) {
    sticky = std::nextafter(host, rest > 0 ? HUGE_VAL : -HUGE_VAL);
  }
  return round_to(type, sticky, rounding);
}

Result wide_result(const Frame& frame, const Prepared& prepared, Extended value, unsigned lane) {
  Result result;
  result.type = prepared.lowered.target.type;
  const uint8_t macro = prepared.lowered.target.macro;
  if (macro < kMacroRegisters) {
    const double high = rounded(result.type, value, Rounding::nearest);
    result.value.real = high;
    extension(frame, macro, lane) = static_cast<double>(value - static_cast<Extended>(high));
  } else {
    result.value.real = rounded(result.type, value, frame.mode.rounding);
  }
  return result;
}

Result early_out(const Prepared& prepared, const Frame& frame, double value) {
  Result result;
  result.type = prepared.lowered.target.type;
  result.value.real = finish_float(result.type, std::isnan(value) ? quiet(value) : value, frame.mode);
  result.compared = true;
  result.truth = true;
  return result;
}

int exponent_of(double value) {
  return std::ilogb(value);
}

struct Limits {
  int smallest;
  int largest;
};

// Returns the exponents for which no step of a sequence overflows or loses bits.
Limits safe(Type type) {
  return type == Type::df ? Limits{-900, 900} : type == Type::f ? Limits{-96, 96} : Limits{-8, 8};
}

bool inside(Type type, int exponent) {
  const Limits limits = safe(type);
  return exponent >= limits.smallest && exponent <= limits.largest;
}

double quotient(double a, double b, Rounding rounding) {
  const RoundingScope scope(rounding);
  volatile double x = a;
  volatile double y = b;
  volatile double result = x / y;
  return result;
}

double root(double a, Rounding rounding) {
  const RoundingScope scope(rounding);
  volatile double x = a;
  volatile double result = std::sqrt(x);
  return result;
}

Extended inverse_root(double a) {
  // Each Newton step doubles the number of correct bits: two steps from the host's double fill Extended.
  const Extended wide = static_cast<Extended>(a);
  Extended y = static_cast<Extended>(1.0 / std::sqrt(a));
  for (int i = 0; i < 2; ++i) {
    y = y * (static_cast<Extended>(1.5) - static_cast<Extended>(0.5) * wide * y * y);
  }
  return y;
}

}  // namespace

Result macro_lane(const Frame& frame, const Prepared& prepared, const SourceSet& sources, unsigned lane) {
  const ir::Operation operation = prepared.lowered.compute.operation;
  const Type type = prepared.lowered.target.type;
  if (operation == ir::Operation::macro_add_product) {
    const std::array<double, 3> values{sources[0].value(lane).real, sources[1].value(lane).real,
                                       sources[2].value(lane).real};
    for (const double value : values) {
      if (std::isnan(value)) {
        Result result;
        result.type = type;
        result.value.real = pick_nan(values.data(), 3);
        return result;
      }
    }
    const Extended value =
        operand(frame, sources, 1, lane) * operand(frame, sources, 2, lane) + operand(frame, sources, 0, lane);
    return wide_result(frame, prepared, value, lane);
  }
  const auto input = [&](unsigned which) {
    const double value = sources[which].value(lane).real;
    return flushes(type, frame.mode) ? flush(type, value) : value;
  };
  const double a = input(0);
  if (operation == ir::Operation::macro_inverse_root) {
    if (std::isnan(a)) {
      return early_out(prepared, frame, a);
    }
    if (a < 0) {
      return early_out(prepared, frame, default_nan());
    }
    if (a == 0 || std::isinf(a) || !inside(type, exponent_of(a))) {
      return early_out(prepared, frame, root(a, frame.mode.rounding));
    }
    Result result = wide_result(frame, prepared, inverse_root(a), lane);
    result.compared = true;
    return result;
  }
  const double b = input(1);
  if (std::isnan(a) || std::isnan(b)) {
    const std::array<double, 2> values{a, b};
    return early_out(prepared, frame, pick_nan(values.data(), 2));
  }
  const bool special = a == 0 || b == 0 || std::isinf(a) || std::isinf(b);
  if (special || !inside(type, exponent_of(a)) || !inside(type, exponent_of(b)) ||
      !inside(type, exponent_of(a) - exponent_of(b))) {
    const double value = quotient(a, b, frame.mode.rounding);
    return early_out(prepared, frame, std::isnan(value) ? default_nan() : value);
  }
  Result result = wide_result(frame, prepared, static_cast<Extended>(1) / static_cast<Extended>(b), lane);
  result.compared = true;
  return result;
}

}  // namespace halogen::eu
