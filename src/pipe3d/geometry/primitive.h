// A primitive before clipping: the interface between shaders or assembly and the fixed functions.
#pragma once

#include <array>
#include <cstdint>

#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// A vertex entry is an array of slots. Slot 0 is the header; the state defines the others.
using Slot = std::array<uint32_t, 4>;

// A vertex of a clipped primitive as weights of the original vertices 1 and 2. Vertex 0 has the remaining weight.
struct WholeWeights {
  std::array<double, 2> perspective{};
  std::array<double, 2> linear{};  // on the screen
};

struct ClipVertex {
  std::array<float, 4> position{};  // clip space; if Clip::divide is false, already divided, with 1/w last
  std::array<float, 8> distance{};  // clip and cull distances
  const Slot* slots = nullptr;      // the entry; null: the original primitive provides the values
  WholeWeights whole;               // for a vertex of a clipped primitive
  uint32_t layer = 0;
  uint32_t viewport = 0;
  float point_width = 1;
};

// Shapes with 1, 2, 3 and 3 vertices.
enum class Shape : uint8_t { point, line, triangle, rectangle };

constexpr unsigned vertices_of(Shape shape) {
  return shape == Shape::point ? 1 : shape == Shape::line ? 2 : 3;
}

struct Primitive {
  Shape shape = Shape::triangle;
  std::array<ClipVertex, 3> vertex;
  uint8_t provoking = 0;
  uint32_t id = 0;
  hw::PrimitiveTopology topology{};
  std::array<bool, 3> edge{true, true, true};  // the edge from vertex i to the next is drawn in wire frame mode
  bool first = true;                           // the first primitive of its strip or polygon
};

}  // namespace halogen::pipe3d
