#include <cmath>

#include "eu/exec/general/alu.h"
#include "eu/exec/general/relation.h"

namespace halogen::eu {

bool compare(Condition condition, Wide a, Wide b) {
  return relation(condition, a, b);
}

bool compare(Condition condition, double a, double b, bool true_if_second_nan) {
  if (std::isnan(a) || std::isnan(b)) {
    return condition == Condition::not_zero || condition == Condition::unordered ||
           (true_if_second_nan && std::isnan(b));
  }
  return relation(condition, a, b);
}

bool holds(Condition condition, Wide value) {
  return relation(condition, value, static_cast<Wide>(0));
}
bool holds(Condition condition, double value) {
  return compare(condition, value, 0.0, false);
}

Result compare_lane(const Prepared& prepared, const LaneInput& input) {
  const ir::Compute& compute = prepared.lowered.compute;
  Result result;
  result.compared = true;
  if (compute.operation == ir::Operation::compare_converted) {
    const Type type = prepared.lowered.target.type;
    result.truth =
        compare(compute.relation, float_to_int(type, input.value[0].real), float_to_int(type, input.value[1].real));
  } else if (traits(compute.type).is_float) {
    result.truth = compare(compute.relation, input.value[0].real, input.value[1].real,
                           compute.operation == ir::Operation::compare_or_nan);
  } else {
    result.truth = compare(compute.relation, input.value[0].integer, input.value[1].integer);
  }
  result.raw = true;
  result.bits = result.truth ? ~uint64_t{0} : 0;
  return result;
}

Result select_lane(const Frame& frame, const Prepared& prepared, const LaneInput& input) {
  const ir::Compute& compute = prepared.lowered.compute;
  const Condition relation = compute.relation;
  Result result;
  result.type = compute.type;
  const bool is_float = traits(compute.type).is_float;
  bool first = input.chosen;
  const auto flushed = [&](unsigned which) {
    const double value = input.value[which].real;
    return flushes(compute.type, frame.mode) ? flush(compute.type, value) : value;
  };
  if (compute.operation == ir::Operation::select_signed) {
    first = is_float ? compare(relation, flushed(2), 0.0, false) : holds(relation, input.value[2].integer);
  } else if (compute.operation == ir::Operation::select_related) {
    if (is_float) {
      const double a = flushed(0);
      const double b = flushed(1);
      const bool extreme = relation == Condition::greater_equal || relation == Condition::less;
      if (std::isnan(a) || std::isnan(b)) {
        first = extreme && std::isnan(b) && !std::isnan(a);
      } else {
        first = compare(relation, a, b, false);
      }
    } else {
      first = compare(relation, input.value[0].integer, input.value[1].integer);
    }
    result.compared = true;
    result.truth = first;
  }
  result.value = input.value[first ? 0 : 1];
  return result;
}

Converted convert(const Result& result, Type dst, bool saturate, const FloatMode& mode) {
  Converted out;
  const bool to_float = traits(dst).is_float;
  if (result.raw) {
    out.bits = result.bits;
    out.is_float = to_float;
    if (to_float) {
      out.tested_real = float_from_bits(dst, result.bits);
    } else {
      out.tested_integer = int_from_bits(dst, result.bits);
    }
    return out;
  }
  if (!to_float) {
    if (traits(result.type).is_float) {
      out.tested_integer = float_to_int(dst, result.value.real);
      out.bits = static_cast<uint64_t>(out.tested_integer);
      return out;
    }
    const Wide exact = result.value.integer;
    const Wide clamped = clamp(dst, exact);
    out.overflow = clamped != exact;
    const Wide kept = saturate ? clamped : wrap(dst, exact);
    out.bits = static_cast<uint64_t>(kept);
    out.tested_integer = kept;  // compilers replace a CMP of the result with zero by a condition modifier
    return out;
  }
  out.is_float = true;
  double value = 0.0;
  if (!traits(result.type).is_float) {
    value = int_to_float(dst, result.value.integer, mode.rounding);
  } else {
    value = result.value.real;
    if (traits(dst).bytes != traits(result.type).bytes) {
      if (std::isnan(value)) {
        value = quiet(value);
      } else {
        value = round_to(dst, value, mode.rounding);
        value = flushes(dst, mode) ? flush(dst, value) : value;
      }
    }
  }
  if (saturate) {
    value = !(value > 0.0) ? 0.0 : value > 1.0 ? 1.0 : value;
  }
  out.overflow = std::isinf(value);
  out.tested_real = value;
  out.bits = float_to_bits(dst, value, mode.rounding);
  return out;
}

}  // namespace halogen::eu
