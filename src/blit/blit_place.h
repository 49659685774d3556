// Where a job draws after negative coordinates and the clip rectangle (seed 003 8.1 and 8.9).
#pragma once

#include <cstdint>
#include <optional>

#include "blit/blit_job.h"

namespace halogen::blit {

struct Placement {
  Rect rect;             // what is drawn; x in bytes for a linear command
  int32_t source_x = 0;  // of a colour source: the pixel for the rectangle's first
  int32_t source_y = 0;
  uint32_t skip_x = 0;  // of a monochrome source: pixels and lines before the rectangle's first
  uint32_t skip_y = 0;

  uint64_t width() const { return static_cast<uint64_t>(rect.x2 - rect.x1); }
  uint64_t height() const { return static_cast<uint64_t>(rect.y2 - rect.y1); }
};

// Nothing: the job is rejected without an access.
std::optional<Placement> place(const BlitJob& job);

}  // namespace halogen::blit
