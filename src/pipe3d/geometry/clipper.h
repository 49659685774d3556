// Clips primitives at the planes that the state enables: the view volume or the guard band, near and far, user
// distances. All resulting positions have w > 0 and window coordinates in the range of the rasteriser, whatever the
// input is. Primitives with NaN positions are dropped. Rectangles are never clipped. Gen6 and later; on Gen4 the clip
// kernel clips, and only the range of the rasteriser is enforced here.
//
// Vertices that clipping creates have no values of their own. They hold weights of the original primitive's vertices,
// in clip space and, if 3DSTATE_CLIP requests it, on the screen. On Gen4 they get entries, because the set-up kernel
// reads entries.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipe3d/geometry/primitive.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// Maximum distance of window coordinates from the origin after clipping, in pixels.
inline constexpr double kWindowLimit = 1 << 20;

// Entries of vertices that clipping created. Their addresses are stable.
class EntryPool {
 public:
  Slot* take(uint32_t slots);
  void forget();  // drops all entries; keeps the memory

 private:
  static constexpr size_t kBlock = 4096;
  std::vector<std::unique_ptr<Slot[]>> blocks_;
  std::vector<std::unique_ptr<Slot[]>> large_;
  size_t block_ = 0;
  size_t used_ = 0;
};

// A part of a clipped primitive, with the same Shape: the rest of a triangle is split into triangles.
struct ClippedPart {
  Primitive primitive;
  bool cut = false;                    // values come from the original primitive, by the weights of the vertices
  std::array<const Slot*, 3> whole{};  // entries of the original primitive
  const Slot* flat = nullptr;          // entry of the original's provoking vertex: values that are not interpolated
  uint32_t layer = 0;                  // of the same vertex
  uint32_t viewport = 0;
};

class Clipper {
 public:
  // `slots`: size of an entry.
  Clipper(const PipelineState& state, uint32_t slots) : state_(&state), slots_(slots) {}

  // Adds the parts of a primitive to `parts`. Entries of new vertices live until forget().
  void clip(const Primitive& primitive, std::vector<ClippedPart>& parts);
  void forget() { pool_.forget(); }

 private:
  struct Corner {
    ClipVertex vertex;
    std::array<double, 3> weight{};  // of the original primitive's vertices
    bool edge = true;                // the edge that starts here belongs to the original primitive or to a user plane
    bool made = false;
  };
  struct Plane {
    std::array<double, 4> normal{};
    double constant = 0;
    int distance = -1;  // index of a user distance; -1: a plane
    double side(const ClipVertex& vertex) const;
  };

  void find_planes(const Viewport& viewport);
  void cut_polygon(const Plane& plane);
  void clip_point(const Primitive& primitive, ClippedPart& part, std::vector<ClippedPart>& parts) const;
  void clip_line(const Primitive& primitive, ClippedPart& part, std::vector<ClippedPart>& parts);
  void clip_triangle(const Primitive& primitive, ClippedPart& part, std::vector<ClippedPart>& parts);
  Corner between(const Corner& inside, double inside_at, const Corner& outside, double outside_at) const;
  void give_entry(Corner& corner, const Primitive& whole);
  void give_weights(Corner& corner, const Primitive& whole) const;
  void finish(std::span<Corner> corners, const Primitive& whole, ClippedPart& part);

  const PipelineState* state_;
  uint32_t slots_;
  EntryPool pool_;
  std::vector<Plane> planes_;
  uint32_t planes_of_ = ~0u;  // index of the viewport that planes_ belong to
  std::vector<Corner> polygon_;
  std::vector<Corner> next_;
};

}  // namespace halogen::pipe3d
