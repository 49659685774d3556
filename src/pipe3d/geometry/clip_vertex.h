// Reads what clipping needs from the entry of a vertex: a position, distances, a layer and a viewport. With several
// views an entry has one position for each, in consecutive slots after the header; the distances follow the last.
#pragma once

#include <cstdint>
#include <span>

#include "pipe3d/geometry/primitive.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// Returns whether an entry is long enough to hold the position of a view.
bool has_position(std::span<const Slot> entry, unsigned view);

ClipVertex clip_vertex(const PipelineState& state, std::span<const Slot> entry, unsigned view);

}  // namespace halogen::pipe3d
