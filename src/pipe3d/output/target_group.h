// Colours of a whole message: sixteen or eight lanes, each component in a row. Lanes form squares of four pixels, like
// subspans.
#pragma once

#include <array>
#include <cstdint>

namespace halogen::pipe3d {

inline constexpr unsigned kGroupLanes = 16;

struct GroupColours {
  alignas(64) std::array<std::array<float, kGroupLanes>, 4> component;  // red, green, blue, alpha
};

struct Square {
  int32_t x = 0;
  int32_t y = 0;
};
struct PixelGroupPlace {
  unsigned lanes = kGroupLanes;  // 8 or 16
  uint32_t live = 0;             // bit i: lane i is drawn
  uint32_t layer = 0;
  std::array<Square, kGroupLanes / 4> squares{};
};

}  // namespace halogen::pipe3d
