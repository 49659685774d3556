// The part of a job that is drawn after negative coordinates and the clip rectangle (G45 PRM vol. 1b 8.1 and 8.9, seed
// 003).
#pragma once

#include <cstdint>
#include <optional>

#include "blit/blit_job.h"

namespace halogen::blit {

struct Placement {
  Rect rect;             // the drawn rectangle; x in bytes for a linear command
  int32_t source_x = 0;  // colour source: the pixel for the rectangle's first pixel
  int32_t source_y = 0;
  uint32_t skip_x = 0;  // monochrome source: pixels and lines before the rectangle's first
  uint32_t skip_y = 0;

  uint64_t width() const { return static_cast<uint64_t>(rect.x2 - rect.x1); }
  uint64_t height() const { return static_cast<uint64_t>(rect.y2 - rect.y1); }
};

// Returns what is drawn. No value: nothing is drawn, and no memory is accessed.
std::optional<Placement> place(const BlitJob& job);

}  // namespace halogen::blit
