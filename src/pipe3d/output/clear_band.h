// Clears of large areas in bands of whole rows. A band is small enough to be one part of a command.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

struct ClearBand {
  static constexpr int64_t kSamples = 1 << 20;  // approximate size of a band

  ClearBand(const Rectangle& whole, uint32_t samples, uint32_t band) : area(whole) {
    const int64_t width = std::max<int64_t>(int64_t{whole.x_max} - whole.x_min + 1, 1);
    const int64_t rows = std::max<int64_t>(kSamples / (width * std::max<uint32_t>(samples, 1)), 1);
    const int64_t first = whole.y_min + rows * band;
    last = first + rows > whole.y_max;
    area.y_min = static_cast<int32_t>(std::min<int64_t>(first, int64_t{whole.y_max} + 1));
    area.y_max = static_cast<int32_t>(std::min<int64_t>(first + rows - 1, whole.y_max));
  }

  Rectangle area;     // empty after the last band
  bool last = false;  // no band follows
};

}  // namespace halogen::pipe3d
