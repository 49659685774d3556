// Cuts primitives at the planes that the state asks for: the view volume or the guard band, near and far, user
// distances. All positions that leave have w > 0 and lie so that window coordinates fit the rasteriser, whatever came
// in; primitives with NaN positions are dropped. Rectangles are never cut. Gen6 and later; on Gen4 the
// clip kernel does this work and only the last rule is left.
//
// Vertices that cutting makes have no values of their own: they are weights of the whole primitive's vertices, in clip
// space and, where 3DSTATE_CLIP asks for it, on the screen as well. On Gen4, whose set-up kernel reads entries, they
// get entries.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipe3d/geometry/primitive.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// Window coordinates behind the clipper are at most this far from the origin, in pixels.
inline constexpr double kWindowLimit = 1 << 20;

// Entries of vertices that cutting has made; they stay where they are.
class EntryPool {
 public:
  Slot* take(uint32_t slots);
  void forget();  // all; memory is kept

 private:
  static constexpr size_t kBlock = 4096;
  std::vector<std::unique_ptr<Slot[]>> blocks_;
  std::vector<std::unique_ptr<Slot[]>> large_;
  size_t block_ = 0;
  size_t used_ = 0;
};

class Clipper {
 public:
  // `slots`: of an entry.
  Clipper(const PipelineState& state, uint32_t slots) : state_(&state), slots_(slots) {}

  // Each piece has the shape of the whole.
  struct Piece {
    Primitive primitive;
    bool cut = false;                    // values come from the whole, by the weights that vertices have of it
    std::array<const Slot*, 3> whole{};  // its entries
    const Slot* flat = nullptr;          // entry of the provoking vertex of the whole: values that are not interpolated
    uint32_t layer = 0;                  // of the whole, from the same vertex
    uint32_t viewport = 0;
  };
  // Adds to `pieces`. Entries of new vertices live until forget().
  void clip(const Primitive& primitive, std::vector<Piece>& pieces);
  void forget() { pool_.forget(); }

 private:
  struct Corner {
    ClipVertex vertex;
    std::array<double, 3> weight{};  // of the vertices of the whole
    bool edge = true;                // the edge that starts here is one of the whole's, or of a user plane
    bool made = false;
  };
  struct Plane {
    std::array<double, 4> normal{};
    double constant = 0;
    int distance = -1;  // index of a user distance instead
    double side(const ClipVertex& vertex) const;
  };

  void find_planes(const Viewport& viewport);
  void cut_polygon(const Plane& plane);
  void clip_point(const Primitive& primitive, Piece& piece, std::vector<Piece>& pieces) const;
  void clip_line(const Primitive& primitive, Piece& piece, std::vector<Piece>& pieces);
  void clip_triangle(const Primitive& primitive, Piece& piece, std::vector<Piece>& pieces);
  Corner between(const Corner& inside, double inside_at, const Corner& outside, double outside_at) const;
  void give_entry(Corner& corner, const Primitive& whole);
  void give_weights(Corner& corner, const Primitive& whole) const;
  void finish(std::span<Corner> corners, const Primitive& whole, Piece& piece);

  const PipelineState* state_;
  uint32_t slots_;
  EntryPool pool_;
  std::vector<Plane> planes_;
  uint32_t planes_of_ = ~0u;  // viewport that planes_ were made for
  std::vector<Corner> polygon_;
  std::vector<Corner> next_;
};

}  // namespace halogen::pipe3d
