// The Gen6 clip unit: an outcode per vertex, and the decision that follows from the codes of a primitive. Expected
// codes are computed here from the six planes of the view volume.
#include <random>

#include "covers.h"
#include "sandy_draw.h"

namespace halogen::pipe3d {
namespace {

using Topology = hw::PrimitiveTopology;
using Position = std::array<float, 4>;

// Returns the planes that a vertex is outside of: left, right, bottom, top, near, far.
uint32_t outcode(const Position& at) {
  const auto& [x, y, z, w] = at;
  return (x < -w ? 1u : 0u) | (x > w ? 2u : 0u) | (y < -w ? 4u : 0u) | (y > w ? 8u : 0u) | (z < -w ? 16u : 0u) |
         (z > w ? 32u : 0u);
}

class Outcodes : public ::testing::Test {
 protected:
  Outcodes() {
    world_.clip.clip_enable = true;
    world_.clip.perspective_divide_disable = false;
    world_.clip.viewport_xy_clip_test_enable = world_.clip.viewport_z_clip_test_enable = true;
  }
  Counts draw(const std::vector<Position>& positions, Topology topology) {
    std::vector<std::vector<uint32_t>> all;
    for (const Position& at : positions) {
      std::vector<uint32_t> entry(4);
      for (const float value : at) {
        entry.push_back(std::bit_cast<uint32_t>(value));
      }
      all.push_back(entry);
    }
    world_.entries(all);
    return world_.draw(topology, static_cast<uint32_t>(positions.size())).counts;
  }
  SandyDraw world_;
};

TEST_F(Outcodes, AreCombinedWhenAPrimitiveIsComplete) {
  COVERS("NOTES-VUE-06");
  // Each vertex is in one of 27 regions around the volume, so that all codes occur.
  std::mt19937 random(17);
  const auto place = [&] {
    const auto w = 1.0f + static_cast<float>(random() % 3);
    Position at{0, 0, 0, w};
    for (size_t i = 0; i < 3; ++i) {
      at[i] = w * (static_cast<float>(random() % 3) - 1.0f) * 1.75f + w * static_cast<float>(random() % 64) / 256;
    }
    return at;
  };
  size_t dropped = 0;
  size_t kept = 0;
  for (int i = 0; i < 1500; ++i) {
    const bool inside = i % 5 == 0;
    std::vector<Position> positions{place(), place(), place()};
    for (Position& at : positions) {
      for (size_t c = 0; inside && c < 3; ++c) {
        at[c] *= 0.4f;
      }
    }
    for (const auto& [topology, vertices] :
         {std::pair{Topology::TRILIST, 3u}, std::pair{Topology::LINELIST, 2u}, std::pair{Topology::POINTLIST, 1u}}) {
      const std::vector<Position> used(positions.begin(), positions.begin() + vertices);
      uint32_t all = 63;
      uint32_t any = 0;
      for (const Position& at : used) {
        all &= outcode(at);
        any |= outcode(at);
      }
      const Counts counts = draw(used, topology);
      EXPECT_EQ(counts.clip_in, 1u);
      if (all != 0) {
        EXPECT_EQ(counts.clip_out, 0u) << "all vertices are outside one plane";
        ++dropped;
      } else if (any == 0) {
        EXPECT_EQ(counts.clip_out, 1u) << "all vertices are inside";
        ++kept;
      } else {
        // Six planes make a polygon of at most nine corners, or nothing if the primitive only passes a corner of the
        // volume.
        EXPECT_LE(counts.clip_out, vertices == 3 ? 7u : 1u);
      }
    }
  }
  EXPECT_GT(dropped, 500u);
  EXPECT_GT(kept, 500u);
  // Vertices that complete no primitive are not tested.
  EXPECT_EQ(draw({{0, 0, 0, 1}, {0.5f, 0, 0, 1}}, Topology::TRILIST).clip_in, 0u);
  EXPECT_EQ(draw({{0, 0, 0, 1}, {0.5f, 0, 0, 1}, {0, 0.5f, 0, 1}, {0, 0, 0, 1}}, Topology::TRILIST).clip_in, 1u);
}

}  // namespace
}  // namespace halogen::pipe3d
