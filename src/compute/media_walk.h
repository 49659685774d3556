// The positions for which MEDIA_OBJECT_WALKER starts threads, in order. A global loop visits blocks, and a local loop
// visits the positions of a block: an outer start moves by a stride, middle steps start from it, and an inner loop runs
// from each of them to the edge of the block. An outer start outside the block is moved by inner steps until it is
// inside, so slanted waves that begin outside are walked too. If it never gets inside, the wave is empty.
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
