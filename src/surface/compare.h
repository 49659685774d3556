// Comparison functions of the hardware: depth, stencil and alpha tests, shadow samplers.
#pragma once

#include "hw/enums.h"

namespace halogen::surface {

template <class T>
constexpr bool compare_values(hw::CompareFunction function, T value, T with) {
  switch (function) {
    case hw::CompareFunction::ALWAYS:
      return true;
    case hw::CompareFunction::NEVER:
      return false;
    case hw::CompareFunction::LESS:
      return value < with;
    case hw::CompareFunction::EQUAL:
      return value == with;
    case hw::CompareFunction::LEQUAL:
      return value <= with;
    case hw::CompareFunction::GREATER:
      return value > with;
    case hw::CompareFunction::NOTEQUAL:
      return value != with;
    case hw::CompareFunction::GEQUAL:
      return value >= with;
  }
  return true;
}

}  // namespace halogen::surface
