// To how many pixels and rows the levels of depth and stencil buffers are padded, by generation (Mesa isl). Software
// cannot choose it, unlike that of other surfaces. Gen4 and Gen5 pad all surfaces alike.
#pragma once

#include <cstdint>

#include "spec/descriptors.h"

namespace halogen {

struct LevelPadding {
  uint8_t x = 4;
  uint8_t y = 4;
};

struct DepthRules {
  LevelPadding depth;
  LevelPadding depth16;
  LevelPadding depth16_odd;  // 2 or 8 samples
  LevelPadding stencil;
};

// Stencil lies in W tiles, and in Y tiles where its levels are padded as theirs are: Gen12.
constexpr bool stencil_in_y_tiles(uint8_t padding_x) {
  return padding_x == 16;
}

const DepthRules& depth_rules(spec::GenId gen);

}  // namespace halogen
