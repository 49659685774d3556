#include "blit/blit_place.h"

#include <algorithm>

namespace halogen::blit {

std::optional<Placement> place(const BlitJob& job) {
  Rect whole = job.rect;
  int32_t source_x = job.source_x;
  int32_t source_y = job.source_y;
  if (job.source == SourceKind::color) {
    // A negative source coordinate shifts the first corner of the destination, before clipping.
    whole.x1 += std::max(-source_x, 0);
    whole.y1 += std::max(-source_y, 0);
    source_x = std::max(source_x, 0);
    source_y = std::max(source_y, 0);
  }
  if (whole.empty()) {
    return std::nullopt;
  }
  Rect drawn = whole;
  if (job.clipped) {
    drawn = {std::max(whole.x1, job.clip.x1), std::max(whole.y1, job.clip.y1), std::min(whole.x2, job.clip.x2),
             std::min(whole.y2, job.clip.y2)};
  }
  drawn.x1 = std::max(drawn.x1, 0);
  drawn.y1 = std::max(drawn.y1, 0);
  if (drawn.empty()) {
    return std::nullopt;
  }
  Placement placement;
  placement.rect = drawn;
  placement.source_x = source_x + (drawn.x1 - whole.x1);
  placement.source_y = source_y + (drawn.y1 - whole.y1);
  placement.skip_x = static_cast<uint32_t>(drawn.x1 - whole.x1);
  placement.skip_y = static_cast<uint32_t>(drawn.y1 - whole.y1);
  return placement;
}

}  // namespace halogen::blit
