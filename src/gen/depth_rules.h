// Layout of depth and stencil buffers by generation (Mesa isl): the pixels and rows that levels are padded to, and the
// tiles of stencil. Software cannot choose them, unlike those of other surfaces. Gen4 and Gen5 pad all surfaces alike.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

struct LevelPadding {
  uint8_t x = 4;
  uint8_t y = 4;
};

struct DepthRules {
  spec::GenMask gens;
  LevelPadding depth;
  LevelPadding depth16;
  LevelPadding depth16_odd;  // 2 or 8 samples
  LevelPadding stencil;
  bool stencil_in_w_tiles;  // else in Y tiles
};

const DepthRules& depth_rules(spec::GenId gen);

}  // namespace halogen
