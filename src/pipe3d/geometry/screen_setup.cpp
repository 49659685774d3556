#include "pipe3d/geometry/screen_setup.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halogen::pipe3d {
namespace {

constexpr double kMaxGrid = 2 * kWindowLimit * kGrid;

int32_t to_grid(float value, unsigned fraction_bits) {
  const int coarse = kGridBits - static_cast<int>(std::min<unsigned>(fraction_bits, kGridBits));
  const double steps = std::nearbyint(std::ldexp(static_cast<double>(value), kGridBits - coarse));
  // The value is not NaN, because place() has rejected NaN. An infinite value is clamped.
  return static_cast<int32_t>(std::clamp(std::ldexp(steps, coarse), -kMaxGrid, kMaxGrid));
}

// Computes the screen position of a vertex. False: it has none.
bool place(const PipelineState& state, const Viewport& viewport, const ClipVertex& from, ScreenVertex& to) {
  float x = from.position[0];
  float y = from.position[1];
  float z = from.position[2];
  to.rhw = from.position[3];
  if (state.clip.divide) {
    to.rhw = 1.0f / from.position[3];
    x *= to.rhw;
    y *= to.rhw;
    z *= to.rhw;
  }
  if (state.raster.viewport_transform) {
    x = x * viewport.scale[0] + viewport.move[0];
    y = y * viewport.scale[1] + viewport.move[1];
    z = z * viewport.scale[2] + viewport.move[2];
  }
  x += static_cast<float>(state.raster.origin[0]) - state.raster.origin_bias;
  y += static_cast<float>(state.raster.origin[1]) - state.raster.origin_bias;
  if (std::isnan(x) || std::isnan(y)) {
    return false;
  }
  to.grid_x = to_grid(x, state.raster.sub_pixel_bits);
  to.grid_y = to_grid(y, state.raster.sub_pixel_bits);
  to.x = static_cast<float>(to.grid_x) / static_cast<float>(kGrid);
  to.y = static_cast<float>(to.grid_y) / static_cast<float>(kGrid);
  to.z = z;
  to.slots = from.slots;
  to.whole = from.whole;
  return true;
}

// Returns twice the area. Clockwise on the screen is positive.
int64_t area_of(const std::array<ScreenVertex, 3>& v) {
  const int64_t dx1 = int64_t{v[1].grid_x} - v[0].grid_x;
  const int64_t dy1 = int64_t{v[1].grid_y} - v[0].grid_y;
  const int64_t dx2 = int64_t{v[2].grid_x} - v[0].grid_x;
  const int64_t dy2 = int64_t{v[2].grid_y} - v[0].grid_y;
  return dx1 * dy2 - dx2 * dy1;
}

bool culled(hw::CullMode mode, bool front) {
  switch (mode) {
    case hw::CullMode::BOTH:
      return true;
    case hw::CullMode::NONE:
      return false;
    case hw::CullMode::FRONT:
      return front;
    case hw::CullMode::BACK:
      return !front;
  }
  return false;
}

// Returns the smallest step of a depth format for polygon offset.
double depth_step(hw::DepthFormat format, double largest_z) {
  switch (format) {
    case hw::DepthFormat::D16_UNORM:
      return 0x1p-16;
    case hw::DepthFormat::D24_UNORM_S8_UINT:
    case hw::DepthFormat::D24_UNORM_X8_UINT:
      return 0x1p-24;
    case hw::DepthFormat::D32_FLOAT:
    case hw::DepthFormat::D32_FLOAT_S8X24_UINT:
      return largest_z > 0 ? std::ldexp(1.0, std::ilogb(largest_z) - 23) : 0x1p-149;
  }
  return 0x1p-24;
}

float offset_of(const PipelineState& state, const std::array<ScreenVertex, 3>& v, int64_t area) {
  const Raster& raster = state.raster;
  const double scale = area != 0 ? static_cast<double>(kGrid) / static_cast<double>(area) : 0.0;
  const double dz1 = static_cast<double>(v[1].z) - v[0].z;
  const double dz2 = static_cast<double>(v[2].z) - v[0].z;
  const double dz_dx = (dz1 * (v[2].grid_y - v[0].grid_y) - dz2 * (v[1].grid_y - v[0].grid_y)) * scale;
  const double dz_dy = (dz2 * (v[1].grid_x - v[0].grid_x) - dz1 * (v[2].grid_x - v[0].grid_x)) * scale;
  const double slope = std::max(std::abs(dz_dx), std::abs(dz_dy));
  const double largest = std::max({std::abs(v[0].z), std::abs(v[1].z), std::abs(v[2].z)});
  double offset =
      raster.offset_constant * depth_step(state.output.buffers.format, largest) + raster.offset_scale * slope;
  if (raster.offset_clamp > 0) {
    offset = std::min<double>(offset, raster.offset_clamp);
  } else if (raster.offset_clamp < 0) {
    offset = std::max<double>(offset, raster.offset_clamp);
  }
  return std::isnan(offset) ? 0.0f : static_cast<float>(offset);
}

float width_of_point(const PipelineState& state, const ClipVertex& vertex) {
  if (!state.raster.point_width_of_vertex) {
    return state.raster.point_width;
  }
  const float width = std::isnan(vertex.point_width) ? 0.0f : vertex.point_width;
  return std::max(std::min(width, state.clip.point_width_max), state.clip.point_width_min);
}

bool is_strip(hw::PrimitiveTopology topology) {
  switch (topology) {
    case hw::PrimitiveTopology::LINESTRIP:
    case hw::PrimitiveTopology::LINESTRIP_ADJ:
    case hw::PrimitiveTopology::LINESTRIP_CONT:
    case hw::PrimitiveTopology::LINESTRIP_BF:
    case hw::PrimitiveTopology::LINESTRIP_CONT_BF:
    case hw::PrimitiveTopology::LINELOOP:
      return true;
    default:
      return false;
  }
}

// Returns whether triangles of a topology are parts of one outline.
bool is_outline(hw::PrimitiveTopology topology) {
  return topology == hw::PrimitiveTopology::POLYGON || topology == hw::PrimitiveTopology::QUADLIST ||
         topology == hw::PrimitiveTopology::QUADSTRIP;
}

// Returns the steps of the line pattern: the number of pixel positions that the line passes along its longer axis.
uint32_t steps_of(const Raster& raster, const ScreenVertex& from, const ScreenVertex& to) {
  const bool steep = std::abs(int64_t{to.grid_y} - from.grid_y) > std::abs(int64_t{to.grid_x} - from.grid_x);
  const int64_t centre = raster.corner_sample ? 0 : kGrid / 2;
  const int64_t start = steep ? from.grid_y : from.grid_x;
  const int64_t end = steep ? to.grid_y : to.grid_x;
  const auto pixels_before = [&](int64_t grid) { return (grid - centre + kGrid - 1) >> kGridBits; };
  return static_cast<uint32_t>(std::abs(pixels_before(end) - pixels_before(start)));
}

void add_line(const PipelineState& state, ScreenPrimitive line, std::vector<ScreenPrimitive>& out,
              uint32_t& line_steps) {
  line.shape = Shape::line;
  line.width = state.raster.line_width;
  line.stippled = false;
  if (state.raster.line_stipple) {
    line.stipple_at = line_steps;
    line_steps += steps_of(state.raster, line.vertex[0], line.vertex[1]);
  }
  out.push_back(line);
}

// Orders the corners of a rectangle as its setup thread gets them: the topmost first, the leftmost of two, then
// clockwise. The thread computes its planes from the edges of the first corner.
void order_corners(ScreenPrimitive& rectangle) {
  std::array<ScreenVertex, 3>& v = rectangle.vertex;
  const auto rank = [&](uint8_t corner) { return std::pair(v[corner].grid_y, v[corner].grid_x); };
  std::array<uint8_t, 3> order{0, 1, 2};
  std::rotate(order.begin(), std::ranges::min_element(order, {}, rank), order.end());
  // The y axis points down: the area of a clockwise triangle is positive.
  if (area_of({v[order[0]], v[order[1]], v[order[2]]}) < 0) {
    std::swap(order[1], order[2]);
  }
  const std::array<ScreenVertex, 3> given = v;
  for (size_t to = 0; to < order.size(); ++to) {
    v[to] = given[order[to]];
  }
  rectangle.provoking = static_cast<uint8_t>(std::ranges::find(order, rectangle.provoking) - order.begin());
}

}  // namespace

Rectangle draw_bounds(const PipelineState& state, uint32_t viewport) {
  const Viewport& view = state.viewports[std::min<size_t>(viewport, kMaxViewports - 1)];
  Rectangle bounds = intersect(state.raster.drawing, {.x_min = 0, .y_min = 0, .x_max = 0xffff, .y_max = 0xffff});
  if (state.raster.scissor) {
    bounds = intersect(bounds, view.scissor);
  }
  if (view.has_extent) {
    bounds = intersect(bounds, view.extent);
  }
  return bounds;
}

void set_up(const PipelineState& state, const ClippedPart& part, std::vector<ScreenPrimitive>& out,
            uint32_t& line_steps) {
  const Primitive& from = part.primitive;
  ScreenPrimitive to;
  to.shape = from.shape;
  to.cut = part.cut;
  to.whole = part.whole;
  to.flat = part.flat;
  to.provoking = part.primitive.provoking;
  to.id = from.id;
  to.layer = part.layer;
  to.viewport = std::min<uint32_t>(part.viewport, kMaxViewports - 1);
  to.topology = from.topology;
  to.bounds = draw_bounds(state, to.viewport);
  if (empty(to.bounds)) {
    return;
  }
  for (unsigned i = 0; i < vertices_of(from.shape); ++i) {
    if (!place(state, state.viewports[to.viewport], from.vertex[i], to.vertex[i])) {
      return;
    }
  }
  switch (from.shape) {
    case Shape::point:
      to.width = width_of_point(state, from.vertex[0]);
      out.push_back(to);
      return;
    case Shape::line:
      if (from.first || !is_strip(from.topology)) {
        line_steps = 0;
      }
      add_line(state, to, out, line_steps);
      return;
    case Shape::rectangle:
      if (state.ordered_corners) {
        order_corners(to);
      }
      out.push_back(to);
      return;
    case Shape::triangle:
      break;
  }
  const int64_t area = area_of(to.vertex);
  if (area == 0 && !state.raster.conservative) {
    return;
  }
  // A triangle without an area is back-facing, which is a choice of the model.
  to.front = area != 0 && (area < 0) == state.raster.front_counter_clockwise;
  if (culled(state.raster.cull, to.front)) {
    return;
  }
  switch (to.front ? state.raster.front_fill : state.raster.back_fill) {
    case hw::FillMode::WIREFRAME:
      to.depth_offset = state.raster.offset_line ? offset_of(state, to.vertex, area) : 0.0f;
      if (from.first || !is_outline(from.topology)) {
        line_steps = 0;
      }
      for (size_t i = 0; i < 3; ++i) {
        if (from.edge[i]) {
          ScreenPrimitive line = to;
          line.vertex[0] = to.vertex[i];
          line.vertex[1] = to.vertex[(i + 1) % 3];
          add_line(state, line, out, line_steps);
        }
      }
      return;
    case hw::FillMode::POINT:
      to.depth_offset = state.raster.offset_point ? offset_of(state, to.vertex, area) : 0.0f;
      for (size_t i = 0; i < 3; ++i) {
        if (from.edge[i]) {
          ScreenPrimitive point = to;
          point.shape = Shape::point;
          point.vertex[0] = to.vertex[i];
          point.width = width_of_point(state, from.vertex[i]);
          out.push_back(point);
        }
      }
      return;
    case hw::FillMode::SOLID:
      break;
  }
  to.depth_offset = state.raster.offset_solid ? offset_of(state, to.vertex, area) : 0.0f;
  to.stippled = state.raster.polygon_stipple;
  out.push_back(to);
}

}  // namespace halogen::pipe3d
