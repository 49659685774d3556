// Rules of displays by generation, beyond their registers.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

struct DisplayRules {
  spec::GenMask gens;
  // Offsets into the surface are latched at each vertical blank, without a flip (G45 PRM vol. 1b 1.6, seed 003).
  bool offsets_at_each_vblank;
  // Limits of asynchronous flips by command. Zero: there is no such limit.
  uint8_t async_tilings;            // bit n: planes with tiling code n may flip
  uint64_t async_planes;            // bit n: the plane with number n may flip
  uint32_t async_alignment_B;       // of the surface
  bool async_stride_power_of_two;   // the stride must be a power of two
  uint32_t async_rotated_stride_B;  // least stride of a plane rotated by 180 degrees
};

const DisplayRules& display_rules(spec::GenId gen);

}  // namespace halogen
