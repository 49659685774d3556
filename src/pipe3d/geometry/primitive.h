// A primitive before clipping: what vertex threads and assembly hand to the fixed functions behind them.
#pragma once

#include <array>
#include <cstdint>

#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// A vertex entry is an array of these: slot 0 header, then what the state says.
using Slot = std::array<uint32_t, 4>;

// A vertex of a cut primitive in weights of the whole one's vertices 1 and 2; that of vertex 0 is the rest.
struct WholeWeights {
  std::array<double, 2> perspective{};
  std::array<double, 2> linear{};  // on the screen
};

struct ClipVertex {
  std::array<float, 4> position{};  // clip space; divided already, with 1/w last, when the state divides no more
  std::array<float, 8> distance{};  // clip and cull distances
  const Slot* slots = nullptr;      // the entry; none where the whole primitive gives values
  WholeWeights whole;               // of a cut primitive's vertex
  uint32_t layer = 0;
  uint32_t viewport = 0;
  float point_width = 1;
};

// 1 vertex, 2, 3, 3.
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
  std::array<bool, 3> edge{true, true, true};  // edge i from vertex i to the next is drawn in wire frames
  bool first = true;                           // of its strip or polygon
};

}  // namespace halogen::pipe3d
