// Evaluates a condition modifier for two values, for the general path and all specialised routines. Unordered and
// overflow are not relations of two values: callers that handle NaN and overflow test for them first.
#pragma once

#include "eu/isa/instruction.h"

namespace halogen::eu {

template <class T>
constexpr bool relation(Condition condition, T a, T b) {
  switch (condition) {
    case Condition::zero:
      return a == b;
    case Condition::not_zero:
      return a != b;
    case Condition::greater:
      return a > b;
    case Condition::greater_equal:
      return a >= b;
    case Condition::less:
      return a < b;
    case Condition::less_equal:
      return a <= b;
    case Condition::none:
    case Condition::round:
    case Condition::overflow:
    case Condition::unordered:
      break;
  }
  return false;
}

}  // namespace halogen::eu
