// RNDD, RNDU, RNDE and RNDZ of one number, for the general path and the faster ones.
#pragma once

#include <cmath>

#include "eu/isa/op.h"

namespace halogen::eu {

// Nearest whole number, ties to even, whatever the host's mode.
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
  bool increment;  // Gen4 and 5: the right answer is one more
};

inline Rounded round_whole(Op op, double x, bool wants_increment) {
  if (std::isinf(x)) {
    return {x, false};
  }
  double right = 0.0;
  switch (op) {
    case Op::rndd:
      return {std::floor(x), false};
    case Op::rndu:
      right = std::ceil(x);
      break;
    case Op::rnde:
      right = nearest_even(x);
      break;
    default:
      right = std::trunc(x);
      break;
  }
  if (wants_increment) {
    const double floor = std::floor(x);
    return {floor, right > floor};
  }
  return {right, false};
}

}  // namespace halogen::eu
