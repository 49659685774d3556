// The depth test of four pixels at once gives the same results and the same bytes as four single tests.
#include <limits>

#include "pixel_world.h"

namespace halogen::pipe3d {
namespace {

TEST(DepthSquare, SquareTestEqualsFourSingleTests) {
  constexpr hw::DepthFormat kFormats[] = {hw::DepthFormat::D24_UNORM_X8_UINT, hw::DepthFormat::D24_UNORM_S8_UINT,
                                          hw::DepthFormat::D32_FLOAT};
  PixelWorld squares;
  PixelWorld singles;
  std::mt19937 random(11);
  const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
  unsigned taken = 0;
  for (uint32_t round = 0; round < 3000; ++round) {
    if (round % 100 == 0) {
      squares.scramble(round);
      singles.scramble(round);
    }
    Output output;
    DepthBuffers& buffers = output.buffers;
    buffers.format = kFormats[below(3)];
    buffers.depth.present = true;
    buffers.depth.write = below(4) != 0;
    buffers.depth.address = PixelWorld::kVa;
    buffers.depth.tiled = below(4) != 0;
    buffers.depth.x_tiles = below(2) != 0;
    buffers.depth.pitch_B = 512;
    buffers.depth.width = 40 + below(40);
    buffers.depth.height = 20 + below(40);
    buffers.depth.layer_rows = 64;
    buffers.depth.layers = 2;
    buffers.depth.offset = {static_cast<int32_t>(below(3)), static_cast<int32_t>(below(3))};
    DepthStencil& state = output.depth_stencil;
    state.depth_test = below(4) != 0;
    state.depth_write = below(4) != 0;
    state.depth_function = static_cast<hw::CompareFunction>(below(8));
    DepthStencilUnit one;
    DepthStencilUnit two;
    one.begin(output, squares.space(), 0);
    two.begin(output, singles.space(), 0);
    if (!one.takes_squares()) {
      continue;
    }
    ++taken;
    for (int i = 0; i < 8; ++i) {
      const PixelPlace place{static_cast<int32_t>(below(44)) * 2 - 2, static_cast<int32_t>(below(34)) * 2 - 2,
                             below(3)};
      const uint32_t mask = below(16);
      std::array<float, 4> depth{};
      for (float& value : depth) {
        value = below(12) == 0 ? std::numeric_limits<float>::quiet_NaN()
                               : static_cast<float>(below(1 << 16)) / (1 << 16) * 1.2f - 0.1f;
      }
      const uint32_t passed = one.test_square(place, mask, depth);
      uint32_t judge = 0;
      for (uint32_t pixel = 0; pixel < 4; ++pixel) {
        std::array<float, kMaxSamples> single{};
        single[0] = depth[pixel];
        const PixelPlace at{place.x + static_cast<int32_t>(pixel & 1), place.y + static_cast<int32_t>(pixel >> 1),
                            place.layer};
        judge |= two.test(at, mask >> pixel & 1, single, true, nullptr, true) << pixel;
      }
      ASSERT_EQ(passed, judge) << "round " << round;
    }
    ASSERT_EQ(std::memcmp(squares.at(PixelWorld::kVa), singles.at(PixelWorld::kVa), 1 << 17), 0) << "round " << round;
  }
  EXPECT_GT(taken, 1000u);
}

}  // namespace
}  // namespace halogen::pipe3d
