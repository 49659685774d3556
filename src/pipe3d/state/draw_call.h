// A 3DPRIMITIVE in a form that does not depend on the generation.
#pragma once

#include <array>
#include <cstdint>

#include "hw/enums.h"

namespace halogen::pipe3d {

struct DrawCall {
  hw::PrimitiveTopology topology{};
  bool indexed = false;
  uint32_t vertices = 0;  // of an instance
  uint32_t first = 0;     // first vertex or index
  uint32_t instances = 1;
  uint32_t first_instance = 0;
  int32_t base_vertex = 0;
  std::array<uint32_t, 3> parameters{};

  bool operator==(const DrawCall&) const = default;
};

}  // namespace halogen::pipe3d
