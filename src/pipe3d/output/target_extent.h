// The memory that a target, a depth or a stencil buffer may use, to find out whether pixels can be drawn in any order
// without sharing bytes. A guest may describe buffers that overlap each other, or whose rows overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "message/surface.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

struct TargetExtent {
  uint64_t first = 0;  // first address
  uint64_t end = 0;
  bool pixels_apart = true;  // no two pixels share a byte
};

TargetExtent extent_of(const message::Surface& surface);
TargetExtent extent_of(const PlaneBuffer& buffer, uint32_t element_B, uint32_t samples);
// Returns whether different targets that are used together do not overlap.
bool are_apart(std::vector<TargetExtent> extents);

}  // namespace halogen::pipe3d
