// Coverage compared with slow definitions: the side of three lines for each sample, and a diamond for each pixel.
#include <algorithm>
#include <array>

#include "raster_scene.h"

namespace halogen::pipe3d {
namespace {

constexpr int32_t kSize = 48;

// Corners are multiples of 1/256, so all products below are exact in doubles.
struct Corner {
  double x = 0;
  double y = 0;
};

double cross(const Corner& p, const Corner& q, double x, double y) {
  return (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
}

// Top edge: horizontal, with the inside below. Left edge: the inside is to its right.
bool owns_edge(const Corner& p, const Corner& q, const Corner& inner) {
  if (p.y == q.y) {
    return inner.y > p.y;
  }
  const double x_on_edge = p.x + (inner.y - p.y) * (q.x - p.x) / (q.y - p.y);
  return inner.x > x_on_edge;
}

bool covers(const std::array<Corner, 3>& v, double x, double y) {
  const double area = cross(v[0], v[1], v[2].x, v[2].y);
  if (area == 0) {
    return false;
  }
  for (size_t i = 0; i < 3; ++i) {
    const Corner& p = v[i];
    const Corner& q = v[(i + 1) % 3];
    const double side = cross(p, q, x, y) * (area > 0 ? 1 : -1);
    if (side < 0 || (side == 0 && !owns_edge(p, q, v[(i + 2) % 3]))) {
      return false;
    }
  }
  return true;
}

std::array<Corner, 3> random_corners(std::mt19937& random, int spread) {
  std::array<Corner, 3> v;
  // Large steps make samples on edges frequent.
  const double step = random() % 2 == 0 ? 1.0 / 256 : 0.5;
  for (Corner& corner : v) {
    const auto some = [&] {
      const auto count = static_cast<unsigned>(static_cast<double>(kSize * spread) / step);
      return static_cast<double>(random() % count) * step - kSize * (spread - 1) / 2.0;
    };
    corner = {some(), some()};
  }
  return v;
}

Primitive triangle_of(const std::array<Corner, 3>& v) {
  return triangle(vertex_at(v[0].x, v[0].y), vertex_at(v[1].x, v[1].y), vertex_at(v[2].x, v[2].y));
}

TEST(Raster, TrianglesCoverSamplesInsideTheirThreeEdges) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    PipelineState state = window_state(kSize, kSize);
    state.raster.cull = hw::CullMode::NONE;
    const auto log2 = static_cast<uint8_t>(round % 5);
    set_samples(state.raster, log2);
    state.raster.sample_mask = round % 7 == 0 ? 0x5a5b : 0xffff;
    const std::array<Corner, 3> v = random_corners(random, 1 + round % 3);
    CoverageMap map(kSize, kSize);
    draw(state, triangle_of(v), map);
    for (int32_t y = 0; y < kSize; ++y) {
      for (int32_t x = 0; x < kSize; ++x) {
        for (unsigned s = 0; s < 1u << log2; ++s) {
          const bool in = (state.raster.sample_mask >> s & 1) != 0 &&
                          covers(v, x + state.raster.positions[s][0] / 16.0, y + state.raster.positions[s][1] / 16.0);
          ASSERT_EQ(map.at(x, y, s), in ? 1 : 0) << "round " << round << " at " << x << " " << y << " sample " << s;
        }
      }
    }
  }
}

TEST(Raster, PixelsWithoutMultisamplingGetAllSamplesAtTheirCentre) {
  PipelineState state = window_state(kSize, kSize);
  state.raster.cull = hw::CullMode::NONE;
  set_samples(state.raster, 2);
  state.raster.multisample = false;
  const std::array<Corner, 3> v{{{3.25, 2}, {40, 9.5}, {10, 44}}};
  CoverageMap map(kSize, kSize);
  draw(state, triangle_of(v), map);
  for (int32_t y = 0; y < kSize; ++y) {
    for (int32_t x = 0; x < kSize; ++x) {
      for (unsigned s = 0; s < 4; ++s) {
        ASSERT_EQ(map.at(x, y, s), covers(v, x + 0.5, y + 0.5) ? 1 : 0) << x << " " << y;
      }
    }
  }
}

TEST(Raster, AdjacentTrianglesCoverEachSampleOnce) {
  std::mt19937 random(5);
  for (int round = 0; round < 12; ++round) {
    PipelineState state = window_state(kSize, kSize);
    state.raster.cull = hw::CullMode::NONE;
    const auto log2 = static_cast<uint8_t>(round % 5);
    set_samples(state.raster, log2);
    constexpr int kCells = 8;
    std::array<std::array<Corner, kCells + 1>, kCells + 1> grid;
    for (int j = 0; j <= kCells; ++j) {
      for (int i = 0; i <= kCells; ++i) {
        const bool rim = i == 0 || j == 0 || i == kCells || j == kCells;
        const auto shake = [&] { return rim ? 0.0 : (static_cast<int>(random() % 769) - 384) / 256.0; };
        grid[static_cast<size_t>(j)][static_cast<size_t>(i)] = {i * 6.0 + shake(), j * 6.0 + shake()};
      }
    }
    CoverageMap map(kSize, kSize);
    for (size_t j = 0; j < kCells; ++j) {
      for (size_t i = 0; i < kCells; ++i) {
        const Corner a = grid[j][i], b = grid[j][i + 1], c = grid[j + 1][i + 1], d = grid[j + 1][i];
        // Uses either diagonal and either winding.
        if (random() % 2 == 0) {
          draw(state, triangle_of({a, b, c}), map);
          draw(state, triangle_of({d, c, a}), map);
        } else {
          draw(state, triangle_of({a, b, d}), map);
          draw(state, triangle_of({b, c, d}), map);
        }
      }
    }
    for (int32_t y = 0; y < kSize; ++y) {
      for (int32_t x = 0; x < kSize; ++x) {
        for (unsigned s = 0; s < 1u << log2; ++s) {
          ASSERT_EQ(map.at(x, y, s), 1) << "round " << round << " at " << x << " " << y << " sample " << s;
        }
      }
    }
  }
}

TEST(Raster, WindowsTogetherCoverThePrimitive) {
  std::mt19937 random(17);
  for (int round = 0; round < 40; ++round) {
    PipelineState state = window_state(300, 300);
    state.raster.cull = hw::CullMode::NONE;
    std::array<Corner, 3> v = random_corners(random, 1);
    for (Corner& corner : v) {
      corner = {corner.x * 6, corner.y * 6};
    }
    const auto screen = on_screen(state, triangle_of(v));
    if (screen.empty()) {
      continue;
    }
    const Rasteriser raster(state, screen[0]);
    CoverageMap whole(300, 300);
    raster.walk({.x_min = 0, .y_min = 0, .x_max = 299, .y_max = 299}, [&](const Subspan& span) { whole.add(span); });
    CoverageMap parts(300, 300);
    const auto cut = static_cast<int32_t>(random() % 300);
    const auto cut_y = static_cast<int32_t>(random() % 300);
    for (const Rectangle& window : {Rectangle{0, 0, cut - 1, cut_y - 1}, Rectangle{cut, 0, 299, cut_y - 1},
                                    Rectangle{0, cut_y, cut - 1, 299}, Rectangle{cut, cut_y, 299, 299}}) {
      raster.walk(window, [&](const Subspan& span) { parts.add(span); });
    }
    for (int32_t y = 0; y < 300; ++y) {
      for (int32_t x = 0; x < 300; ++x) {
        ASSERT_EQ(whole.at(x, y), parts.at(x, y));
      }
    }
  }
}

TEST(Raster, BoundsAreScissorViewportAndDrawingRectangle) {
  PipelineState state = window_state(kSize, kSize);
  state.raster.cull = hw::CullMode::NONE;
  state.raster.drawing.x_min = 3;
  state.raster.scissor = true;
  state.viewports[0].scissor = {.x_min = 0, .y_min = 5, .x_max = 40, .y_max = 100};
  state.viewports[0].has_extent = true;
  state.viewports[0].extent = {.x_min = 0, .y_min = 0, .x_max = 100, .y_max = 20};
  CoverageMap map(kSize, kSize);
  draw(state, triangle_of({{{-100, -100}, {300, -100}, {-100, 300}}}), map);
  for (int32_t y = 0; y < kSize; ++y) {
    for (int32_t x = 0; x < kSize; ++x) {
      ASSERT_EQ(map.at(x, y), x >= 3 && x <= 40 && y >= 5 && y <= 20 ? 1 : 0);
    }
  }
  // Inclusive and inverted, so it is empty.
  state.viewports[0].scissor = {.x_min = 9, .y_min = 5, .x_max = 8, .y_max = 100};
  EXPECT_TRUE(on_screen(state, triangle_of({{{-100, -100}, {300, -100}, {-100, 300}}})).empty());
}

TEST(Raster, RectanglesIncludeTheirUpperAndLeftEdges) {
  PipelineState state = window_state(kSize, kSize);
  state.raster.cull = hw::CullMode::BOTH;  // ignored for rectangles
  Primitive rectangle = triangle(vertex_at(20.5, 30.5), vertex_at(4.5, 30.5), vertex_at(4.5, 10.5));
  rectangle.shape = Shape::rectangle;
  CoverageMap map(kSize, kSize);
  draw(state, rectangle, map);
  for (int32_t y = 0; y < kSize; ++y) {
    for (int32_t x = 0; x < kSize; ++x) {
      ASSERT_EQ(map.at(x, y), x >= 4 && x < 20 && y >= 10 && y < 30 ? 1 : 0) << x << " " << y;
    }
  }
}

// The setup kernels of the first chips take planes from the corners by their position: for an attribute a,
// da/dx = (a1 - a2) / (x1 - x0), da/dy = (a2 - a0) / (y1 - y0) and the start is a0 at corner 0 (igt-gpu-tools,
// lib/rendercopy_gen4.c; xf86-video-intel, exa_sf.g4a: topmost, then clockwise). Without this order the planes are
// wrong or infinite.
TEST(Raster, OrderedCornersOfARectangleRunClockwiseFromTheTopmost) {
  constexpr std::array<std::array<float, 2>, 3> kCorners{{{20.5, 30.5}, {4.5, 30.5}, {4.5, 10.5}}};
  constexpr auto kAttribute = [](float x, float y) { return 3 * x + 5 * y + 7; };
  std::array<uint8_t, 3> order{0, 1, 2};
  do {
    for (uint8_t provoking = 0; provoking < 3; ++provoking) {
      PipelineState state = window_state(kSize, kSize);
      state.ordered_corners = true;
      Primitive rectangle;
      for (size_t i = 0; i < order.size(); ++i) {
        rectangle.vertex[i] = vertex_at(kCorners[order[i]][0], kCorners[order[i]][1]);
      }
      rectangle.shape = Shape::rectangle;
      rectangle.provoking = provoking;
      const auto screen = on_screen(state, rectangle);
      ASSERT_EQ(screen.size(), 1u);
      const auto& v = screen[0].vertex;
      const auto a = [&](size_t i) { return kAttribute(v[i].x, v[i].y); };
      EXPECT_EQ((a(1) - a(2)) / (v[1].x - v[0].x), 3.0f);
      EXPECT_EQ((a(2) - a(0)) / (v[2].y - v[0].y), 5.0f);
      EXPECT_EQ(v[2].y - v[0].y, v[1].y - v[0].y) << "kernels take the difference of either";
      const ScreenVertex& flat = v[screen[0].provoking];
      EXPECT_EQ(flat.x, kCorners[order[provoking]][0]);
      EXPECT_EQ(flat.y, kCorners[order[provoking]][1]);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Raster, RectanglesKeepTheirOrderIfCornersAreNotOrdered) {
  Primitive rectangle = triangle(vertex_at(20.5, 30.5), vertex_at(4.5, 30.5), vertex_at(4.5, 10.5));
  rectangle.shape = Shape::rectangle;
  const auto screen = on_screen(window_state(kSize, kSize), rectangle);
  ASSERT_EQ(screen.size(), 1u);
  EXPECT_EQ(screen[0].vertex[0].x, 20.5f);
  EXPECT_EQ(screen[0].vertex[2].y, 10.5f);
}

TEST(Raster, PointsAreSquares) {
  for (const float width : {1.0f, 2.0f, 3.5f, 8.0f}) {
    for (const bool right : {false, true}) {
      PipelineState state = window_state(kSize, kSize);
      state.raster.point_width = width;
      state.raster.point_rule_right = right;
      Primitive point;
      point.shape = Shape::point;
      point.vertex[0] = vertex_at(20, 20.25);
      CoverageMap map(kSize, kSize);
      draw(state, point, map);
      for (int32_t y = 0; y < kSize; ++y) {
        for (int32_t x = 0; x < kSize; ++x) {
          const double left = 20 - width / 2.0;
          const double top = 20.25 - width / 2.0;
          const bool in_x =
              right ? x + 0.5 > left && x + 0.5 <= left + width : x + 0.5 >= left && x + 0.5 < left + width;
          ASSERT_EQ(map.at(x, y), in_x && y + 0.5 >= top && y + 0.5 < top + width ? 1 : 0) << x << " " << y;
        }
      }
    }
  }
  PipelineState state = window_state(kSize, kSize);
  Primitive point;
  point.shape = Shape::point;
  point.vertex[0] = vertex_at(20, 20);
  state.raster.point_width = 8;
  const auto screen = on_screen(state, point);
  ASSERT_EQ(screen.size(), 1u);
  const Rasteriser raster(state, screen[0]);
  EXPECT_FLOAT_EQ(raster.sprite(16.5f, 17.5f, false)[0], 0.5f / 8);
  EXPECT_FLOAT_EQ(raster.sprite(16.5f, 17.5f, false)[1], 1.5f / 8);
  EXPECT_FLOAT_EQ(raster.sprite(16.5f, 17.5f, true)[1], 1 - 1.5f / 8);
}

// The smallest distance of the segment from the centre of a pixel, as the sum of both axes, computed in small steps;
// and the distance of its end.
struct Nearness {
  double least = 1e9;
  double end = 0;
};
Nearness nearness(const Corner& from, const Corner& to, double cx, double cy) {
  const auto at = [&](double t) {
    return std::abs(from.x + (to.x - from.x) * t - cx) + std::abs(from.y + (to.y - from.y) * t - cy);
  };
  Nearness near{.end = at(1)};
  constexpr int kSteps = 4000;
  for (int i = 0; i <= kSteps; ++i) {
    near.least = std::min(near.least, at(static_cast<double>(i) / kSteps));
  }
  return near;
}

TEST(Raster, ThinLinesLeaveDiamonds) {
  std::mt19937 random(23);
  constexpr int32_t kSmall = 14;
  for (int round = 0; round < 150; ++round) {
    PipelineState state = window_state(kSmall, kSmall);
    state.raster.line_width = 0;
    // Odd numbers avoid ties with centres and borders.
    const auto some = [&] { return (2 * static_cast<double>(random() % (kSmall * 128)) + 1) / 256.0; };
    const Corner from{some(), some()};
    const Corner to{some(), some()};
    Primitive line;
    line.shape = Shape::line;
    line.vertex[0] = vertex_at(from.x, from.y);
    line.vertex[1] = vertex_at(to.x, to.y);
    CoverageMap map(kSmall, kSmall);
    draw(state, line, map);
    for (int32_t y = 0; y < kSmall; ++y) {
      for (int32_t x = 0; x < kSmall; ++x) {
        // A pixel is drawn if the line was inside its diamond and ends outside. Steps may miss a corner that the line
        // barely cuts.
        const Nearness near = nearness(from, to, x + 0.5, y + 0.5);
        if (std::abs(near.least - 0.5) < 0.01) {
          continue;
        }
        const bool in = near.least < 0.5 && near.end >= 0.5;
        ASSERT_EQ(map.at(x, y), in ? 1 : 0)
            << x << " " << y << ": " << from.x << "," << from.y << " to " << to.x << "," << to.y;
      }
    }
  }
}

TEST(Raster, WideLinesAreParallelogramsOrRectangles) {
  std::mt19937 random(29);
  for (int round = 0; round < 60; ++round) {
    PipelineState state = window_state(kSize, kSize);
    const bool rectangle = round % 2 == 0;
    if (rectangle) {
      set_samples(state.raster, 2);
    }
    const double width = round % 3 == 0 ? 1 : 3;
    state.raster.line_width = static_cast<float>(width);
    const auto some = [&] { return 8 + (2 * static_cast<double>(random() % (32 * 128)) + 1) / 256.0; };
    const Corner from{some(), some()};
    const Corner to{some(), some()};
    Primitive line;
    line.shape = Shape::line;
    line.vertex[0] = vertex_at(from.x, from.y);
    line.vertex[1] = vertex_at(to.x, to.y);
    CoverageMap map(kSize, kSize);
    draw(state, line, map);
    const double dx = to.x - from.x, dy = to.y - from.y;
    const double length = std::hypot(dx, dy);
    for (int32_t y = 0; y < kSize; ++y) {
      for (int32_t x = 0; x < kSize; ++x) {
        for (unsigned s = 0; s < (rectangle ? 4u : 1u); ++s) {
          const double px = x + (rectangle ? kFour[s][0] / 16.0 : 0.5) - from.x;
          const double py = y + (rectangle ? kFour[s][1] / 16.0 : 0.5) - from.y;
          double along = (px * dx + py * dy) / length;
          double across = (px * dy - py * dx) / length;
          double end = length;
          if (!rectangle) {
            const bool steep = std::abs(dy) > std::abs(dx);
            const double t = steep ? py / dy : px / dx;
            along = t * length;
            across = steep ? px - dx * t : py - dy * t;
            end = length;
          }
          // Corners are rounded to the grid, so there is a margin.
          const double margin = 0.02 * std::max(1.0, length / std::max(std::abs(dx), std::abs(dy)));
          const double inner = std::min({along, end - along, width / 2 - std::abs(across)});
          if (std::abs(inner) > margin) {
            ASSERT_EQ(map.at(x, y, s), inner > 0 ? 1 : 0) << "round " << round << ": " << x << " " << y;
          }
        }
      }
    }
  }
}

TEST(Raster, StipplePatternsMaskPixels) {
  PipelineState state = window_state(kSize, kSize);
  state.raster.cull = hw::CullMode::NONE;
  state.raster.polygon_stipple = true;
  std::mt19937 random(31);
  for (uint32_t& row : state.raster.stipple_pattern) {
    row = static_cast<uint32_t>(random());
  }
  state.raster.stipple_offset = {5, 9};
  CoverageMap map(kSize, kSize);
  draw(state, triangle_of({{{-100, -100}, {300, -100}, {-100, 300}}}), map);
  for (int32_t y = 0; y < kSize; ++y) {
    for (int32_t x = 0; x < kSize; ++x) {
      const uint32_t row = state.raster.stipple_pattern[static_cast<size_t>((y + 9) % 32)];
      ASSERT_EQ(map.at(x, y), static_cast<int>(row >> (31 - (x + 5) % 32) & 1));
    }
  }
  // A horizontal line. Bit 0 of the pattern is first, and each bit covers three pixels.
  state.raster.line_stipple = true;
  state.raster.line_pattern = 0xa635;
  state.raster.line_repeat = 3;
  Primitive line;
  line.shape = Shape::line;
  line.vertex[0] = vertex_at(2.25, 7.5);
  line.vertex[1] = vertex_at(45.25, 7.5);
  CoverageMap lines(kSize, kSize);
  draw(state, line, lines);
  for (int32_t x = 2; x < 45; ++x) {
    ASSERT_EQ(lines.at(x, 7), 0xa635 >> ((x - 2) / 3 % 16) & 1) << x;
  }
}

// Every pixel of a line advances the pattern, and the lines of a strip continue it (GL 2.1, 3.4.2).
TEST(Raster, LinePatternsContinueAlongAStrip) {
  std::mt19937 random(37);
  for (int round = 0; round < 100; ++round) {
    PipelineState state = window_state(kSize, kSize);
    state.raster.line_stipple = true;
    state.raster.line_pattern = static_cast<uint16_t>(random());
    state.raster.line_repeat = static_cast<uint32_t>(1 + random() % 3);
    const auto some = [&] { return (2 * static_cast<double>(random() % (kSize * 128)) + 1) / 256.0; };
    std::array<Corner, 4> corners;
    for (Corner& corner : corners) {
      corner = {some(), some()};
    }
    uint32_t steps = 0;
    uint32_t counted = 0;
    for (size_t i = 0; i + 1 < corners.size(); ++i) {
      Primitive line;
      line.shape = Shape::line;
      line.topology = hw::PrimitiveTopology::LINESTRIP;
      line.first = i == 0;
      line.vertex[0] = vertex_at(corners[i].x, corners[i].y);
      line.vertex[1] = vertex_at(corners[i + 1].x, corners[i + 1].y);
      CoverageMap map(kSize, kSize);
      draw(state, line, map, steps);
      // Centres along the longer axis between the ends, in the direction of the line.
      const double dx = corners[i + 1].x - corners[i].x, dy = corners[i + 1].y - corners[i].y;
      const bool steep = std::abs(dy) > std::abs(dx);
      const double from = steep ? corners[i].y : corners[i].x, to = steep ? corners[i + 1].y : corners[i + 1].x;
      for (int32_t k = 0; k < kSize; ++k) {
        const int32_t column = to > from ? k : kSize - 1 - k;
        const double centre = column + 0.5;
        if (centre < std::min(from, to) || centre > std::max(from, to)) {
          continue;
        }
        const bool wanted = (state.raster.line_pattern >> (counted++ / state.raster.line_repeat % 16) & 1) != 0;
        int lit = 0;
        for (int32_t row = 0; row < kSize; ++row) {
          lit += map.at(steep ? row : column, steep ? column : row);
        }
        ASSERT_EQ(lit, wanted ? 1 : 0) << "round " << round << ", line " << i << ", column " << column;
      }
    }
  }
}

// Coverage of a smooth line falls from one to zero over a region of the width in the state, around its edges. The sum
// of all coverage is therefore the area of the line.
TEST(Raster, SmoothLinesFadeOverTheirEdges) {
  std::mt19937 random(41);
  for (int round = 0; round < 60; ++round) {
    PipelineState state = window_state(kSize, kSize);
    state.raster.antialias = true;
    const double width = 2 + round % 3;
    state.raster.line_width = static_cast<float>(width);
    state.raster.antialias_width = round % 2 == 0 ? 1.0f : 2.0f;
    state.raster.antialias_ends = 1;
    const auto some = [&] { return 6 + (2 * static_cast<double>(random() % ((kSize - 12) * 128)) + 1) / 256.0; };
    const Corner from{some(), some()}, to{some(), some()};
    const double dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
    if (length < 8) {
      continue;
    }
    Primitive line;
    line.shape = Shape::line;
    line.vertex[0] = vertex_at(from.x, from.y);
    line.vertex[1] = vertex_at(to.x, to.y);
    const std::vector<ScreenPrimitive> made = on_screen(state, line);
    ASSERT_EQ(made.size(), 1u);
    const Rasteriser raster(state, made[0]);
    ASSERT_TRUE(raster.smooth());
    CoverageMap map(kSize, kSize);
    draw(state, line, map);
    double sum = 0;
    for (int32_t y = 0; y < kSize; ++y) {
      for (int32_t x = 0; x < kSize; ++x) {
        const double px = x + 0.5 - from.x, py = y + 0.5 - from.y;
        const double along = (px * dx + py * dy) / length, across = std::abs(px * dy - py * dx) / length;
        const auto ramp = [](double inside, double region) { return std::clamp(0.5 + inside / region, 0.0, 1.0); };
        const double wanted =
            ramp(width / 2 - across, state.raster.antialias_width) * ramp(std::min(along, length - along), 1);
        const double drawn =
            map.at(x, y) != 0 ? raster.fraction(static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f) : 0;
        ASSERT_NEAR(drawn, wanted, 0.01) << x << " " << y;
        sum += drawn;
      }
    }
    EXPECT_NEAR(sum, width * length, 0.05 * width * length);
  }
}

TEST(Raster, WeightsSolveTheTriangle) {
  std::mt19937 random(37);
  for (int round = 0; round < 100; ++round) {
    PipelineState state = window_state(kSize, kSize);
    state.raster.cull = hw::CullMode::NONE;
    const std::array<Corner, 3> v = random_corners(random, 1);
    const double area = cross(v[0], v[1], v[2].x, v[2].y);
    if (std::abs(area) < 4) {
      continue;
    }
    const std::array<double, 3> rhw{0.5, 2.0, 0.25};
    const std::array<double, 3> z{0.125, 0.75, 0.5};
    const auto screen =
        on_screen(state, triangle(vertex_at(v[0].x, v[0].y, z[0], rhw[0]), vertex_at(v[1].x, v[1].y, z[1], rhw[1]),
                                  vertex_at(v[2].x, v[2].y, z[2], rhw[2])));
    ASSERT_EQ(screen.size(), 1u);
    const Rasteriser raster(state, screen[0]);
    const std::array<double, 3> mix{0.2, 0.3, 0.5};
    double x = 0, y = 0, depth = 0, sum = 0;
    for (size_t i = 0; i < 3; ++i) {
      x += mix[i] * v[i].x;
      y += mix[i] * v[i].y;
      depth += mix[i] * z[i];
      sum += mix[i] * rhw[i];
    }
    const auto fx = static_cast<float>(x), fy = static_cast<float>(y);
    const double slack = 1e-5 + 1e-4 / std::abs(area);
    EXPECT_NEAR(raster.linear(fx, fy).first, 0.3, slack);
    EXPECT_NEAR(raster.linear(fx, fy).second, 0.5, slack);
    EXPECT_NEAR(raster.perspective(fx, fy).first, 0.3 * rhw[1] / sum, slack * 4);
    EXPECT_NEAR(raster.perspective(fx, fy).second, 0.5 * rhw[2] / sum, slack * 4);
    EXPECT_NEAR(raster.depth(fx, fy), depth, slack);
    EXPECT_NEAR(raster.w(fx, fy), 1 / sum, slack * 8);
    // Squares have the same weights and depths as their points.
    const Rasteriser::Square square{.x = {fx, fx + 1}, .y = {fy, fy + 1}};
    const std::array<float, 4> depths = raster.depths(square);
    for (const bool perspective : {false, true}) {
      const Rasteriser::SquareWeights weights = raster.weights(square, perspective);
      for (size_t i = 0; i < 4; ++i) {
        const float at_x = square.x[i & 1], at_y = square.y[i >> 1];
        const Rasteriser::Weights one = perspective ? raster.perspective(at_x, at_y) : raster.linear(at_x, at_y);
        EXPECT_EQ(weights.first[i], one.first);
        EXPECT_EQ(weights.second[i], one.second);
        EXPECT_EQ(depths[i], raster.depth(at_x, at_y));
      }
    }
  }
}

}  // namespace
}  // namespace halogen::pipe3d
