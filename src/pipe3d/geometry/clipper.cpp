#include "pipe3d/geometry/clipper.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace halogen::pipe3d {
namespace {

constexpr size_t kMaxCorners = 64;

bool usable(const Primitive& primitive) {
  for (unsigned i = 0; i < vertices_of(primitive.shape); ++i) {
    for (const float value : primitive.vertex[i].position) {
      if (!std::isfinite(value)) {
        return false;
      }
    }
  }
  return true;
}

// Returns whether all vertices are outside of one distance, or a clip distance of a vertex is NaN or infinite.
bool dropped_by_distances(const Clip& clip, const Primitive& primitive) {
  const unsigned count = vertices_of(primitive.shape);
  for (unsigned i = 0; i < 8; ++i) {
    const bool cull = (clip.cull_distances >> i & 1) != 0;
    const bool cut = (clip.clip_distances >> i & 1) != 0;
    if (!cull && !cut) {
      continue;
    }
    bool all_outside = true;
    for (unsigned v = 0; v < count; ++v) {
      const float distance = primitive.vertex[v].distance[i];
      if (cut && !std::isfinite(distance)) {
        return true;
      }
      all_outside = all_outside && !(distance >= 0.0f);
    }
    if (all_outside) {
      return true;
    }
  }
  return false;
}

}  // namespace

Slot* EntryPool::take(uint32_t slots) {
  if (slots > kBlock) {
    return large_.emplace_back(std::make_unique<Slot[]>(slots)).get();
  }
  if (used_ + slots > kBlock) {
    ++block_;
    used_ = 0;
  }
  if (block_ >= blocks_.size()) {
    blocks_.push_back(std::make_unique<Slot[]>(kBlock));
  }
  Slot* at = blocks_[block_].get() + used_;
  used_ += slots;
  return at;
}

void EntryPool::forget() {
  large_.clear();
  block_ = 0;
  used_ = 0;
}

double Clipper::Plane::side(const ClipVertex& vertex) const {
  if (distance >= 0) {
    return vertex.distance[static_cast<size_t>(distance)];
  }
  double sum = constant;
  for (size_t i = 0; i < 4; ++i) {
    sum += normal[i] * vertex.position[i];
  }
  return sum;
}

// Sets the planes of a viewport in a fixed order, so that two primitives with a common edge cut it at the same
// positions.
void Clipper::find_planes(const Viewport& viewport) {
  const Clip& clip = state_->clip;
  planes_.clear();
  // x and y are limited by the state and by the range of the rasteriser.
  const bool tests = clip.enabled && !clip.accept_all;
  const bool test_xy = tests && clip.xy_test;
  const std::array<std::array<float, 2>, 2> band = {
      {{viewport.guard_x_min, viewport.guard_x_max}, {viewport.guard_y_min, viewport.guard_y_max}}};
  for (size_t axis = 0; axis < 2; ++axis) {
    const double scale = state_->raster.viewport_transform ? viewport.scale[axis] : 1.0;
    const double move = state_->raster.viewport_transform ? viewport.move[axis] : 0.0;
    double low = -1e30;
    double high = 1e30;
    if (std::isfinite(scale) && std::isfinite(move) && std::abs(scale) > 1e-30) {
      // Leaves a margin of a pixel, because positions are rounded afterwards.
      const double one = (-kWindowLimit + 1 - move) / scale;
      const double other = (kWindowLimit - 1 - move) / scale;
      low = std::min(one, other);
      high = std::max(one, other);
    }
    if (test_xy && !clip.guard_band) {
      low = std::max(low, -1.0);
      high = std::min(high, 1.0);
    } else if (test_xy && band[axis][0] < band[axis][1]) {
      low = std::max<double>(low, band[axis][0]);
      high = std::min<double>(high, band[axis][1]);
    }
    // low * w <= x <= high * w. If positions are already divided, w is one.
    Plane below;
    below.normal[axis] = 1;
    (clip.divide ? below.normal[3] : below.constant) = -low;
    planes_.push_back(below);
    Plane above;
    above.normal[axis] = -1;
    (clip.divide ? above.normal[3] : above.constant) = high;
    planes_.push_back(above);
  }
  if (tests && clip.z_near_test) {
    Plane near;
    near.normal[2] = 1;
    if (!clip.zero_to_one) {
      (clip.divide ? near.normal[3] : near.constant) = 1;
    }
    planes_.push_back(near);
  }
  if (tests && clip.z_far_test) {
    Plane far;
    far.normal[2] = -1;
    (clip.divide ? far.normal[3] : far.constant) = 1;
    planes_.push_back(far);
  }
  for (int i = 0; i < 8; ++i) {
    if (clip.enabled && (clip.clip_distances >> i & 1) != 0) {
      Plane user;
      user.distance = i;
      planes_.push_back(user);
    }
  }
}

void Clipper::clip(const Primitive& primitive, std::vector<ClippedPart>& parts) {
  const Clip& clip = state_->clip;
  if ((clip.enabled && clip.reject_all) || !usable(primitive)) {
    return;
  }
  const unsigned count = vertices_of(primitive.shape);
  const ClipVertex& provoking = primitive.vertex[primitive.provoking < count ? primitive.provoking : 0];
  ClippedPart part;
  part.flat = provoking.slots;
  part.layer = clip.force_layer_0 ? 0 : provoking.layer;
  part.viewport = std::min<uint32_t>(provoking.viewport, std::min<uint32_t>(clip.most_viewport, kMaxViewports - 1));
  if (primitive.shape == Shape::rectangle) {
    part.primitive = primitive;
    parts.push_back(part);
    return;
  }
  if (clip.enabled && dropped_by_distances(clip, primitive)) {
    return;
  }
  if (planes_of_ != part.viewport) {
    find_planes(state_->viewports[part.viewport]);
    planes_of_ = part.viewport;
  }
  switch (primitive.shape) {
    case Shape::point:
      return clip_point(primitive, part, parts);
    case Shape::line:
      return clip_line(primitive, part, parts);
    case Shape::triangle:
      return clip_triangle(primitive, part, parts);
    case Shape::rectangle:
      return;
  }
}

void Clipper::clip_point(const Primitive& primitive, ClippedPart& part, std::vector<ClippedPart>& parts) const {
  const ClipVertex& vertex = primitive.vertex[0];
  if (state_->clip.divide && !(vertex.position[3] > 0.0f)) {
    return;
  }
  for (const Plane& plane : planes_) {
    if (!(plane.side(vertex) >= 0.0)) {
      return;
    }
  }
  part.primitive = primitive;
  parts.push_back(part);
}

// Computes the vertex in which an edge is cut, always from the inner to the outer vertex. Both primitives at the edge
// thus get the same vertex.
Clipper::Corner Clipper::between(const Corner& inside, double inside_at, const Corner& outside,
                                 double outside_at) const {
  const double t = inside_at / (inside_at - outside_at);
  Corner made = inside;
  made.made = true;
  const auto mix = [t](double from, double to) { return from + (to - from) * t; };
  for (size_t i = 0; i < 4; ++i) {
    made.vertex.position[i] = static_cast<float>(mix(inside.vertex.position[i], outside.vertex.position[i]));
  }
  for (size_t i = 0; i < 8; ++i) {
    made.vertex.distance[i] = static_cast<float>(mix(inside.vertex.distance[i], outside.vertex.distance[i]));
  }
  for (size_t i = 0; i < 3; ++i) {
    made.weight[i] = mix(inside.weight[i], outside.weight[i]);
  }
  made.vertex.point_width = static_cast<float>(mix(inside.vertex.point_width, outside.vertex.point_width));
  return made;
}

// Sets the weights of a vertex. Weights p of the corners in clip space are p * w / sum(p * w) on the screen.
void Clipper::give_weights(Corner& corner, const Primitive& whole) const {
  corner.vertex.whole.perspective = {corner.weight[1], corner.weight[2]};
  corner.vertex.whole.linear = corner.vertex.whole.perspective;
  std::array<double, 3> part{};
  double sum = 0;
  for (size_t i = 0; i < vertices_of(whole.shape); ++i) {
    part[i] = corner.weight[i] * whole.vertex[i].position[3];
    sum += part[i];
  }
  if (state_->clip.linear_weights && sum != 0) {
    corner.vertex.whole.linear = {part[1] / sum, part[2] / sum};
  }
}

void Clipper::finish(std::span<Corner> corners, const Primitive& whole, ClippedPart& part) {
  part.cut = state_->clip.divide;
  for (size_t i = 0; i < vertices_of(whole.shape); ++i) {
    part.whole[i] = whole.vertex[i].slots;
  }
  for (Corner& corner : corners) {
    if (!part.cut) {
      give_entry(corner, whole);
      continue;
    }
    // Rounding may have made w zero.
    if (!(corner.vertex.position[3] > 0.0f)) {
      corner.vertex.position[3] = 1e-30f;
    }
    give_weights(corner, whole);
    corner.vertex.slots = nullptr;
  }
}

void Clipper::give_entry(Corner& corner, const Primitive& whole) {
  if (!corner.made || slots_ == 0) {
    return;
  }
  Slot* entry = pool_.take(slots_);
  const unsigned count = vertices_of(whole.shape);
  for (uint32_t s = 0; s < slots_; ++s) {
    for (size_t c = 0; c < 4; ++c) {
      double sum = 0;
      for (unsigned v = 0; v < count; ++v) {
        // A vertex with weight zero must not contribute, even if its value is infinite or NaN.
        if (corner.weight[v] != 0 && whole.vertex[v].slots != nullptr) {
          sum += corner.weight[v] * static_cast<double>(std::bit_cast<float>(whole.vertex[v].slots[s][c]));
        }
      }
      entry[s][c] = std::bit_cast<uint32_t>(static_cast<float>(sum));
    }
  }
  // The header holds integers, which are not interpolated.
  if (whole.vertex[0].slots != nullptr) {
    entry[0] = whole.vertex[0].slots[0];
  }
  corner.vertex.slots = entry;
}

void Clipper::clip_line(const Primitive& primitive, ClippedPart& part, std::vector<ClippedPart>& parts) {
  std::array<Corner, 2> ends;
  for (unsigned i = 0; i < 2; ++i) {
    ends[i].vertex = primitive.vertex[i];
    ends[i].weight[i] = 1;
  }
  for (const Plane& plane : planes_) {
    const double first = plane.side(ends[0].vertex);
    const double second = plane.side(ends[1].vertex);
    const bool first_in = first >= 0.0;
    const bool second_in = second >= 0.0;
    if (!first_in && !second_in) {
      return;
    }
    if (!first_in) {
      ends[0] = between(ends[1], second, ends[0], first);
    } else if (!second_in) {
      ends[1] = between(ends[0], first, ends[1], second);
    }
  }
  part.primitive = primitive;
  if (ends[0].made || ends[1].made) {
    finish(ends, primitive, part);
  }
  for (unsigned i = 0; i < 2; ++i) {
    part.primitive.vertex[i] = ends[i].vertex;
  }
  parts.push_back(part);
}

void Clipper::cut_polygon(const Plane& plane) {
  next_.clear();
  const size_t count = polygon_.size();
  for (size_t i = 0; i < count && next_.size() + 2 < kMaxCorners; ++i) {
    const Corner& here = polygon_[i];
    const Corner& there = polygon_[(i + 1) % count];
    const double at_here = plane.side(here.vertex);
    const double at_there = plane.side(there.vertex);
    const bool here_in = at_here >= 0.0;
    const bool there_in = at_there >= 0.0;
    if (here_in) {
      next_.push_back(here);
    }
    if (here_in == there_in) {
      continue;
    }
    Corner made = here_in ? between(here, at_here, there, at_there) : between(there, at_there, here, at_here);
    // If the edge leaves the volume, the new edge runs along the plane. If it enters, the rest of the old edge follows.
    made.edge = here_in ? plane.distance >= 0 : here.edge;
    next_.push_back(made);
  }
  polygon_.swap(next_);
}

void Clipper::clip_triangle(const Primitive& primitive, ClippedPart& part, std::vector<ClippedPart>& parts) {
  bool whole = true;
  const bool divide = state_->clip.divide;
  for (unsigned i = 0; i < 3; ++i) {
    whole = whole && (!divide || primitive.vertex[i].position[3] > 0.0f);
  }
  for (const Plane& plane : planes_) {
    unsigned outside = 0;
    for (unsigned i = 0; i < 3; ++i) {
      outside += plane.side(primitive.vertex[i]) >= 0.0 ? 0u : 1u;
    }
    if (outside == 3) {
      return;
    }
    whole = whole && outside == 0;
  }
  if (whole) {
    part.primitive = primitive;
    parts.push_back(part);
    return;
  }
  polygon_.assign(3, {});
  for (unsigned i = 0; i < 3; ++i) {
    polygon_[i].vertex = primitive.vertex[i];
    polygon_[i].weight[i] = 1;
    polygon_[i].edge = primitive.edge[i];
  }
  for (const Plane& plane : planes_) {
    cut_polygon(plane);
    if (polygon_.size() < 3) {
      return;
    }
  }
  finish(polygon_, primitive, part);
  for (size_t i = 1; i + 1 < polygon_.size(); ++i) {
    part.primitive = primitive;
    part.primitive.vertex = {polygon_[0].vertex, polygon_[i].vertex, polygon_[i + 1].vertex};
    part.primitive.edge = {i == 1 && polygon_[0].edge, polygon_[i].edge,
                           i + 2 == polygon_.size() && polygon_[i + 1].edge};
    parts.push_back(part);
  }
}

}  // namespace halogen::pipe3d
