// From primitives in clip space to pixels: vertices on the screen, clipping, edge functions, coverage. It knows no
// shader: attributes stay in vertex entries, and what leaves is subspans (2x2 pixels) with coverage and barycentrics.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pipe3d/pipeline_state.h"

namespace halogen::pipe3d {

using Slots = std::span<const std::array<uint32_t, 4>>;  // a vertex entry: slot 0 header, then what the state says

struct ClipVertex {
  std::array<float, 4> position{};                 // clip space, or the window when there is no divide and no transform
  std::array<float, 8> distance{};                 // clip and cull distances
  const std::array<uint32_t, 4>* slots = nullptr;  // the entry; of a cut vertex one of its own
  uint32_t layer = 0;
  uint32_t viewport = 0;
  float point_width = 1;
};

// A primitive before clipping: 1 point, 2 line, 3 triangle, rectangle.
enum class Shape : uint8_t { point, line, triangle, rectangle };

struct Primitive {
  Shape shape = Shape::triangle;
  std::array<ClipVertex, 3> vertex;
  uint8_t provoking = 0;
  uint32_t id = 0;
  hw::PrimitiveTopology topology{};
  std::array<bool, 3> edge{true, true, true};  // edge i from vertex i to the next is drawn in wire frames
};

// Cuts a primitive at the planes that the state asks for. New vertices live in `made` (their entries too), which must
// outlive what comes out. Gives nothing when all is outside. `slots`: of an entry.
class Clipper {
 public:
  Clipper(const PipelineState& state, uint32_t slots) : state_(&state), slots_(slots) {}
  // Each piece has the shape of the whole; `provoking` of a piece names a vertex of `source` that keeps flat values.
  struct Piece {
    Primitive primitive;
    const std::array<uint32_t, 4>* flat = nullptr;  // entry of the provoking vertex
  };
  void clip(const Primitive& primitive, std::vector<Piece>& pieces);

 private:
  const PipelineState* state_;
  uint32_t slots_;
  std::vector<std::vector<std::array<uint32_t, 4>>> made_;
};

// A primitive on the screen, ready to be walked.
struct ScreenVertex {
  float x = 0;  // window, rounded to the sub-pixel grid
  float y = 0;
  float z = 0;
  float rhw = 1;  // 1/w
  const std::array<uint32_t, 4>* slots = nullptr;
};

struct ScreenPrimitive {
  Shape shape = Shape::triangle;
  std::array<ScreenVertex, 3> vertex;
  const std::array<uint32_t, 4>* flat = nullptr;
  bool front = true;
  uint32_t id = 0;
  uint32_t layer = 0;
  uint32_t viewport = 0;
  hw::PrimitiveTopology topology{};
  float width = 1;         // of a point or line
  float depth_offset = 0;  // polygon offset, added to z
  Rectangle bounds;        // drawing rectangle, scissor, viewport, target: what may be touched
};

// Divide, viewport, rounding, facing, culling, fill modes (a triangle in wire frame becomes lines), polygon offset.
void set_up(const PipelineState& state, const Clipper::Piece& piece, std::vector<ScreenPrimitive>& out);

// Four pixels: lanes upper left, upper right, lower left, lower right. Mask of samples for each.
struct Subspan {
  int32_t x = 0;  // even
  int32_t y = 0;
  std::array<uint16_t, 4> coverage{};
};

// Everything to interpolate a covered pixel. Weights are those of vertices 1 and 2; that of vertex 0 is the rest.
class Rasteriser {
 public:
  Rasteriser(const PipelineState& state, const ScreenPrimitive& primitive);

  // Subspans with any coverage inside the window, in a fixed order: rows of 2x2 from top to bottom, left to right.
  void walk(const Rectangle& window, const std::function<void(const Subspan&)>& each) const;

  struct Weights {
    float first = 0;   // of vertex 1
    float second = 0;  // of vertex 2
  };
  // At any point of the plane, in pixels (x + 0.5 is a centre).
  Weights linear(float x, float y) const;
  Weights perspective(float x, float y) const;
  float depth(float x, float y) const;  // with polygon offset, before clamping
  float w(float x, float y) const;
  // Sprite coordinates of a point.
  std::array<float, 2> sprite(float x, float y, bool lower_left) const;
};

}  // namespace halogen::pipe3d
