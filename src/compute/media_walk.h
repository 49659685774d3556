// The positions that MEDIA_OBJECT_WALKER starts threads for, in their order. A global loop goes through blocks, a local
// one through the positions of a block: an outer start moves by a stride, with it a few middle steps, and from each of
// them an inner loop goes as far as the block does. An outer start beyond the block is moved on by inner steps until it
// is inside, so that slanted waves that begin outside are walked too; the loop ends when it cannot be.
//
// Left out: the two-way walks of Gen6 (dual mode, repel).
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

// False: they are more than `most`, or loops that do nothing are too many to go through.
bool walk_positions(const hw::MEDIA_OBJECT_WALKER& walker, size_t most, std::vector<MediaPosition>& positions);

}  // namespace halogen::compute
