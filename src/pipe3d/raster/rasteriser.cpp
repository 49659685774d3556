#include "pipe3d/raster/rasteriser.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bits.h"

namespace halogen::pipe3d {
namespace {

constexpr uint64_t kAll = ~uint64_t{0};
constexpr uint64_t kColumn = 0x0101'0101'0101'0101;

// Returns a mask. Bit 8 * row + column: the value there is not negative.
uint64_t positive_mask(int64_t value, int64_t step_x, int64_t step_y) {
  uint64_t outside = 0;
  for (unsigned row = 0; row < 8; ++row, value += step_y) {
    int64_t here = value;
    uint64_t bits = 0;
    for (unsigned column = 0; column < 8; ++column, here += step_x) {
      bits |= static_cast<uint64_t>(here) >> 63 << column;
    }
    outside |= bits << (8 * row);
  }
  return ~outside;
}

// Returns the pixels of the block at (x, y) that are inside the area.
uint64_t area_mask(const Rectangle& area, int32_t x, int32_t y) {
  if (x >= area.x_min && y >= area.y_min && area.x_max - x >= 7 && area.y_max - y >= 7) {
    return kAll;
  }
  const auto range = [](int32_t low, int32_t high) {
    const auto first = static_cast<unsigned>(std::clamp(low, 0, 8));
    const auto end = static_cast<unsigned>(std::clamp(high + 1, 0, 8));
    return static_cast<uint32_t>(end > first ? low_mask(end) & ~low_mask(first) : 0);
  };
  const uint64_t columns = uint64_t{range(area.x_min - x, area.x_max - x)} * kColumn;
  const uint32_t rows = range(area.y_min - y, area.y_max - y);
  uint64_t mask = 0;
  for (unsigned row = 0; row < 8; ++row) {
    mask |= (rows >> row & 1) != 0 ? uint64_t{0xff} << (8 * row) : 0;
  }
  return columns & mask;
}

int64_t floor_divide(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return quotient * by > value ? quotient - 1 : quotient;
}

int32_t pixel_of(int64_t grid) {
  return static_cast<int32_t>(grid >> kGridBits);
}

int64_t round_grid(double pixels) {
  return static_cast<int64_t>(std::nearbyint(pixels * kGrid));
}

}  // namespace

Rasteriser::Rasteriser(const PipelineState& state, const ScreenPrimitive& primitive) : raster_(&state.raster) {
  box_ = primitive.bounds;
  set_samples(state.raster);
  set_weights(primitive);
  const std::array<ScreenVertex, 3>& v = primitive.vertex;
  const auto point = [&](size_t i) { return Point{v[i].grid_x, v[i].grid_y}; };
  switch (primitive.shape) {
    case Shape::triangle:
      polygon_stipple_ = primitive.stippled;
      conservative_ = state.raster.conservative;
      set_polygon({point(0), point(1), point(2), {}}, 3);
      break;
    case Shape::rectangle: {
      const auto [left, right] = std::minmax({v[0].grid_x, v[1].grid_x, v[2].grid_x});
      const auto [top, bottom] = std::minmax({v[0].grid_y, v[1].grid_y, v[2].grid_y});
      set_polygon({Point{left, top}, Point{right, top}, Point{right, bottom}, Point{left, bottom}}, 4);
      break;
    }
    case Shape::point: {
      const double width = std::clamp<double>(std::isnan(primitive.width) ? 0.0 : primitive.width, 0.0, 16384.0);
      point_width_ = static_cast<float>(width);
      // The other rule: a centre on the right edge is inside, a centre on the left edge is not.
      const int64_t left = v[0].grid_x - round_grid(width / 2) + (raster_->point_rule_right ? 1 : 0);
      const int64_t top = v[0].grid_y - round_grid(width / 2);
      const int64_t right = left + round_grid(width);
      const int64_t bottom = top + round_grid(width);
      set_polygon({Point{left, top}, Point{right, top}, Point{right, bottom}, Point{left, bottom}}, 4);
      break;
    }
    case Shape::line:
      set_line(primitive);
      break;
  }
}

void Rasteriser::set_samples(const Raster& raster) {
  const unsigned samples = 1u << std::min<unsigned>(raster.samples_log2, 4);
  mask_ = static_cast<uint16_t>(raster.sample_mask & low_mask(samples));
  centre_ = raster.corner_sample ? 0 : kGrid / 2;
  if (samples == 1 || !raster.multisample) {
    places_ = 1;
    place_[0] = {centre_, centre_};
    return;
  }
  places_ = samples;
  for (unsigned i = 0; i < samples; ++i) {
    for (size_t axis = 0; axis < 2; ++axis) {
      place_[i][axis] = (raster.positions[i][axis] & 15) * (kGrid / 16);
    }
  }
}

// Sets the edges of a polygon. The corners may have either orientation. A polygon without an area covers nothing unless
// it is conservative.
void Rasteriser::set_polygon(std::array<Point, 4> corners, unsigned count) {
  int64_t area = 0;
  Point low = corners[0];
  Point high = corners[0];
  for (unsigned i = 0; i < count; ++i) {
    const Point& p = corners[i];
    const Point& q = corners[(i + 1) % count];
    area += (p.x - corners[0].x) * (q.y - corners[0].y) - (q.x - corners[0].x) * (p.y - corners[0].y);
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const auto pixel_from = [&](int64_t edge) { return pixel_of(edge + kGrid - 1 - centre_); };
  inside_ = {.x_min = pixel_from(low.x),
             .y_min = pixel_from(low.y),
             .x_max = pixel_from(high.x) - 1,
             .y_max = pixel_from(high.y) - 1};
  // A corner on a pixel border also touches the previous pixel.
  const int64_t before = conservative_ ? 1 : 0;
  box_ = intersect(box_, {.x_min = pixel_of(low.x - before),
                          .y_min = pixel_of(low.y - before),
                          .x_max = pixel_of(high.x),
                          .y_max = pixel_of(high.y)});
  if ((area == 0 && !conservative_) || mask_ == 0 || empty(box_)) {
    box_ = {};
    return;
  }
  if (conservative_) {
    places_ = 1;
    place_[0] = {0, 0};
  }
  if (area < 0) {
    std::reverse(corners.begin(), corners.begin() + count);
  }
  std::array<int32_t, 2> first = place_[0];
  std::array<int32_t, 2> last = place_[0];
  for (unsigned i = 1; i < places_; ++i) {
    for (size_t axis = 0; axis < 2; ++axis) {
      first[axis] = std::min(first[axis], place_[i][axis]);
      last[axis] = std::max(last[axis], place_[i][axis]);
    }
  }
  kind_ = Kind::polygon;
  edge_count_ = count;
  for (unsigned i = 0; i < count; ++i) {
    const Point& p = corners[i];
    const Point& q = corners[(i + 1) % count];
    Edge& edge = edges_[i];
    edge.a = p.y - q.y;
    edge.b = q.x - p.x;
    edge.c = -(edge.a * p.x + edge.b * p.y);
    const bool top_left = edge.a > 0 || (edge.a == 0 && edge.b > 0);
    if (conservative_) {
      widen(edge);
    } else {
      edge.c -= top_left ? 0 : 1;
    }
    constexpr std::array<int32_t, 2> kSizes{kTile, kBlock};
    for (size_t size = 0; size < 2; ++size) {
      const int64_t reach = int64_t{kSizes[size] - 1} * kGrid;
      const int64_t x0 = edge.a * first[0];
      const int64_t x1 = edge.a * (reach + last[0]);
      const int64_t y0 = edge.b * first[1];
      const int64_t y1 = edge.b * (reach + last[1]);
      edge.most[size] = std::max(x0, x1) + std::max(y0, y1);
      edge.least[size] = std::min(x0, x1) + std::min(y0, y1);
    }
  }
}

// Moves the edge so that its value at a pixel's upper left corner is the value at the corner farthest inside, plus half
// a step of the grid. Together with the box this decides exactly whether convex shapes touch.
void Rasteriser::widen(Edge& edge) const {
  const int64_t corner = (std::max<int64_t>(edge.a, 0) + std::max<int64_t>(edge.b, 0)) * kGrid;
  const int64_t beyond = (std::abs(edge.a) + std::abs(edge.b)) / 2;
  edge.c += corner + beyond;
  edge.inner = -(std::abs(edge.a) + std::abs(edge.b)) * kGrid - beyond;
}

bool Rasteriser::covers(int32_t x, int32_t y) const {
  for (unsigned i = 0; i < edge_count_; ++i) {
    const Edge& edge = edges_[i];
    if (edge.a * (int64_t{x} * kGrid) + edge.b * (int64_t{y} * kGrid) + edge.c + edge.inner < 0) {
      return false;
    }
  }
  return conservative_ && edge_count_ != 0;
}

void Rasteriser::set_line(const ScreenPrimitive& primitive) {
  const ScreenVertex& v0 = primitive.vertex[0];
  const ScreenVertex& v1 = primitive.vertex[1];
  const int64_t dx = int64_t{v1.grid_x} - v0.grid_x;
  const int64_t dy = int64_t{v1.grid_y} - v0.grid_y;
  steep_ = std::abs(dy) > std::abs(dx);
  const int64_t shift = kGrid / 2 - centre_;
  from_ = {v0.grid_x + shift, v0.grid_y + shift};
  to_ = {v1.grid_x + shift, v1.grid_y + shift};
  if (steep_) {
    std::swap(from_.x, from_.y);
    std::swap(to_.x, to_.y);
  }
  line_stipple_ = raster_->line_stipple;
  stipple_at_ = primitive.stipple_at;
  const double asked = std::clamp<double>(std::isnan(primitive.width) ? 0.0 : primitive.width, 0.0, 16384.0);
  // Lines of width 0 are the thinnest lines and never smooth.
  if (asked == 0.0) {
    const Rectangle ends = {.x_min = pixel_of(std::min(v0.grid_x, v1.grid_x) + shift),
                            .y_min = pixel_of(std::min(v0.grid_y, v1.grid_y) + shift),
                            .x_max = pixel_of(std::max(v0.grid_x, v1.grid_x) + shift),
                            .y_max = pixel_of(std::max(v0.grid_y, v1.grid_y) + shift)};
    box_ = intersect(box_, ends);
    if (!empty(box_) && mask_ != 0) {
      kind_ = Kind::thin_line;
    } else {
      box_ = {};
    }
    return;
  }
  const bool rectangle = raster_->antialias || places_ > 1;
  smooth_ = raster_->antialias && places_ == 1;
  const double length = std::hypot(static_cast<double>(dx), static_cast<double>(dy));
  if (length == 0) {
    box_ = {};
    return;
  }
  // Half of the width: perpendicular to the line for rectangles, otherwise along the shorter axis.
  Point half = steep_ ? Point{round_grid(asked / 2), 0} : Point{0, round_grid(asked / 2)};
  Point end;
  if (rectangle) {
    const double along_x = static_cast<double>(dx) / length;
    const double along_y = static_cast<double>(dy) / length;
    double width = asked;
    if (smooth_) {
      length_ = length / kGrid;
      half_width_ = asked / 2;
      width += raster_->antialias_width;
      const double over = static_cast<double>(raster_->antialias_ends) / 2;
      end = {round_grid(along_x * over), round_grid(along_y * over)};
    }
    half = {round_grid(-along_y * width / 2), round_grid(along_x * width / 2)};
  }
  const Point from{v0.grid_x - end.x, v0.grid_y - end.y};
  const Point to{v1.grid_x + end.x, v1.grid_y + end.y};
  set_polygon({Point{from.x - half.x, from.y - half.y}, Point{to.x - half.x, to.y - half.y},
               Point{to.x + half.x, to.y + half.y}, Point{from.x + half.x, from.y + half.y}},
              4);
}

// Returns the fraction of a smooth line at a point. It falls from 1 to 0 over the regions around the sides and the
// ends, with the true distance from each.
float Rasteriser::fraction(float x, float y) const {
  if (!smooth_) {
    return 1;
  }
  const Exact at = exact(x, y);
  const double along = at.first * length_;
  const double dx = static_cast<double>(x) - origin_[0] - along * first_[0] * length_;
  const double dy = static_cast<double>(y) - origin_[1] - along * first_[1] * length_;
  const auto part = [](double inside, double region) { return std::clamp(0.5 + inside / region, 0.0, 1.0); };
  return static_cast<float>(part(half_width_ - std::hypot(dx, dy), raster_->antialias_width) *
                            part(std::min(along, length_ - along), raster_->antialias_ends));
}

void Rasteriser::set_weights(const ScreenPrimitive& primitive) {
  const std::array<ScreenVertex, 3>& v = primitive.vertex;
  origin_ = {static_cast<double>(v[0].grid_x) / kGrid, static_cast<double>(v[0].grid_y) / kGrid};
  const double dx1 = static_cast<double>(v[1].grid_x - v[0].grid_x) / kGrid;
  const double dy1 = static_cast<double>(v[1].grid_y - v[0].grid_y) / kGrid;
  const unsigned count = vertices_of(primitive.shape);
  for (unsigned i = 0; i < 3; ++i) {
    rhw_[i] = v[i < count ? i : 0].rhw;
    z_[i] = v[i < count ? i : 0].z;
  }
  z_[1] -= z_[0];
  z_[2] -= z_[0];
  z_[0] += primitive.depth_offset;
  has_perspective_ = rhw_[1] != rhw_[0] || rhw_[2] != rhw_[0];
  if (count == 2) {
    const double square = dx1 * dx1 + dy1 * dy1;
    if (square != 0) {
      first_ = {dx1 / square, dy1 / square};
    }
  } else if (count == 3) {
    const double dx2 = static_cast<double>(v[2].grid_x - v[0].grid_x) / kGrid;
    const double dy2 = static_cast<double>(v[2].grid_y - v[0].grid_y) / kGrid;
    const double area = dx1 * dy2 - dx2 * dy1;
    if (area != 0) {
      first_ = {dy2 / area, -dx2 / area};
      second_ = {-dy1 / area, dx1 / area};
    }
  }
  if (primitive.cut) {
    set_whole(primitive, count);
  }
}

void Rasteriser::set_whole(const ScreenPrimitive& primitive, unsigned count) {
  cut_ = true;
  for (size_t weight = 0; weight < 2; ++weight) {
    WholePlane& linear = linear_[weight];
    WholePlane& perspective = perspective_[weight];
    for (unsigned i = 0; i < count; ++i) {
      const WholeWeights& whole = primitive.vertex[i].whole;
      linear[i] = whole.linear[weight] - (i != 0 ? linear[0] : 0.0);
      perspective[i] = whole.perspective[weight] * rhw_[i] - (i != 0 ? perspective[0] : 0.0);
    }
  }
}

std::array<float, 2> Rasteriser::sprite(float x, float y, bool lower_left) const {
  if (!(point_width_ > 0)) {
    return {0, 0};
  }
  const double s = (x - origin_[0]) / point_width_ + 0.5;
  const double t = (y - origin_[1]) / point_width_ + 0.5;
  return {static_cast<float>(s), static_cast<float>(lower_left ? 1.0 - t : t)};
}

bool Rasteriser::covers_all(const Rectangle& area) const {
  if (kind_ != Kind::polygon || conservative_ || polygon_stipple_ || line_stipple_ || places_ != 1 || mask_ != 1) {
    return false;
  }
  const auto inside = [&](const Edge& edge, int32_t x, int32_t y) {
    return edge.a * (int64_t{x} * kGrid + place_[0][0]) + edge.b * (int64_t{y} * kGrid + place_[0][1]) + edge.c >= 0;
  };
  return std::ranges::all_of(std::span(edges_).first(edge_count_), [&](const Edge& edge) {
    return inside(edge, area.x_min, area.y_min) && inside(edge, area.x_max, area.y_min) &&
           inside(edge, area.x_min, area.y_max) && inside(edge, area.x_max, area.y_max);
  });
}

Rasteriser::Walk Rasteriser::start(const Rectangle& window) const {
  Walk at;
  at.area = intersect(box_, window);
  if (kind_ == Kind::nothing || empty(at.area)) {
    at.area = {};
    at.tile_y = 1;
    return at;
  }
  at.tile_x = at.area.x_min & -kTile;
  at.tile_y = at.area.y_min & -kTile;
  at.x = (steep_ ? at.area.y_min : at.area.x_min) & ~1;
  return at;
}

bool Rasteriser::classify(unsigned size, int32_t x, int32_t y, uint8_t open, uint8_t& still_open) const {
  still_open = 0;
  for (unsigned i = 0; i < edge_count_; ++i) {
    if ((open >> i & 1) == 0) {
      continue;
    }
    const Edge& edge = edges_[i];
    const int64_t here = edge.a * (int64_t{x} * kGrid) + edge.b * (int64_t{y} * kGrid) + edge.c;
    if (here + edge.most[size] < 0) {
      return false;
    }
    if (here + edge.least[size] < 0) {
      still_open = static_cast<uint8_t>(still_open | 1u << i);
    }
  }
  return true;
}

unsigned Rasteriser::next(Walk& at, Batch& batch) const {
  if (kind_ == Kind::thin_line) {
    return next_thin(at, batch);
  }
  while (at.tile_y <= at.area.y_max) {
    if (!at.in_tile) {
      const auto all = static_cast<uint8_t>(low_mask(edge_count_));
      at.in_tile = classify(0, at.tile_x, at.tile_y, all, at.open);
      at.x = std::max(at.tile_x, at.area.x_min & -kBlock);
      at.y = std::max(at.tile_y, at.area.y_min & -kBlock);
    }
    unsigned count = 0;
    if (at.in_tile) {
      count = cover_block(at, batch);
      at.x += kBlock;
      if (at.x >= at.tile_x + kTile || at.x > at.area.x_max) {
        at.x = std::max(at.tile_x, at.area.x_min & -kBlock);
        at.y += kBlock;
        at.in_tile = at.y < at.tile_y + kTile && at.y <= at.area.y_max;
      }
    }
    if (!at.in_tile) {
      at.tile_x += kTile;
      if (at.tile_x > at.area.x_max) {
        at.tile_x = at.area.x_min & -kTile;
        at.tile_y += kTile;
      }
    }
    if (count != 0) {
      return count;
    }
  }
  return 0;
}

unsigned Rasteriser::cover_block(const Walk& at, Batch& batch) const {
  uint8_t open = 0;
  if (!classify(1, at.x, at.y, at.open, open)) {
    return 0;
  }
  uint64_t limit = area_mask(at.area, at.x, at.y);
  if (polygon_stipple_ || line_stipple_) {
    limit &= stipple_mask(at.x, at.y);
  }
  std::array<uint64_t, kMaxSamples> covered;
  uint64_t any = 0;
  for (unsigned position = 0; position < places_; ++position) {
    uint64_t mask = limit;
    for (unsigned i = 0; i < edge_count_ && mask != 0; ++i) {
      if ((open >> i & 1) != 0) {
        const Edge& edge = edges_[i];
        const int64_t value = edge.a * (int64_t{at.x} * kGrid + place_[position][0]) +
                              edge.b * (int64_t{at.y} * kGrid + place_[position][1]) + edge.c;
        mask &= positive_mask(value, edge.a * kGrid, edge.b * kGrid);
      }
    }
    covered[position] = places_ == 1 || (mask_ >> position & 1) != 0 ? mask : 0;
    any |= covered[position];
  }
  unsigned count = 0;
  for (int32_t y = 0; y < kBlock; y += 2) {
    for (int32_t x = 0; x < kBlock; x += 2) {
      const int32_t shift = y * 8 + x;
      if ((any >> shift & 0x303) == 0) {
        continue;
      }
      Subspan& span = batch[count++];
      span.x = at.x + x;
      span.y = at.y + y;
      span.coverage = {};
      constexpr std::array<int32_t, 4> kLane{0, 1, 8, 9};
      if (places_ == 1) {
        const uint64_t bits = any >> shift;
        const uint64_t lanes = (bits & 1) | (bits & 2) << 15 | (bits & 0x100) << 24 | (bits & 0x200) << 39;
        span.coverage =
            std::bit_cast<std::array<uint16_t, 4>>(lanes * mask_);  // written at once, because it is read at once
        continue;
      }
      for (size_t lane = 0; lane < 4; ++lane) {
        const int32_t bit = shift + kLane[lane];
        unsigned samples = 0;
        for (unsigned position = 0; position < places_; ++position) {
          samples |= static_cast<unsigned>(covered[position] >> bit & 1) << position;
        }
        span.coverage[lane] = static_cast<uint16_t>(samples);
      }
    }
  }
  return count;
}

bool Rasteriser::line_bit(int64_t steps) const {
  const uint32_t repeat = std::max<uint32_t>(raster_->line_repeat, 1);
  const auto at = (static_cast<uint64_t>(std::max<int64_t>(steps, 0)) + stipple_at_) / repeat;
  return (raster_->line_pattern >> (at % 16) & 1) != 0;
}

// Returns the pixels of a block that the stipple patterns enable.
uint64_t Rasteriser::stipple_mask(int32_t x, int32_t y) const {
  uint64_t mask = kAll;
  if (polygon_stipple_) {
    mask = 0;
    for (int32_t row = 0; row < kBlock; ++row) {
      const uint32_t bits = raster_->stipple_pattern[static_cast<size_t>((y + row + raster_->stipple_offset[1]) & 31)];
      for (int32_t column = 0; column < kBlock; ++column) {
        const int32_t bit = 31 - ((x + column + raster_->stipple_offset[0]) & 31);
        mask |= uint64_t{bits >> bit & 1} << (row * 8 + column);
      }
    }
  }
  if (line_stipple_) {
    for (int32_t i = 0; i < kBlock * kBlock; ++i) {
      const int32_t along = steep_ ? y + i / 8 : x + i % 8;
      const int64_t centre = int64_t{along} * kGrid + kGrid / 2;
      const int64_t steps = (to_.x >= from_.x ? centre - from_.x : from_.x - centre) >> kGridBits;
      if (!line_bit(steps)) {
        mask &= ~(uint64_t{1} << i);
      }
    }
  }
  return mask;
}

// The diamond rule: a pixel is drawn if the line leaves the diamond around its centre. `column` counts along the longer
// axis, on which a line passes each centre once.
bool Rasteriser::thin_pixel(int32_t column, int32_t& row) const {
  const int64_t du = to_.x - from_.x;
  const int64_t dv = to_.y - from_.y;
  if (du == 0) {
    return false;
  }
  const int64_t centre = int64_t{column} * kGrid + kGrid / 2;
  const auto in_diamond = [&](const Point& p, int32_t of_row) {
    const int64_t across = int64_t{of_row} * kGrid + kGrid / 2;
    return pixel_of(p.x) == column && std::abs(p.x - centre) + std::abs(p.y - across) < kGrid / 2;
  };
  const int64_t sign = du > 0 ? 1 : -1;
  const bool starts_before = sign * (centre - from_.x) >= 0;
  const bool ends_behind = sign * (to_.x - centre) > 0;
  if (!ends_behind) {
    row = pixel_of(to_.y);
    if (!raster_->last_pixel || !in_diamond(to_, row)) {
      return false;
    }
  } else if (starts_before) {
    const int64_t sum = (from_.y * du + (centre - from_.x) * dv) * sign;
    row = static_cast<int32_t>(floor_divide(sum, du * sign * kGrid));
    if (!raster_->last_pixel && in_diamond(to_, row)) {
      return false;
    }
  } else {
    row = pixel_of(from_.y);
    if (!in_diamond(from_, row) || (!raster_->last_pixel && in_diamond(to_, row))) {
      return false;
    }
  }
  return !line_stipple_ || line_bit(std::abs(int64_t{column} - pixel_of(from_.x)));
}

unsigned Rasteriser::next_thin(Walk& at, Batch& batch) const {
  if (at.tile_y > at.area.y_max) {
    return 0;
  }
  const int32_t first = steep_ ? at.area.y_min : at.area.x_min;
  const int32_t last = steep_ ? at.area.y_max : at.area.x_max;
  const int32_t across_first = steep_ ? at.area.x_min : at.area.y_min;
  const int32_t across_last = steep_ ? at.area.x_max : at.area.y_max;
  unsigned count = 0;
  for (; count + 2 <= kBatch && at.x <= last; at.x += 2) {
    const unsigned before = count;
    for (int32_t column = std::max(at.x, first); column <= std::min(at.x + 1, last); ++column) {
      int32_t row = 0;
      if (!thin_pixel(column, row) || row < across_first || row > across_last) {
        continue;
      }
      const int32_t x = steep_ ? row : column;
      const int32_t y = steep_ ? column : row;
      if (count == before || batch[count - 1].x != (x & ~1) || batch[count - 1].y != (y & ~1)) {
        batch[count++] = {.x = x & ~1, .y = y & ~1, .coverage = {}};
      }
      batch[count - 1].coverage[static_cast<size_t>(y & 1) * 2 + static_cast<size_t>(x & 1)] = mask_;
    }
  }
  return count;
}

}  // namespace halogen::pipe3d
