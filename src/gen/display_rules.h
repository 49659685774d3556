// What displays of different generations do differently, beyond their registers.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

struct DisplayRules {
  // Offsets into the surface are taken at each vertical blank, without a flip (seed 003 1.6).
  bool offsets_at_each_vblank;
  // Flips at once, by command. Nothing to check: zero.
  uint8_t async_tilings;       // bit n: the plane's tiling code n may
  uint64_t async_planes;       // bit n: the plane with this number may
  uint32_t async_alignment_B;  // of the surface
  bool async_stride_power_of_two;
  uint32_t async_rotated_stride_B;  // at least, when rotated by 180 degrees
};

DisplayRules display_rules(spec::GenId gen);

}  // namespace halogen
