// Clipping compared with its definition: a pixel of a triangle is visible if its homogeneous point satisfies all
// inequalities. The reference cuts no polygons.
#include <bit>

#include "raster_scene.h"

namespace halogen::pipe3d {
namespace {

constexpr int32_t kSize = 40;

PipelineState clip_state() {
  PipelineState state;
  state.clip.enabled = true;
  state.clip.xy_test = true;
  state.clip.z_near_test = true;
  state.clip.z_far_test = true;
  state.clip.guard_band = true;
  state.raster.viewport_transform = true;
  state.raster.cull = hw::CullMode::NONE;
  state.raster.drawing = {.x_min = 0, .y_min = 0, .x_max = kSize - 1, .y_max = kSize - 1};
  Viewport& view = state.viewports[0];
  view.scale = {kSize / 2.0f, kSize / 2.0f, 0.5f};
  view.move = {kSize / 2.0f, kSize / 2.0f, 0.5f};
  view.guard_x_min = view.guard_y_min = -30;
  view.guard_x_max = view.guard_y_max = 30;
  return state;
}

using Vector = std::array<double, 3>;
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Weights of the vertices at a point of the screen in normalised coordinates, scaled so that the weighted w is one, and
// the distance to the nearest edge.
struct Behind {
  std::array<double, 3> weight{};
  double margin = 0;
};
Behind behind(const Primitive& of, double x, double y) {
  std::array<Vector, 3> v{};
  for (size_t i = 0; i < 3; ++i) {
    v[i] = {of.vertex[i].position[0], of.vertex[i].position[1], of.vertex[i].position[3]};
  }
  const Vector at{x, y, 1};
  const double volume = dot(v[0], cross(v[1], v[2]));
  Behind result;
  result.margin = 1e9;
  for (size_t i = 0; i < 3; ++i) {
    const Vector side = cross(v[(i + 1) % 3], v[(i + 2) % 3]);
    result.weight[i] = dot(side, at) / volume;
    // Distance to the edge on the screen.
    result.margin = std::min(result.margin, std::abs(dot(side, at)) / std::hypot(side[0], side[1]));
  }
  return result;
}

TEST(Clip, ClippedTrianglesCoverTheHalfSpacesOfTheirPlanes) {
  std::mt19937 random(43);
  int drawn = 0;
  int cut = 0;
  for (int round = 0; round < 500; ++round) {
    PipelineState state = clip_state();
    state.clip.guard_band = round % 2 == 0;
    state.clip.zero_to_one = round % 3 == 0;
    state.clip.clip_distances = round % 5 == 0 ? 0x21 : 0;
    state.clip.z_far_test = round % 7 != 0;
    const auto some = [&](double scale) { return (static_cast<double>(random() % 20001) / 10000 - 1) * scale; };
    Primitive whole;
    const double reach = round % 4 == 0 ? 100 : 3;
    for (ClipVertex& vertex : whole.vertex) {
      vertex = vertex_at(some(reach), some(reach), some(2), some(2) + 0.7);
      for (float& distance : vertex.distance) {
        distance = static_cast<float>(some(1));
      }
    }
    CoverageMap map(kSize, kSize);
    Clipper clipper(state, 0);
    std::vector<ClippedPart> pieces;
    clipper.clip(whole, pieces);
    cut += pieces.size() > 1 ? 1 : 0;
    draw(state, whole, map);
    for (int32_t y = 0; y < kSize; ++y) {
      for (int32_t x = 0; x < kSize; ++x) {
        const double px = (x + 0.5) / (kSize / 2.0) - 1;
        const double py = (y + 0.5) / (kSize / 2.0) - 1;
        const Behind at = behind(whole, px, py);
        double z = 0;
        double sum = 0;
        std::array<double, 8> distance{};
        bool inside = true;
        for (size_t i = 0; i < 3; ++i) {
          z += at.weight[i] * whole.vertex[i].position[2];
          sum += at.weight[i] * whole.vertex[i].position[3];
          inside = inside && at.weight[i] >= 0;
          for (size_t d = 0; d < 8; ++d) {
            distance[d] += at.weight[i] * whole.vertex[i].distance[d];
          }
        }
        // The weighted w is one, so z is already divided by it.
        ASSERT_NEAR(sum, 1, 1e-6 * (1 + std::abs(at.weight[0]) + std::abs(at.weight[1]) + std::abs(at.weight[2])));
        const double low = state.clip.zero_to_one ? 0 : -1;
        double margin = at.margin * kSize / 2;  // in pixels
        // The slopes of z and of distances are unknown here, so the margin near planes is wide.
        const double near_plane = std::min(std::abs(z - low), state.clip.z_far_test ? std::abs(1 - z) : 1e9);
        inside = inside && z >= low && (!state.clip.z_far_test || z <= 1);
        double plane = near_plane;
        for (size_t d = 0; d < 8; ++d) {
          if ((state.clip.clip_distances >> d & 1) != 0) {
            inside = inside && distance[d] >= 0;
            plane = std::min(plane, std::abs(distance[d]));
          }
        }
        const double size = 1 + std::abs(at.weight[0]) + std::abs(at.weight[1]) + std::abs(at.weight[2]);
        if (margin < 0.05 || plane < 0.02 * size) {
          continue;
        }
        ASSERT_EQ(map.at(x, y), inside ? 1 : 0) << "round " << round << ": " << x << " " << y << " z " << z;
        drawn += inside ? 1 : 0;
      }
    }
  }
  EXPECT_GT(drawn, 10000);
  EXPECT_GT(cut, 50);
}

// The halves of a parallelogram that may reach behind the eye. Every pixel along the diagonal is drawn once.
TEST(Clip, CutNeighboursLeaveNoSeam) {
  std::mt19937 random(47);
  int once = 0;
  for (int round = 0; round < 300; ++round) {
    const PipelineState state = clip_state();
    const auto some = [&](double scale) { return (static_cast<double>(random() % 20001) / 10000 - 1) * scale; };
    // Multiples of 1/8, so that the fourth corner is exact.
    const auto corner = [&] {
      const auto coarse = [&](double scale) { return std::round(some(scale) * 8) / 8; };
      return vertex_at(coarse(20), coarse(20), 0, coarse(2));
    };
    const ClipVertex a = corner(), b = corner(), c = corner();
    const ClipVertex d =
        vertex_at(a.position[0] + c.position[0] - b.position[0], a.position[1] + c.position[1] - b.position[1], 0,
                  a.position[3] + c.position[3] - b.position[3]);
    const Primitive half = triangle(a, b, c);
    CoverageMap map(kSize, kSize);
    draw(state, half, map);
    draw(state, triangle(a, c, d), map);
    for (int32_t y = 0; y < kSize; ++y) {
      for (int32_t x = 0; x < kSize; ++x) {
        const Behind at = behind(half, (x + 0.5) / (kSize / 2.0) - 1, (y + 0.5) / (kSize / 2.0) - 1);
        const double sum = at.weight[0] + at.weight[1] + at.weight[2];
        const double s = at.weight[0] / sum, t = at.weight[2] / sum;
        ASSERT_LE(map.at(x, y), 1) << "round " << round << ": " << x << " " << y;
        if (sum > 1e-3 && sum < 1e3 && std::min({s, t, 1 - s, 1 - t}) > 0.05) {
          ASSERT_EQ(map.at(x, y), 1) << "round " << round << ": " << x << " " << y;
          ++once;
        }
      }
    }
  }
  EXPECT_GT(once, 5000);
}

// Pixels of pieces get the weights of the original triangle: in clip space, and on the screen, where each is multiplied
// by w of its vertex. Vertices may be behind the eye.
TEST(Clip, PiecesHaveTheWeightsOfTheWholeTriangle) {
  std::mt19937 random(61);
  int judged = 0;
  for (int round = 0; round < 400; ++round) {
    PipelineState state = clip_state();
    state.clip.linear_weights = true;
    state.clip.guard_band = round % 2 == 0;
    state.clip.clip_distances = round % 5 == 0 ? 1 : 0;
    const auto some = [&](double scale) { return (static_cast<double>(random() % 20001) / 10000 - 1) * scale; };
    Primitive whole;
    const double reach = round % 4 == 0 ? 100 : 3;
    for (ClipVertex& vertex : whole.vertex) {
      vertex = vertex_at(some(reach), some(reach), some(2), some(2) + 0.7);
      vertex.distance[0] = static_cast<float>(some(1));
    }
    for (const ScreenPrimitive& each : on_screen(state, whole)) {
      const Rasteriser raster(state, each);
      const auto expected = [&](double x, double y) -> std::array<double, 4> {
        const Behind at = behind(whole, x / (kSize / 2.0) - 1, y / (kSize / 2.0) - 1);
        const double sum = at.weight[0] + at.weight[1] + at.weight[2];
        return {at.weight[1] / sum, at.weight[2] / sum, at.weight[1] * whole.vertex[1].position[3],
                at.weight[2] * whole.vertex[2].position[3]};
      };
      raster.walk({.x_min = 0, .y_min = 0, .x_max = kSize - 1, .y_max = kSize - 1}, [&](const Subspan& span) {
        for (int32_t lane = 0; lane < 4; ++lane) {
          if (span.coverage[static_cast<size_t>(lane)] == 0) {
            continue;
          }
          const double x = span.x + lane % 2 + 0.5, y = span.y + lane / 2 + 0.5;
          const Rasteriser::Weights perspective = raster.perspective(static_cast<float>(x), static_cast<float>(y));
          const Rasteriser::Weights linear = raster.linear(static_cast<float>(x), static_cast<float>(y));
          const std::array<double, 4> drawn{perspective.first, perspective.second, linear.first, linear.second};
          const std::array<double, 4> wanted = expected(x, y);
          // Corners are rounded to the grid. The tolerance is the change of the weights over 1/50 of a pixel. Small
          // pieces are skipped.
          const std::array<double, 4> right = expected(x + 0.02, y), below = expected(x, y + 0.02);
          const double area = std::abs((each.vertex[1].x - each.vertex[0].x) * (each.vertex[2].y - each.vertex[0].y) -
                                       (each.vertex[2].x - each.vertex[0].x) * (each.vertex[1].y - each.vertex[0].y));
          if (area < 20) {
            continue;
          }
          for (size_t i = 0; i < 4; ++i) {
            const double slope = std::abs(right[i] - wanted[i]) + std::abs(below[i] - wanted[i]);
            ASSERT_NEAR(drawn[i], wanted[i], slope + 1e-4) << "round " << round << ": " << x << " " << y << " " << i;
          }
          judged += each.cut ? 1 : 0;
        }
      });
    }
  }
  EXPECT_GT(judged, 10000);
}

// Without the state bit, new vertices have only one kind of weights.
TEST(Clip, LinearWeightsAreComputedIfEnabled) {
  PipelineState state = clip_state();
  const Primitive whole = triangle(vertex_at(-1, -1, 0, 1), vertex_at(3, 0, -6, 2), vertex_at(0, 4, 0, 4));
  for (const bool asked : {false, true}) {
    state.clip.linear_weights = asked;
    std::vector<ClippedPart> pieces;
    Clipper(state, 0).clip(whole, pieces);
    ASSERT_EQ(pieces.size(), 2u);
    int apart = 0;
    for (const ClippedPart& piece : pieces) {
      for (const ClipVertex& vertex : piece.primitive.vertex) {
        apart += vertex.whole.linear != vertex.whole.perspective ? 1 : 0;
      }
    }
    EXPECT_EQ(apart != 0, asked);
  }
}

// If the perspective divide is disabled, later stages read the entries of the vertices that clipping creates.
TEST(Clip, CutVerticesAreInterpolatedExceptFlatValues) {
  PipelineState state = clip_state();
  state.clip.divide = false;
  std::array<std::array<Slot, 3>, 3> entries{};
  Primitive whole = triangle(vertex_at(0, 0, 0, 1), vertex_at(0.5, 0, 4, 1), vertex_at(0, 0.5, 0, 1));
  for (size_t i = 0; i < 3; ++i) {
    entries[i][0] = {7, 8, 9, 10};
    entries[i][1] = std::bit_cast<Slot>(whole.vertex[i].position);
    const auto value = static_cast<float>(i + 1);
    entries[i][2] = std::bit_cast<Slot>(std::array<float, 4>{value, value * value, -value, 0});
    whole.vertex[i].slots = entries[i].data();
    whole.vertex[i].layer = static_cast<uint32_t>(i);
  }
  // NaN bits do not affect vertices on the other edge.
  entries[2][2][3] = 0xffff'ffff;
  whole.provoking = 1;
  Clipper clipper(state, 3);
  std::vector<ClippedPart> pieces;
  clipper.clip(whole, pieces);
  ASSERT_EQ(pieces.size(), 2u);
  for (const ClippedPart& piece : pieces) {
    EXPECT_EQ(piece.flat, entries[1].data());
    EXPECT_EQ(piece.layer, 1u);
    for (const ClipVertex& vertex : piece.primitive.vertex) {
      ASSERT_NE(vertex.slots, nullptr);
      EXPECT_EQ(vertex.slots[0][3], 10u);
      const auto position = std::bit_cast<std::array<float, 4>>(vertex.slots[1]);
      const auto data = std::bit_cast<std::array<float, 4>>(vertex.slots[2]);
      for (size_t c = 0; c < 4; ++c) {
        EXPECT_FLOAT_EQ(position[c], vertex.position[c]);
      }
      EXPECT_LE(vertex.position[2], vertex.position[3] * 1.0001f);
      // Only vertex 1 has x = 0.5 and only vertex 2 has y = 0.5, so the position gives the weights.
      const double first = vertex.position[0] / 0.5, second = vertex.position[1] / 0.5;
      const double zeroth = 1 - first - second;
      EXPECT_NEAR(data[0], zeroth * 1 + first * 2 + second * 3, 1e-5);
      EXPECT_NEAR(data[1], zeroth * 1 + first * 4 + second * 9, 1e-5);
      if (second == 0) {
        EXPECT_EQ(data[3], 0.0f);
      }
    }
  }
}

TEST(Clip, CullDistancesDropWholePrimitives) {
  PipelineState state = clip_state();
  state.clip.cull_distances = 2;
  Primitive whole = triangle(vertex_at(0, 0), vertex_at(0.5, 0), vertex_at(0, 0.5));
  for (ClipVertex& vertex : whole.vertex) {
    vertex.distance[1] = -1;
  }
  EXPECT_TRUE(on_screen(state, whole).empty());
  whole.vertex[2].distance[1] = 0.5f;
  EXPECT_EQ(on_screen(state, whole).size(), 1u);
  whole.vertex[2].distance[1] = NAN;
  EXPECT_TRUE(on_screen(state, whole).empty());
  state.clip.cull_distances = 0;
  EXPECT_EQ(on_screen(state, whole).size(), 1u);
  state.clip.reject_all = true;
  EXPECT_TRUE(on_screen(state, whole).empty());
}

TEST(Clip, LinesAreCutAndPointsOutsideAreDropped) {
  PipelineState state = clip_state();
  Primitive line;
  line.shape = Shape::line;
  line.vertex[0] = vertex_at(0, 0, -3, 1);
  line.vertex[1] = vertex_at(0.8, 0.4, 1, 1);
  const auto screen = on_screen(state, line);
  ASSERT_EQ(screen.size(), 1u);
  // z = -1 at half the distance.
  EXPECT_NEAR(screen[0].vertex[0].x, (0.4 + 1) * kSize / 2, 1.0 / 256);
  EXPECT_NEAR(screen[0].vertex[0].y, (0.2 + 1) * kSize / 2, 1.0 / 256);
  EXPECT_NEAR(screen[0].vertex[1].x, (0.8 + 1) * kSize / 2, 1.0 / 256);
  line.vertex[1] = vertex_at(0.8, 0.4, -2, 1);
  EXPECT_TRUE(on_screen(state, line).empty());
  Primitive point;
  point.shape = Shape::point;
  point.vertex[0] = vertex_at(0.8, 0.4, 0.5, 1);
  EXPECT_EQ(on_screen(state, point).size(), 1u);
  for (const ClipVertex& outside :
       {vertex_at(0.8, 0.4, 1.5, 1), vertex_at(0.8, 0.4, 0, -1), vertex_at(0, 0, 0, 0), vertex_at(1e9, 0.4, 0, 1)}) {
    point.vertex[0] = outside;
    EXPECT_TRUE(on_screen(state, point).empty());
  }
}

TEST(Clip, PrimitivesWithNanPositionsAreDropped) {
  std::mt19937 random(53);
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int round = 0; round < 200; ++round) {
    PipelineState state = clip_state();
    state.clip.enabled = round % 2 == 0;
    state.clip.divide = round % 3 != 0;
    Primitive whole = triangle(vertex_at(0, 0), vertex_at(0.5, 0), vertex_at(0, 0.5));
    whole.shape = static_cast<Shape>(random() % 4);
    whole.vertex[random() % vertices_of(whole.shape)].position[random() % 4] = bad[random() % 3];
    EXPECT_TRUE(on_screen(state, whole).empty());
  }
}

TEST(Clip, HugeAndTinyNumbersStayInBounds) {
  std::mt19937 random(59);
  for (int round = 0; round < 3000; ++round) {
    PipelineState state = clip_state();
    state.clip.enabled = random() % 2 == 0;
    state.clip.divide = random() % 3 != 0;
    state.clip.xy_test = random() % 2 == 0;
    state.raster.viewport_transform = random() % 4 != 0;
    state.raster.line_width = random() % 2 == 0 ? 1.0f : 200.0f;
    state.raster.point_width = random() % 2 == 0 ? 0.0f : 1e9f;
    if (random() % 3 == 0) {
      state.viewports[0].scale = {1e30f, 16384, 1};
      state.viewports[0].move = {-1e20f, 8192, 0};
    }
    state.raster.drawing = {.x_min = 0, .y_min = 0, .x_max = 99, .y_max = 99};
    if (random() % 2 == 0) {
      set_samples(state.raster, static_cast<uint8_t>(random() % 5));
    }
    Primitive whole;
    whole.shape = static_cast<Shape>(random() % 4);
    for (ClipVertex& vertex : whole.vertex) {
      for (float& value : vertex.position) {
        value = static_cast<float>(
            std::ldexp(static_cast<double>(random() % 2001) - 1000.0, static_cast<int>(random() % 240) - 125));
      }
    }
    CoverageMap map(100, 100);
    draw(state, whole, map);
  }
}

TEST(SetUp, WindingDecidesFacingAndCulling) {
  for (const bool counter : {false, true}) {
    for (const bool flipped : {false, true}) {
      PipelineState state = window_state(kSize, kSize);
      state.raster.front_counter_clockwise = counter;
      // This is clockwise on the screen, because y points down.
      Primitive whole = triangle(vertex_at(5, 5), vertex_at(20, 5), vertex_at(5, 20));
      if (flipped) {
        std::swap(whole.vertex[1], whole.vertex[2]);
      }
      const bool front = flipped == counter;
      state.raster.cull = hw::CullMode::NONE;
      ASSERT_EQ(on_screen(state, whole).size(), 1u);
      EXPECT_EQ(on_screen(state, whole)[0].front, front);
      state.raster.cull = hw::CullMode::FRONT;
      EXPECT_EQ(on_screen(state, whole).empty(), front);
      state.raster.cull = hw::CullMode::BACK;
      EXPECT_EQ(on_screen(state, whole).empty(), !front);
      state.raster.cull = hw::CullMode::BOTH;
      EXPECT_TRUE(on_screen(state, whole).empty());
    }
  }
}

TEST(SetUp, FillModesMakeLinesAndPoints) {
  PipelineState state = window_state(kSize, kSize);
  state.raster.cull = hw::CullMode::NONE;
  state.raster.front_fill = state.raster.back_fill = hw::FillMode::WIREFRAME;
  Primitive whole = triangle(vertex_at(5, 5), vertex_at(20, 5), vertex_at(5, 20));
  whole.edge = {true, false, true};
  auto screen = on_screen(state, whole);
  ASSERT_EQ(screen.size(), 2u);
  EXPECT_EQ(screen[0].shape, Shape::line);
  EXPECT_EQ(screen[0].vertex[1].x, 20);
  EXPECT_EQ(screen[1].vertex[0].y, 20);
  EXPECT_EQ(screen[1].vertex[1].y, 5);
  state.raster.front_fill = state.raster.back_fill = hw::FillMode::POINT;
  screen = on_screen(state, whole);
  ASSERT_EQ(screen.size(), 2u);
  EXPECT_EQ(screen[1].shape, Shape::point);
  EXPECT_EQ(screen[1].vertex[0].y, 20);
}

TEST(SetUp, PolygonOffsetDependsOnTheDepthFormat) {
  PipelineState state = window_state(kSize, kSize);
  state.raster.cull = hw::CullMode::NONE;
  state.raster.offset_solid = true;
  state.raster.offset_constant = 3;
  state.raster.offset_scale = 2;
  // dz/dx = 0.01, dz/dy = -0.02
  const Primitive whole = triangle(vertex_at(5, 5, 0.5), vertex_at(15, 5, 0.5 + 0.1), vertex_at(5, 15, 0.5 - 0.2));
  const auto offset = [&](hw::DepthFormat format) {
    state.output.buffers.format = format;
    return static_cast<double>(on_screen(state, whole).at(0).depth_offset);
  };
  EXPECT_NEAR(offset(hw::DepthFormat::D16_UNORM), 3.0 / 65536 + 0.04, 1e-7);
  EXPECT_NEAR(offset(hw::DepthFormat::D24_UNORM_X8_UINT), 3.0 / (1 << 24) + 0.04, 1e-8);
  // The largest z is 0.6, whose exponent is -1.
  state.raster.offset_scale = 0;
  EXPECT_DOUBLE_EQ(offset(hw::DepthFormat::D32_FLOAT), 3 * std::ldexp(1.0, -24));
  state.raster.offset_scale = 2;
  state.raster.offset_clamp = 0.01f;
  EXPECT_FLOAT_EQ(static_cast<float>(offset(hw::DepthFormat::D16_UNORM)), 0.01f);
  state.raster.offset_scale = -2;
  state.raster.offset_clamp = -0.015f;
  EXPECT_FLOAT_EQ(static_cast<float>(offset(hw::DepthFormat::D16_UNORM)), -0.015f);
  state.raster.offset_solid = false;
  EXPECT_EQ(offset(hw::DepthFormat::D16_UNORM), 0);
}

TEST(SetUp, PositionsAreRoundedToTheGrid) {
  PipelineState state = window_state(kSize, kSize);
  state.raster.cull = hw::CullMode::NONE;
  state.raster.origin = {2, 3};
  state.raster.origin_bias = 0.5f;
  const Primitive whole = triangle(vertex_at(5.1, 5), vertex_at(20, 5.3), vertex_at(5, 20));
  EXPECT_EQ(on_screen(state, whole)[0].vertex[0].x, static_cast<float>(std::round(6.6 * 256) / 256));
  EXPECT_EQ(on_screen(state, whole)[0].vertex[1].y, static_cast<float>(std::round(7.8 * 256) / 256));
  state.raster.sub_pixel_bits = 4;
  EXPECT_EQ(on_screen(state, whole)[0].vertex[0].x, static_cast<float>(std::round(6.6 * 16) / 16));
}

}  // namespace
}  // namespace halogen::pipe3d
