// Topologies: the vertices of each primitive, their order, and the provoking vertex. Expected lists are the tables of
// the GL specification (10.1, and table 10.1 for adjacency), counted from zero.
#include "pipe3d/geometry/assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;
using ::testing::ElementsAre;

struct Made {
  std::vector<uint32_t> vertices;
  uint32_t provoking;  // number of the vertex, not its index in the primitive
  bool operator==(const Made&) const = default;
};

std::vector<Made> assemble(Topology topology, uint32_t count, const Provoking& provoking,
                           const std::vector<uint32_t>& cuts = {}) {
  Assembler assembler(topology, provoking);
  std::vector<Made> made;
  const auto emit = [&](const Assembled& one) {
    made.push_back({{one.vertex.begin(), one.vertex.begin() + one.count}, one.vertex[one.provoking]});
  };
  for (uint32_t i = 0; i < count; ++i) {
    if (std::ranges::find(cuts, i) != cuts.end()) {
      assembler.cut(emit);
    } else {
      assembler.add(i, emit);
    }
  }
  assembler.cut(emit);
  return made;
}

constexpr Provoking kFirst{0, 0, 1};  // in GL the first provoking vertex of a fan is its second vertex
constexpr Provoking kLast{1, 2, 2};

TEST(Assembly, ListsDropAnIncompletePrimitive) {
  EXPECT_THAT(assemble(Topology::POINTLIST, 2, kLast), ElementsAre(Made{{0}, 0}, Made{{1}, 1}));
  EXPECT_THAT(assemble(Topology::LINELIST, 5, kLast), ElementsAre(Made{{0, 1}, 1}, Made{{2, 3}, 3}));
  EXPECT_THAT(assemble(Topology::TRILIST, 8, kFirst), ElementsAre(Made{{0, 1, 2}, 0}, Made{{3, 4, 5}, 3}));
  EXPECT_THAT(assemble(Topology::RECTLIST, 3, kLast), ElementsAre(Made{{0, 1, 2}, 0}));
}

TEST(Assembly, StripsKeepTheWindingAndTheProvokingVertex) {
  EXPECT_THAT(assemble(Topology::TRISTRIP, 5, kLast),
              ElementsAre(Made{{0, 1, 2}, 2}, Made{{2, 1, 3}, 3}, Made{{2, 3, 4}, 4}));
  EXPECT_THAT(assemble(Topology::TRISTRIP, 5, kFirst),
              ElementsAre(Made{{0, 1, 2}, 0}, Made{{2, 1, 3}, 1}, Made{{2, 3, 4}, 2}));
  EXPECT_THAT(assemble(Topology::LINESTRIP, 3, kLast), ElementsAre(Made{{0, 1}, 1}, Made{{1, 2}, 2}));
  EXPECT_THAT(assemble(Topology::LINELOOP, 3, kLast), ElementsAre(Made{{0, 1}, 1}, Made{{1, 2}, 2}, Made{{2, 0}, 0}));
}

TEST(Assembly, TrianglesOfAFanShareTheFirstVertex) {
  EXPECT_THAT(assemble(Topology::TRIFAN, 5, kLast),
              ElementsAre(Made{{0, 1, 2}, 2}, Made{{0, 2, 3}, 3}, Made{{0, 3, 4}, 4}));
  EXPECT_THAT(assemble(Topology::TRIFAN, 4, kFirst), ElementsAre(Made{{0, 1, 2}, 1}, Made{{0, 2, 3}, 2}));
  EXPECT_THAT(assemble(Topology::POLYGON, 4, kLast), ElementsAre(Made{{0, 1, 2}, 0}, Made{{0, 2, 3}, 0}));
}

TEST(Assembly, QuadsAreTwoTrianglesOfOneWindingAndTheLastVertexProvokes) {
  for (const Provoking& provoking : {kLast, kFirst}) {  // provoking vertices of triangles and lines
    EXPECT_THAT(assemble(Topology::QUADLIST, 4, provoking), ElementsAre(Made{{3, 0, 1}, 3}, Made{{3, 1, 2}, 3}));
    // In order around the quad: 0, 1, 3, 2.
    EXPECT_THAT(assemble(Topology::QUADSTRIP, 6, provoking),
                ElementsAre(Made{{3, 2, 0}, 3}, Made{{3, 0, 1}, 3}, Made{{5, 4, 2}, 5}, Made{{5, 2, 3}, 5}));
  }
}

// Primitives are counted as objects: three quads are three objects, a polygon is one.
TEST(Assembly, OnlyTheFirstTriangleOfAQuadOrPolygonStartsAnObject) {
  const auto objects = [](Topology topology, uint32_t vertices) {
    Assembler assembler(topology, kLast);
    size_t begun = 0;
    size_t triangles = 0;
    const auto emit = [&](const Assembled& one) {
      begun += one.begins ? 1 : 0;
      ++triangles;
    };
    for (uint32_t i = 0; i < vertices; ++i) {
      assembler.add(i, emit);
    }
    assembler.cut(emit);
    return std::pair(begun, triangles);
  };
  EXPECT_EQ(objects(Topology::QUADLIST, 12), (std::pair<size_t, size_t>{3, 6}));
  EXPECT_EQ(objects(Topology::QUADSTRIP, 8), (std::pair<size_t, size_t>{3, 6}));
  EXPECT_EQ(objects(Topology::POLYGON, 7), (std::pair<size_t, size_t>{1, 5}));
  EXPECT_EQ(objects(Topology::POLYGON, 3), (std::pair<size_t, size_t>{1, 1}));
  EXPECT_EQ(objects(Topology::TRIFAN, 7), (std::pair<size_t, size_t>{5, 5}));
}

// An edge is drawn if it belongs to the polygon and its first vertex has the flag (GL 2.1, 2.6.2).
TEST(Assembly, EdgesAreDrawnIfTheirFirstVertexHasTheFlag) {
  struct Case {
    Topology topology;
    uint32_t sides;
    Provoking provoking;
  };
  for (const Case& each : {Case{Topology::TRILIST, 3, kLast}, Case{Topology::QUADLIST, 4, kLast},
                           Case{Topology::QUADLIST, 4, kFirst}, Case{Topology::POLYGON, 7, kLast}}) {
    for (uint32_t flags = 0; flags < 1u << each.sides; ++flags) {
      Assembler assembler(each.topology, each.provoking);
      std::vector<std::pair<uint32_t, uint32_t>> drawn;
      const auto emit = [&](const Assembled& one) {
        for (size_t i = 0; i < 3; ++i) {
          if (one.edge[i]) {
            drawn.emplace_back(one.vertex[i], one.vertex[(i + 1) % 3]);
          }
        }
      };
      std::vector<std::pair<uint32_t, uint32_t>> wanted;
      for (uint32_t i = 0; i < each.sides; ++i) {
        assembler.add(i, (flags >> i & 1) != 0, emit);
        if ((flags >> i & 1) != 0) {
          wanted.emplace_back(i, (i + 1) % each.sides);
        }
      }
      assembler.cut(emit);
      EXPECT_THAT(drawn, ::testing::UnorderedElementsAreArray(wanted)) << each.sides << " sides, flags " << flags;
    }
  }
}

TEST(Assembly, ACutStartsANewPrimitive) {
  EXPECT_THAT(assemble(Topology::TRISTRIP, 8, kLast, {4}),
              ElementsAre(Made{{0, 1, 2}, 2}, Made{{2, 1, 3}, 3}, Made{{5, 6, 7}, 7}));
  EXPECT_THAT(assemble(Topology::LINELOOP, 6, kLast, {2}),
              ElementsAre(Made{{0, 1}, 1}, Made{{1, 0}, 0}, Made{{3, 4}, 4}, Made{{4, 5}, 5}, Made{{5, 3}, 3}));
}

TEST(Assembly, StripsWithAdjacencyKeepTheirNeighbours) {
  EXPECT_THAT(assemble(Topology::LINESTRIP_ADJ, 5, {0, 0, 0}),
              ElementsAre(Made{{0, 1, 2, 3}, 0}, Made{{1, 2, 3, 4}, 1}));
  // Corner, vertex adjacent to the next edge, corner, ...: the numbers of the table minus one.
  const std::vector<Made> one = assemble(Topology::TRISTRIP_ADJ, 6, {0, 0, 0});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_THAT(one[0].vertices, ElementsAre(0, 1, 2, 5, 4, 3));
  const std::vector<Made> three = assemble(Topology::TRISTRIP_ADJ, 10, {0, 0, 0});
  ASSERT_EQ(three.size(), 3u);
  EXPECT_THAT(three[0].vertices, ElementsAre(0, 1, 2, 6, 4, 3));
  EXPECT_THAT(three[1].vertices, ElementsAre(4, 0, 2, 5, 6, 8));
  EXPECT_THAT(three[2].vertices, ElementsAre(4, 2, 6, 9, 8, 7));
}

TEST(Assembly, PatchListsTakeTheNumberOfVerticesInTheirName) {
  EXPECT_THAT(assemble(Topology::PATCHLIST_3, 7, kLast), ElementsAre(Made{{0, 1, 2}, 0}, Made{{3, 4, 5}, 3}));
  EXPECT_EQ(Assembler::patch_size(Topology::PATCHLIST_32), 32u);
}

// Renumbering the vertices between primitives does not change the primitives.
TEST(Assembly, HandlesOfVerticesCanBeReplacedBetweenPrimitives) {
  for (const Topology topology : {Topology::TRISTRIP, Topology::TRIFAN, Topology::QUADSTRIP, Topology::LINELOOP,
                                  Topology::TRISTRIP_ADJ, Topology::PATCHLIST_32}) {
    const std::vector<Made> expected = assemble(topology, 70, kLast);
    Assembler assembler(topology, kLast);
    std::vector<uint32_t> meaning(70);  // original vertex of each current number
    for (uint32_t i = 0; i < 70; ++i) {
      meaning[i] = i;
    }
    std::vector<Made> made;
    const auto emit = [&](const Assembled& one) {
      Made back{{}, meaning[one.vertex[one.provoking]]};
      for (uint32_t i = 0; i < one.count; ++i) {
        back.vertices.push_back(meaning[one.vertex[i]]);
      }
      made.push_back(back);
    };
    for (uint32_t i = 0; i < 70; ++i) {
      meaning.push_back(i);
      assembler.add(static_cast<uint32_t>(meaning.size() - 1), emit);
      if (i % 7 == 3) {
        std::vector<uint32_t> names;
        assembler.rename([&](uint32_t old) {
          names.push_back(meaning[old]);
          return static_cast<uint32_t>(names.size() - 1);
        });
        meaning = names;
      }
    }
    assembler.cut(emit);
    EXPECT_EQ(made, expected) << static_cast<int>(topology);
  }
}

}  // namespace
}  // namespace halogen::pipe3d
