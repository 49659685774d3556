// The positions for which MEDIA_OBJECT_WALKER starts threads, in order. A global loop visits blocks, and a local loop
// visits the positions of each block. In the local loop, the outer start moves by a stride, the middle loop makes
// further starts from it, and the inner loop runs from each start to the edge of the block. If the outer start is
// outside the block, inner steps first move it inside, so that slanted waves that begin outside are walked too. If it
// never gets inside, the wave is empty.
//
// Not modelled: the two-way walks of Gen6 (dual mode, repel).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/media.h"

namespace halogen::compute {

struct MediaPosition {
  uint16_t x = 0;
  uint16_t y = 0;
  bool operator==(const MediaPosition&) const = default;
};

// Computes the positions. False: there are more than `max`, or too many empty loops to visit.
bool walk_positions(const hw::MEDIA_OBJECT_WALKER& walker, size_t max, std::vector<MediaPosition>& positions);

}  // namespace halogen::compute
