// The memory that a target, a depth or a stencil buffer may take: whether pixels can be drawn in any order without one
// touching another's bytes. A guest may describe buffers that lie over each other, or whose rows do.
#pragma once

#include <cstdint>
#include <vector>

#include "message/surface.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

struct TargetExtent {
  uint64_t first = 0;  // address
  uint64_t end = 0;
  bool pixels_apart = true;  // no two share a byte
};

TargetExtent extent_of(const message::Surface& surface);
TargetExtent extent_of(const PlaneBuffer& buffer, uint32_t element_B, uint32_t samples);
// Different ones that are used together.
bool are_apart(std::vector<TargetExtent> extents);

}  // namespace halogen::pipe3d
