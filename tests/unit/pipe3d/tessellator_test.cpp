// The tessellator compared with rules that need no tables: the number of primitives for given factors, that triangles
// cover the domain exactly once, that an edge depends only on its own factor and is symmetric, and the lengths of its
// segments.
#include "pipe3d/geometry/tessellator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace halogen::pipe3d {
namespace {

constexpr int64_t kOne = 65536;

Tessellation state_of(TessellationDomain domain, TessellationPartitioning partitioning,
                      TessellationOutput output = TessellationOutput::clockwise) {
  Tessellation state;
  state.domain = domain;
  state.partitioning = partitioning;
  state.output = output;
  return state;
}

int64_t doubled_area(const DomainPoint& a, const DomainPoint& b, const DomainPoint& c) {
  const auto x = [](const DomainPoint& p) { return int64_t{p.u}; };
  const auto y = [](const DomainPoint& p) { return int64_t{p.v}; };
  return (x(b) - x(a)) * (y(c) - y(a)) - (x(c) - x(a)) * (y(b) - y(a));
}

// Checks that every edge between two triangles is used once in each direction, that every other edge is on the border
// of the domain, and that areas have one sign and add up to the area of the domain.
void expect_covered(const Tessellator& made, const Tessellation& state) {
  ASSERT_EQ(made.vertices(), 3u);
  std::map<std::pair<uint16_t, uint16_t>, int> edges;
  int64_t area = 0;
  const std::span<const DomainPoint> p = made.points();
  for (size_t i = 0; i < made.indices().size(); i += 3) {
    const auto t = made.indices().subspan(i, 3);
    int64_t one = doubled_area(p[t[0]], p[t[1]], p[t[2]]);
    one = state.output == TessellationOutput::clockwise ? one : -one;
    EXPECT_GE(one, 0) << "triangle " << i / 3;
    area += one;
    for (size_t k = 0; k < 3; ++k) {
      ++edges[{t[k], t[(k + 1) % 3]}];
    }
  }
  const bool quad = state.domain == TessellationDomain::quad;
  EXPECT_EQ(area, quad ? 2 * kOne * kOne : kOne * kOne);
  for (const auto& [edge, uses] : edges) {
    EXPECT_EQ(uses, 1);
    if (edges.contains({edge.second, edge.first})) {
      continue;
    }
    const DomainPoint a = p[edge.first];
    const DomainPoint b = p[edge.second];
    const bool border =
        (a.u == 0 && b.u == 0) || (a.v == 0 && b.v == 0) ||
        (quad ? (a.u == kOne && b.u == kOne) || (a.v == kOne && b.v == kOne) : a.u + a.v == kOne && b.u + b.v == kOne);
    EXPECT_TRUE(border) << a.u << " " << a.v << " - " << b.u << " " << b.v;
  }
}

// Returns the number of segments for a factor.
int segments_of(TessellationPartitioning partitioning, float factor) {
  switch (partitioning) {
    case TessellationPartitioning::odd: {
      const int whole = static_cast<int>(std::ceil(std::clamp(factor, 1.0f, 63.0f)));
      return whole % 2 == 1 ? whole : whole + 1;
    }
    case TessellationPartitioning::even: {
      const int whole = static_cast<int>(std::ceil(std::clamp(factor, 2.0f, 64.0f)));
      return whole % 2 == 0 ? whole : whole + 1;
    }
    case TessellationPartitioning::integer:
      break;
  }
  return static_cast<int>(std::ceil(std::clamp(factor, 1.0f, 64.0f)));
}

// Returns the positions of points on one side of the domain, from 0 to 1.
std::set<uint32_t> side(const Tessellator& made, TessellationDomain domain, size_t edge) {
  std::set<uint32_t> places;
  for (const DomainPoint& p : made.points()) {
    switch (edge) {
      case 0:
        if (p.u == 0) places.insert(p.v);
        break;
      case 1:
        if (p.v == 0) places.insert(p.u);
        break;
      case 2:
        if (domain == TessellationDomain::quad ? p.u == kOne : p.u + p.v == kOne) places.insert(p.v);
        break;
      default:
        if (p.v == kOne) places.insert(p.u);
        break;
    }
  }
  return places;
}

constexpr TessellationPartitioning kAll[] = {TessellationPartitioning::integer, TessellationPartitioning::odd,
                                             TessellationPartitioning::even};

TEST(Tessellator, TrianglesCoverTheDomainOnce) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> factor(0.1f, 20.0f);
  for (int i = 0; i < 200; ++i) {
    for (const TessellationPartitioning partitioning : kAll) {
      for (const TessellationDomain domain : {TessellationDomain::quad, TessellationDomain::triangle}) {
        const Tessellation state = state_of(
            domain, partitioning, i % 2 == 0 ? TessellationOutput::clockwise : TessellationOutput::counter_clockwise);
        TessellationFactors factors;
        for (float& one : factors.outer) one = i % 5 == 0 ? 1.0f : factor(random);
        for (float& one : factors.inner) one = i % 7 == 0 ? 1.0f : factor(random);
        Tessellator made;
        made.run(state, factors);
        SCOPED_TRACE(testing::Message() << i << " partitioning " << static_cast<int>(partitioning) << " domain "
                                        << static_cast<int>(domain));
        expect_covered(made, state);
      }
    }
  }
}

TEST(Tessellator, AnEdgeDependsOnItsOwnFactorAndIsSymmetric) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> factor(0.1f, 70.0f);
  for (int i = 0; i < 60; ++i) {
    for (const TessellationPartitioning partitioning : kAll) {
      for (const TessellationDomain domain : {TessellationDomain::quad, TessellationDomain::triangle}) {
        TessellationFactors factors;
        for (float& one : factors.outer) one = factor(random);
        for (float& one : factors.inner) one = 3 + factor(random);  // otherwise the inner ring may lie on the border
        Tessellator made;
        made.run(state_of(domain, partitioning), factors);
        const size_t edges = domain == TessellationDomain::quad ? 4 : 3;
        for (size_t edge = 0; edge < edges; ++edge) {
          const std::set<uint32_t> places = side(made, domain, edge);
          EXPECT_EQ(places.size(), static_cast<size_t>(segments_of(partitioning, factors.outer[edge])) + 1);
          for (const uint32_t place : places) {
            EXPECT_TRUE(places.contains(static_cast<uint32_t>(kOne) - place));
          }
          // The same factor on another edge of another patch gives the same positions.
          TessellationFactors other{.outer = {factors.outer[edge], 3, 5, 7}, .inner = {4, 4}};
          Tessellator neighbour;
          neighbour.run(state_of(TessellationDomain::quad, partitioning), other);
          EXPECT_EQ(side(neighbour, TessellationDomain::quad, 0), places);
        }
      }
    }
  }
}

// OpenGL 4.6, 11.2.2.1: of n segments, n-2 have equal lengths and two, at equal distances from the ends, are shorter.
// Lengths are rounded separately.
TEST(Tessellator, FractionalSpacingHasTwoShortSegments) {
  for (const TessellationPartitioning partitioning : {TessellationPartitioning::odd, TessellationPartitioning::even}) {
    for (float factor = 2.0f; factor < 62.0f; factor += 0.37f) {
      Tessellator made;
      made.run(state_of(TessellationDomain::line, partitioning, TessellationOutput::line),
               {.outer = {1, factor, 0, 0}, .inner = {}});
      const int n = segments_of(partitioning, factor);
      ASSERT_EQ(made.points().size(), static_cast<size_t>(n) + 1);
      std::vector<int64_t> lengths;
      for (size_t i = 1; i < made.points().size(); ++i) {
        lengths.push_back(int64_t{made.points()[i].u} - made.points()[i - 1].u);
      }
      std::ranges::sort(lengths);
      EXPECT_GE(lengths.front(), 0);
      EXPECT_LE(lengths[1] - lengths[0], 4);  // the two short segments
      if (lengths.size() > 2) {
        EXPECT_LE(lengths.back() - lengths[2], 64) << factor;  // the other segments; rounding errors of a half add up
      }
    }
  }
}

TEST(Tessellator, NumberOfTrianglesFollowsFromTheFactors) {
  for (int n = 1; n <= 64; ++n) {
    const auto factor = static_cast<float>(n);
    Tessellator made;
    made.run(state_of(TessellationDomain::quad, TessellationPartitioning::integer),
             {.outer = {factor, factor, factor, factor}, .inner = {factor, factor}});
    EXPECT_EQ(made.points().size(), static_cast<size_t>((n + 1) * (n + 1)));
    EXPECT_EQ(made.indices().size() / 3, static_cast<size_t>(2 * n * n));
    made.run(state_of(TessellationDomain::triangle, TessellationPartitioning::integer),
             {.outer = {factor, factor, factor, 0}, .inner = {factor, 0}});
    // Rings of three trapezoids with k and k-2 segments, ending with a triangle or a point.
    size_t expected = n % 2 == 1 ? 1 : 0;
    for (int k = n; k >= 2; k -= 2) {
      expected += static_cast<size_t>(3 * (2 * k - 2));
    }
    EXPECT_EQ(made.indices().size() / 3, expected) << n;
  }
}

TEST(Tessellator, InsideFactorOfOneBecomesTwoIfAnEdgeIsSplit) {
  Tessellator made;
  made.run(state_of(TessellationDomain::triangle, TessellationPartitioning::integer),
           {.outer = {2, 1, 1, 0}, .inner = {1, 0}});
  EXPECT_EQ(made.indices().size() / 3, 4u);  // around the centre
  EXPECT_EQ(made.points().size(), 5u);
}

TEST(Tessellator, LinesFollowTheirTwoFactors) {
  Tessellator made;
  made.run(state_of(TessellationDomain::line, TessellationPartitioning::integer, TessellationOutput::line),
           {.outer = {3.2f, 5.5f, 0, 0}, .inner = {}});
  EXPECT_EQ(made.vertices(), 2u);
  EXPECT_EQ(made.indices().size() / 2, 4u * 6u);
  std::set<uint32_t> rows;
  for (const DomainPoint& point : made.points()) {
    rows.insert(point.v);
  }
  EXPECT_EQ(rows, (std::set<uint32_t>{0, 0x4000, 0x8000, 0xc000}));  // no line at v = 1
  made.run(state_of(TessellationDomain::line, TessellationPartitioning::integer, TessellationOutput::point),
           {.outer = {2, 3, 0, 0}, .inner = {}});
  EXPECT_EQ(made.vertices(), 1u);
  EXPECT_EQ(made.indices().size(), 8u);
}

TEST(Tessellator, EveryPointIsUnique) {
  Tessellator made;
  made.run(state_of(TessellationDomain::quad, TessellationPartitioning::odd, TessellationOutput::point),
           {.outer = {3, 4.5f, 5, 6}, .inner = {7, 2.5f}});
  EXPECT_EQ(made.vertices(), 1u);
  EXPECT_EQ(made.indices().size(), made.points().size());
  std::set<std::pair<uint32_t, uint32_t>> places;
  for (const DomainPoint& point : made.points()) {
    EXPECT_TRUE(places.insert({point.u, point.v}).second);
  }
}

TEST(Tessellator, CulledPatchesHaveNoPoints) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  Tessellator made;
  for (const float bad : {0.0f, -1.0f, kNone, -std::numeric_limits<float>::infinity()}) {
    made.run(state_of(TessellationDomain::quad, TessellationPartitioning::integer),
             {.outer = {1, 1, bad, 1}, .inner = {2, 2}});
    EXPECT_TRUE(made.points().empty());
    EXPECT_TRUE(made.indices().empty());
  }
}

// Factors and limits with random bits give a bounded mesh.
TEST(Tessellator, RandomFactorsGiveAValidMesh) {
  std::mt19937 random(3);
  const float strange[] = {std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN(),
                           -1.0f,
                           0.0f,
                           1e-40f,
                           1.0f,
                           1.0000001f,
                           63.5f,
                           64.0f,
                           1e30f};
  const auto any = [&] { return strange[random() % std::size(strange)]; };
  for (int i = 0; i < 3000; ++i) {
    Tessellation state;
    state.domain = static_cast<TessellationDomain>(random() % 4);
    state.partitioning = static_cast<TessellationPartitioning>(random() % 4);
    state.output = static_cast<TessellationOutput>(random() % 4);
    state.most_odd = any();
    state.most_even = any();
    Tessellator made;
    made.run(state, {.outer = {any(), any(), any(), any()}, .inner = {any(), any()}});
    EXPECT_LE(made.points().size(), 65u * 65u);
    for (const uint16_t index : made.indices()) {
      ASSERT_LT(index, made.points().size());
    }
    for (const DomainPoint& point : made.points()) {
      ASSERT_LE(point.u, kOne);
      ASSERT_LE(point.v, kOne);
    }
  }
}

}  // namespace
}  // namespace halogen::pipe3d
