// A draw whose memory the host takes away between two parts. The pages are protected (support/lent_pages.h): a late
// access of vertex fetch, of a shader, of state or of a target ends the test.
#include "sandy_draw.h"

namespace halogen::pipe3d {
namespace {

struct Gone {
  const char* name;
  uint64_t first;
  uint64_t bytes;
};

std::ostream& operator<<(std::ostream& out, const Gone& gone) {
  return out << gone.name;
}

class RevokedDraw : public ::testing::TestWithParam<Gone> {};

// Small triangles over the target, again and again.
TEST_P(RevokedDraw, LaterPartsDoNotReachRevokedPages) {
  constexpr uint32_t kTriangles = 40, kInstances = 400;
  const auto real = [](float value) { return std::bit_cast<uint32_t>(value); };
  SandyDraw world;
  world.faults_expected = world.events_expected = true;
  std::vector<std::vector<uint32_t>> all;
  for (uint32_t i = 0; i < kTriangles; ++i) {
    const auto left = static_cast<float>(i % 8 * 8), top = static_cast<float>(i / 8 * 12);
    for (const auto& [x, y] : {std::pair{0.f, 0.f}, {4.f, 0.f}, {0.f, 4.f}}) {
      all.push_back({0, 0, 0, 0, real(left + x), real(top + y), real(0.5f), real(1), 1, 2, 3, 4});
    }
  }
  world.entries(all);
  world.paint();
  bool gone = false;
  world.between_parts = [&](unsigned) {
    if (!std::exchange(gone, true)) world.take_back(GetParam().first, GetParam().bytes);
  };
  const auto vertices = static_cast<uint32_t>(all.size());
  world.draw(hw::PrimitiveTopology::TRILIST, vertices);  // sends the state
  EXPECT_EQ(world.faults(), 0u);
  world.DrawWorld::draw({.topology = hw::PrimitiveTopology::TRILIST, .vertices = vertices, .instances = kInstances});
  EXPECT_TRUE(gone) << "the draw must take more than one part";
  EXPECT_NE(world.faults(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Memory, RevokedDraw,
                         ::testing::Values(Gone{"Target", SandyDraw::kTarget, 0x2'0000},
                                           Gone{"Kernels", SandyDraw::kKernels, 0x1'0000},
                                           Gone{"States", SandyDraw::kStates, 0x1'0000},
                                           Gone{"Everything", 0, 0x20'0000}),
                         [](const auto& gone) { return gone.param.name; });

}  // namespace
}  // namespace halogen::pipe3d
