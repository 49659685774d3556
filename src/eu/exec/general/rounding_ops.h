// Rounds a float to an integral value, for the general path and the array routines.
#pragma once

#include <cmath>

#include "eu/ir/lowered.h"

namespace halogen::eu {

// Returns the nearest integral value, ties to even. Does not depend on the host's rounding mode.
inline double nearest_even(double x) {
  const double down = std::floor(x);
  const double rest = x - down;
  if (rest < 0.5) {
    return std::copysign(down, x);
  }
  if (rest > 0.5) {
    return std::copysign(down + 1.0, x);
  }
  return std::copysign(std::fmod(down, 2.0) == 0.0 ? down : down + 1.0, x);
}

struct Rounded {
  double value;
  bool increment;  // Gen4 and Gen5 return the floor: true if the rounded value is one more
};

inline Rounded round_whole(ir::Operation operation, double x) {
  if (std::isinf(x)) {
    return {x, false};
  }
  const double down = std::floor(x);
  switch (operation) {
    case ir::Operation::ceiling:
      return {std::ceil(x), false};
    case ir::Operation::nearest_even:
      return {nearest_even(x), false};
    case ir::Operation::truncate:
      return {std::trunc(x), false};
    case ir::Operation::floor_for_ceiling:
      return {down, std::ceil(x) > down};
    case ir::Operation::floor_for_nearest:
      return {down, nearest_even(x) > down};
    case ir::Operation::floor_for_truncate:
      return {down, std::trunc(x) > down};
    default:
      return {down, false};
  }
}

}  // namespace halogen::eu
