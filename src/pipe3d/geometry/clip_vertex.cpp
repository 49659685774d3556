#include "pipe3d/geometry/clip_vertex.h"

#include <bit>

namespace halogen::pipe3d {
namespace {

constexpr size_t kPositionSlot = 1;

float as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

}  // namespace

bool has_position(std::span<const Slot> entry, unsigned view) {
  return entry.size() > kPositionSlot + view;
}

ClipVertex clip_vertex(const PipelineState& state, std::span<const Slot> entry, unsigned view) {
  ClipVertex vertex;
  vertex.slots = entry.data();
  for (size_t c = 0; c < 4; ++c) {
    vertex.position[c] = as_float(entry[kPositionSlot + view][c]);
  }
  if (state.vertex_header == VertexHeaderForm::with_ndc) {
    vertex.point_width = state.raster.point_width_of_vertex ? static_cast<float>(entry[0][3] >> 8 & 0x7ff) / 8
                                                            : state.raster.point_width;
    return vertex;
  }
  const Replication& views = state.replication;
  const size_t distances = kPositionSlot + views.count;
  if ((state.clip.clip_distances | state.clip.cull_distances) != 0) {
    for (size_t i = 0; i < vertex.distance.size() && distances + i / 4 < entry.size(); ++i) {
      vertex.distance[i] = as_float(entry[distances + i / 4][i % 4]);
    }
  }
  vertex.layer = state.clip.force_layer_0 ? 0 : entry[0][1] + views.layer_offset[view];
  const uint32_t viewport = entry[0][2] + views.viewport_offset[view];
  vertex.viewport = viewport <= state.clip.most_viewport ? viewport : 0;
  vertex.point_width = state.raster.point_width_of_vertex ? as_float(entry[0][3]) : state.raster.point_width;
  return vertex;
}

}  // namespace halogen::pipe3d
