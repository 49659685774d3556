// Coverage and interpolation of one primitive on the screen. Edges are integers on the sub-pixel grid. A sample on an
// edge belongs to the primitive if the edge is a top or left edge, so neighbours share no sample and omit none. Points
// are squares. Lines of width 0 follow the diamond rule; other lines are parallelograms, or rectangles if multisampled
// or smooth. Conservative triangles cover all samples of each pixel whose square, extended by 1/512 of a pixel on each
// side, they touch. The object is constant after construction: any number of threads may walk windows of one primitive.
#pragma once

#include <array>
#include <cstdint>

#include "pipe3d/geometry/screen_setup.h"
#include "pipe3d/state/pipeline_state.h"

namespace halogen::pipe3d {

// Four pixels: upper left, upper right, lower left, lower right. Each has a mask of samples.
struct Subspan {
  int32_t x = 0;  // even
  int32_t y = 0;
  std::array<uint16_t, 4> coverage{};
};

class Rasteriser {
 public:
  Rasteriser(const PipelineState& state, const ScreenPrimitive& primitive);

  // Returns a rectangle that contains all pixels of the primitive, so that a caller can choose windows.
  const Rectangle& box() const { return box_; }
  // Returns the pixels of an upright rectangle, for operations on it that do not walk.
  Rectangle covered() const { return intersect(box_, inside_); }

  // Calls each(const Subspan&) for subspans with coverage inside the window, in a fixed order: tiles of 64x64 pixels,
  // blocks of 8x8 in them, rows of 2x2 in those, each from top to bottom and left to right. Thin lines are walked along
  // the longer axis.
  template <class Each>
  void walk(const Rectangle& window, Each&& each) const {
    Walk at = start(window);
    std::array<Subspan, kBatch> batch;
    while (const unsigned count = next(at, batch)) {
      for (unsigned i = 0; i < count; ++i) {
        each(static_cast<const Subspan&>(batch[i]));
      }
    }
  }

  // The weights of vertices 1 and 2. Vertex 0 has the remaining weight. For a clipped primitive they are weights of the
  // original primitive.
  struct Weights {
    float first = 0;
    float second = 0;
  };
  // Return the weights at any point of the plane, in pixels (x + 0.5 is a centre).
  Weights linear(float x, float y) const {
    const Exact at = exact(x, y);
    if (cut_) [[unlikely]] {
      return of_whole(linear_, at, 1.0);
    }
    return {static_cast<float>(at.first), static_cast<float>(at.second)};
  }
  Weights perspective(float x, float y) const {
    const Exact at = exact(x, y);
    if (!has_perspective_ && !cut_) {
      return {static_cast<float>(at.first), static_cast<float>(at.second)};
    }
    const double sum = rhw_of(at);
    const double scale = sum != 0 ? 1.0 / sum : 0.0;
    if (cut_) [[unlikely]] {
      return of_whole(perspective_, at, scale);
    }
    return {static_cast<float>(at.first * rhw_[1] * scale), static_cast<float>(at.second * rhw_[2] * scale)};
  }
  // The same for four points at once: (x0, y0), (x1, y0), (x0, y1), (x1, y1).
  struct Square {
    std::array<float, 2> x{};
    std::array<float, 2> y{};
  };
  struct SquareWeights {
    std::array<float, 4> first;
    std::array<float, 4> second;
  };
  SquareWeights weights(const Square& square, bool perspective) const {
    SquareWeights out;
    if (cut_) [[unlikely]] {
      for (size_t i = 0; i < 4; ++i) {
        const float x = square.x[i & 1], y = square.y[i >> 1];
        const Weights at = perspective ? this->perspective(x, y) : linear(x, y);
        out.first[i] = at.first;
        out.second[i] = at.second;
      }
      return out;
    }
    const ExactSquare at = exact(square);
    if (!perspective || !has_perspective_) {
      for (size_t i = 0; i < 4; ++i) {
        out.first[i] = static_cast<float>(at.first[i]);
        out.second[i] = static_cast<float>(at.second[i]);
      }
      return out;
    }
    for (size_t i = 0; i < 4; ++i) {
      const double sum = rhw_of({at.first[i], at.second[i]});
      const double scale = sum != 0 ? 1.0 / sum : 0.0;
      out.first[i] = static_cast<float>(at.first[i] * rhw_[1] * scale);
      out.second[i] = static_cast<float>(at.second[i] * rhw_[2] * scale);
    }
    return out;
  }
  std::array<float, 4> depths(const Square& square) const {
    const ExactSquare at = exact(square);
    std::array<float, 4> out;
    for (size_t i = 0; i < 4; ++i) {
      out[i] = static_cast<float>(z_[0] + at.first[i] * z_[1] + at.second[i] * z_[2]);
    }
    return out;
  }
  // Returns whether all pixels of the rectangle are known to be covered. False: some may not be. For one sample only.
  bool covers_all(const Rectangle& area) const;
  // Returns whether a conservative triangle contains all of the pixel.
  bool covers(int32_t x, int32_t y) const;
  // Returns the depth with polygon offset, before clamping.
  float depth(float x, float y) const {
    const Exact at = exact(x, y);
    return static_cast<float>(z_[0] + at.first * z_[1] + at.second * z_[2]);
  }
  float w(float x, float y) const {
    const double sum = rhw_of(exact(x, y));
    return static_cast<float>(sum != 0 ? 1.0 / sum : 0.0);
  }
  // Return whether the primitive is a smooth line, and its fraction at a point (1 for all others). The source's alpha
  // is multiplied by the fraction.
  bool smooth() const { return smooth_; }
  float fraction(float x, float y) const;
  // Returns the sprite coordinates of a point.
  std::array<float, 2> sprite(float x, float y, bool lower_left) const;

 private:
  static constexpr unsigned kBatch = 16;
  static constexpr int32_t kBlock = 8;
  static constexpr int32_t kTile = 64;
  using Batch = std::array<Subspan, kBatch>;

  enum class Kind : uint8_t { nothing, polygon, thin_line };
  struct Point {
    int64_t x = 0;
    int64_t y = 0;
  };
  // Inside: a * x + b * y + c >= 0, on the grid.
  struct Edge {
    int64_t a = 0;
    int64_t b = 0;
    int64_t c = 0;
    // Offsets from the value at the first pixel's corner to the largest and smallest value in a tile and in a block.
    std::array<int64_t, 2> most{};
    std::array<int64_t, 2> least{};
    int64_t inner = 0;  // conservative: offset for the pixel's corner that is farthest outside
  };
  struct Walk {
    Rectangle area;
    int32_t tile_x = 0;
    int32_t tile_y = 0;
    int32_t x = 0;
    int32_t y = 0;
    bool in_tile = false;
    uint8_t open = 0;  // edges that do not hold in the whole tile
  };
  struct Exact {
    double first = 0;
    double second = 0;
  };
  Exact exact(float x, float y) const {
    const double dx = static_cast<double>(x) - origin_[0];
    const double dy = static_cast<double>(y) - origin_[1];
    return {dx * first_[0] + dy * first_[1], dx * second_[0] + dy * second_[1]};
  }
  struct ExactSquare {
    std::array<double, 4> first;
    std::array<double, 4> second;
  };
  ExactSquare exact(const Square& square) const {
    std::array<std::array<double, 2>, 4> part;  // parts of both weights, by x and by y
    for (size_t i = 0; i < 2; ++i) {
      const double dx = static_cast<double>(square.x[i]) - origin_[0];
      const double dy = static_cast<double>(square.y[i]) - origin_[1];
      part[0][i] = dx * first_[0];
      part[1][i] = dy * first_[1];
      part[2][i] = dx * second_[0];
      part[3][i] = dy * second_[1];
    }
    ExactSquare out;
    for (size_t i = 0; i < 4; ++i) {
      out.first[i] = part[0][i & 1] + part[1][i >> 1];
      out.second[i] = part[2][i & 1] + part[3][i >> 1];
    }
    return out;
  }
  double rhw_of(const Exact& at) const {
    return rhw_[0] + at.first * (rhw_[1] - rhw_[0]) + at.second * (rhw_[2] - rhw_[0]);
  }

  // A weight of the original primitive: its value at the first vertex, then its differences towards the other vertices.
  using WholePlane = std::array<double, 3>;
  using WholePlanes = std::array<WholePlane, 2>;
  static Weights of_whole(const WholePlanes& planes, const Exact& at, double scale) {
    const auto weight = [&](const WholePlane& plane) {
      return static_cast<float>((plane[0] + at.first * plane[1] + at.second * plane[2]) * scale);
    };
    return {weight(planes[0]), weight(planes[1])};
  }

  void set_samples(const Raster& raster);
  void set_polygon(std::array<Point, 4> corners, unsigned count);
  void widen(Edge& edge) const;
  void set_line(const ScreenPrimitive& primitive);
  void set_weights(const ScreenPrimitive& primitive);
  void set_whole(const ScreenPrimitive& primitive, unsigned count);

  Walk start(const Rectangle& window) const;
  unsigned next(Walk& at, Batch& batch) const;
  unsigned next_thin(Walk& at, Batch& batch) const;
  unsigned cover_block(const Walk& at, Batch& batch) const;
  // Finds the edges of `open` that do not hold everywhere in the square. False: an edge holds nowhere.
  bool classify(unsigned size, int32_t x, int32_t y, uint8_t open, uint8_t& still_open) const;
  uint64_t stipple_mask(int32_t x, int32_t y) const;
  bool line_bit(int64_t steps) const;
  bool thin_pixel(int32_t column, int32_t& row) const;

  const Raster* raster_;
  Kind kind_ = Kind::nothing;
  bool conservative_ = false;
  bool polygon_stipple_ = false;
  bool line_stipple_ = false;
  Rectangle box_;
  Rectangle inside_;  // pixels whose centres lie between the outermost corners
  unsigned edge_count_ = 0;
  std::array<Edge, 4> edges_{};
  unsigned places_ = 1;  // points at which coverage is tested: samples, or the pixel's own point
  std::array<std::array<int32_t, 2>, kMaxSamples> place_{};
  uint16_t mask_ = 1;  // samples that may be covered
  int32_t centre_ = kGrid / 2;

  // Thin lines, and the pattern of all lines: u along the longer axis, v across it, relative to the centre.
  bool steep_ = false;
  Point from_;  // x is u
  Point to_;
  uint32_t stipple_at_ = 0;

  // Smooth lines, in pixels.
  bool smooth_ = false;
  double length_ = 0;
  double half_width_ = 0;

  std::array<double, 2> origin_{};
  std::array<double, 2> first_{};
  std::array<double, 2> second_{};
  std::array<double, 3> rhw_{};
  std::array<double, 3> z_{};  // at vertex 0, then the differences of the others
  bool has_perspective_ = false;
  bool cut_ = false;
  WholePlanes linear_{};
  WholePlanes perspective_{};  // divided by w
  float point_width_ = 1;
};

}  // namespace halogen::pipe3d
