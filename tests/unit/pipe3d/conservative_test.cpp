// Conservative triangles compared with plain geometry: a pixel is drawn if the triangle has a point in common with its
// square, which is enlarged by 1/512 of a pixel on each side.
#include "raster_scene.h"

namespace halogen::pipe3d {
namespace {

constexpr int32_t kSize = 32;

struct Place {
  double x = 0;
  double y = 0;
};
double turn(const Place& a, const Place& b, const Place& c) {
  return (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
}
bool between(double value, double one, double other) {
  return value >= std::min(one, other) && value <= std::max(one, other);
}
bool on_segment(const Place& p, const Place& a, const Place& b) {
  return turn(a, b, p) == 0 && between(p.x, a.x, b.x) && between(p.y, a.y, b.y);
}
bool segments_meet(const Place& a, const Place& b, const Place& c, const Place& d) {
  const double first = turn(a, b, c), second = turn(a, b, d), third = turn(c, d, a), fourth = turn(c, d, b);
  if (((first > 0 && second < 0) || (first < 0 && second > 0)) &&
      ((third > 0 && fourth < 0) || (third < 0 && fourth > 0))) {
    return true;
  }
  return on_segment(c, a, b) || on_segment(d, a, b) || on_segment(a, c, d) || on_segment(b, c, d);
}
bool inside(const std::array<Place, 3>& t, const Place& p) {
  const double whole = turn(t[0], t[1], t[2]);
  if (whole == 0) {
    return on_segment(p, t[0], t[1]) || on_segment(p, t[1], t[2]) || on_segment(p, t[2], t[0]);
  }
  const double sign = whole > 0 ? 1 : -1;
  return turn(t[0], t[1], p) * sign >= 0 && turn(t[1], t[2], p) * sign >= 0 && turn(t[2], t[0], p) * sign >= 0;
}
std::array<Place, 4> square(int32_t x, int32_t y, double more) {
  return {{{x - more, y - more}, {x + 1 + more, y - more}, {x + 1 + more, y + 1 + more}, {x - more, y + 1 + more}}};
}
bool touches(const std::array<Place, 3>& t, int32_t x, int32_t y) {
  constexpr double kMore = 1.0 / 512;
  const std::array<Place, 4> corners = square(x, y, kMore);
  for (size_t i = 0; i < 3; ++i) {
    if (between(t[i].x, corners[0].x, corners[2].x) && between(t[i].y, corners[0].y, corners[2].y)) {
      return true;
    }
    for (size_t j = 0; j < 4; ++j) {
      if (segments_meet(t[i], t[(i + 1) % 3], corners[j], corners[(j + 1) % 4])) {
        return true;
      }
    }
  }
  return inside(t, corners[0]);
}

TEST(Conservative, PixelsThatATriangleTouchesAreDrawnWhole) {
  std::mt19937 random(71);
  int drawn = 0;
  int whole_pixels = 0;
  int flat = 0;
  for (int round = 0; round < 400; ++round) {
    PipelineState state = window_state(kSize, kSize);
    state.raster.cull = hw::CullMode::NONE;
    state.raster.conservative = true;
    if (round % 3 == 0) {
      set_samples(state.raster, 2);
    }
    const uint32_t all = round % 3 == 0 ? 15 : 1;
    // Corners are on the grid; in every fourth round on corners of pixels, where squares touch.
    const uint32_t step = round % 4 == 0 ? 256 : round % 4 == 1 ? 64 : 1;
    std::array<Place, 3> t;
    for (Place& place : t) {
      place = {static_cast<double>(random() % ((kSize + 8) * 256) / step * step) / 256 - 4,
               static_cast<double>(random() % ((kSize + 8) * 256) / step * step) / 256 - 4};
    }
    if (round % 10 == 9) {
      t[2] = round % 20 == 9 ? t[1] : Place{(t[0].x + t[1].x) / 2, (t[0].y + t[1].y) / 2};
      t[2] = {std::floor(t[2].x * 256) / 256, std::floor(t[2].y * 256) / 256};
    }
    flat += turn(t[0], t[1], t[2]) == 0 ? 1 : 0;
    const Primitive primitive =
        triangle(vertex_at(t[0].x, t[0].y), vertex_at(t[1].x, t[1].y), vertex_at(t[2].x, t[2].y));
    CoverageMap map(kSize, kSize);
    draw(state, primitive, map);
    const std::vector<ScreenPrimitive> screen = on_screen(state, primitive);
    ASSERT_EQ(screen.size(), 1u);
    const Rasteriser raster(state, screen[0]);
    for (int32_t y = 0; y < kSize; ++y) {
      for (int32_t x = 0; x < kSize; ++x) {
        const bool in = touches(t, x, y);
        for (unsigned s = 0; s < kMaxSamples; ++s) {
          ASSERT_EQ(map.at(x, y, s), in && (all >> s & 1) != 0 ? 1 : 0) << "round " << round << ": " << x << " " << y;
        }
        drawn += in ? 1 : 0;
        bool covered = in && turn(t[0], t[1], t[2]) != 0;
        for (const Place& corner : square(x, y, 0)) {
          covered = covered && inside(t, corner);
        }
        if (turn(t[0], t[1], t[2]) != 0 && in) {
          ASSERT_EQ(raster.covers(x, y), covered) << "round " << round << ": " << x << " " << y;
          whole_pixels += covered ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(drawn, 20000);
  EXPECT_GT(whole_pixels, 10000);
  EXPECT_GT(flat, 10);
}

TEST(Conservative, LinesAndPointsIgnoreConservativeRasterization) {
  PipelineState state = window_state(kSize, kSize);
  for (const Shape shape : {Shape::point, Shape::line}) {
    Primitive primitive;
    primitive.shape = shape;
    primitive.vertex[0] = vertex_at(3.2, 4.1);
    primitive.vertex[1] = vertex_at(27.9, 13.3);
    int sum = 0;
    for (const bool conservative : {false, true}) {
      state.raster.conservative = conservative;
      CoverageMap map(kSize, kSize);
      draw(state, primitive, map);
      EXPECT_TRUE(!conservative || map.sum() == sum);
      sum = map.sum();
    }
    EXPECT_GT(sum, 0);
  }
}

}  // namespace
}  // namespace halogen::pipe3d
