// From clip space to the screen: division, viewport, rounding to the sub-pixel grid, facing, culling, fill modes,
// polygon offset, and the drawing bounds. All generations; on Gen4 the set-up kernel additionally computes planes of
// attributes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pipe3d/geometry/clipper.h"
#include "pipe3d/geometry/primitive.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// The grid of all coordinates. If the state selects fewer fraction bits, positions are rounded to those first.
inline constexpr int kGridBits = 8;
inline constexpr int32_t kGrid = 1 << kGridBits;

struct ScreenVertex {
  float x = 0;  // window coordinates, rounded to the sub-pixel grid
  float y = 0;
  float z = 0;
  float rhw = 1;  // 1/w
  const Slot* slots = nullptr;
  int32_t grid_x = 0;  // x and y exactly, in steps of the grid
  int32_t grid_y = 0;
  WholeWeights whole;  // for a vertex of a clipped primitive
};

// A primitive on the screen, ready for rasterisation.
struct ScreenPrimitive {
  Shape shape = Shape::triangle;
  std::array<ScreenVertex, 3> vertex;
  bool cut = false;                    // values come from the original primitive, by the weights of the vertices
  std::array<const Slot*, 3> whole{};  // entries of the original primitive
  const Slot* flat = nullptr;          // entry that provides values that are not interpolated
  uint8_t provoking = 0;               // index of its vertex
  bool front = true;
  uint32_t id = 0;
  uint32_t layer = 0;
  uint32_t viewport = 0;
  hw::PrimitiveTopology topology{};
  float width = 1;          // of a point or line
  float depth_offset = 0;   // polygon offset, added to z
  bool stippled = false;    // by the polygon pattern
  uint32_t stipple_at = 0;  // steps of the line pattern before the first vertex
  Rectangle bounds;         // drawing rectangle, scissor and viewport: pixels that may be written
};

// Appends the primitives to draw: none, one, or the lines or points of a triangle that is not filled. `line_steps`
// counts steps of the line pattern. It restarts with each strip, each line of a list and each outline.
void set_up(const PipelineState& state, const ClippedPart& part, std::vector<ScreenPrimitive>& out,
            uint32_t& line_steps);

// Returns the pixels that primitives of a viewport may write.
Rectangle draw_bounds(const PipelineState& state, uint32_t viewport);

constexpr Rectangle intersect(const Rectangle& a, const Rectangle& b) {
  return {.x_min = a.x_min > b.x_min ? a.x_min : b.x_min,
          .y_min = a.y_min > b.y_min ? a.y_min : b.y_min,
          .x_max = a.x_max < b.x_max ? a.x_max : b.x_max,
          .y_max = a.y_max < b.y_max ? a.y_max : b.y_max};
}
constexpr bool empty(const Rectangle& r) {
  return r.x_max < r.x_min || r.y_max < r.y_min;
}
constexpr uint64_t pixels_of(const Rectangle& r) {
  return empty(r) ? 0 : static_cast<uint64_t>(r.x_max - r.x_min + 1) * static_cast<uint64_t>(r.y_max - r.y_min + 1);
}

}  // namespace halogen::pipe3d
