// Hierarchical depth of Gen6: a clear changes states only, the clear depth is taken at the use, and a resolve fills
// clear blocks. Blocks have 8x4 pixels and 16 bytes; the first byte of a clear block is zero.
#include "hw/3d_depth.h"
#include "sandy_draw.h"

namespace halogen::pipe3d {
namespace {

class SandyHierarchicalDepth : public SandyDraw {
 public:
  static constexpr uint32_t kDepth = 0x10'0000, kBlocks = 0x11'0000, kSize = 64;
  static constexpr float kOld = 0.75f;

  SandyHierarchicalDepth() {
    hw::_3DSTATE_DEPTH_BUFFER depth;
    depth.surface_type = hw::SurfaceType::SURFTYPE_2D;
    depth.surface_format = hw::DepthFormat::D32_FLOAT;
    depth.tiled_surface = depth.separate_stencil_buffer_enable = depth.hierarchical_depth_buffer_enable = true;
    depth.tile_walk = hw::TileWalk::YMAJOR;
    depth.surface_pitch = kSize * 4 - 1;
    depth.surface_base_address = GpuVa{kDepth};
    depth.width = depth.height = kSize - 1;
    send(depth, 7);
    hw::_3DSTATE_HIER_DEPTH_BUFFER blocks;
    blocks.surface_pitch = 127;
    blocks.surface_base_address = GpuVa{kBlocks};
    send(blocks, 3);
    for (uint32_t y = 0; y < kSize; ++y) {
      for (uint32_t x = 0; x < kSize; ++x) depth_at(x, y) = kOld;
    }
    for (uint32_t at = 0; at < 0x1000; at += 4) word(kBlocks + at) = ~0u;
  }
  float& depth_at(uint32_t x, uint32_t y) {
    const uint32_t x_B = x * 4;
    return real(kDepth + (y / 32 * 2 + x_B / 128) * 4096 + x_B % 128 / 16 * 512 + y % 32 * 16 + x_B % 16);
  }
  // The state of the block that holds a pixel: 16x16 blocks in the order of Y tiles, two of them in a row of 32 bytes.
  bool clear_at(uint32_t x, uint32_t y) {
    const uint32_t column = x / 8, row = y / 4;
    return (word(kBlocks + column / 2 * 512 + row * 32 + column % 2 * 16) & 0xff) == 0;
  }
  void set_clear_depth(float value) {
    hw::_3DSTATE_CLEAR_PARAMS clear;
    clear.depth_clear_value_valid = true;
    clear.depth_clear_value_raw = std::bit_cast<uint32_t>(value);
    send(clear, 2);
  }
  enum class Operation { clear, resolve, ambiguate };
  void operate(Operation operation, float left, float top, float right, float bottom) {
    pixel.depth_buffer_clear_enable = operation == Operation::clear;
    pixel.depth_buffer_resolve_enable = operation == Operation::resolve;
    pixel.hierarchical_depth_buffer_resolve_enable = operation == Operation::ambiguate;
    std::vector<std::vector<uint32_t>> corners;
    for (const auto& [x, y] : {std::pair{right, bottom}, {left, bottom}, {left, top}}) {
      corners.push_back(
          {0, 0, 0, 0, std::bit_cast<uint32_t>(x), std::bit_cast<uint32_t>(y), 0, std::bit_cast<uint32_t>(1.0f)});
    }
    entries(corners);
    EXPECT_EQ(draw(hw::PrimitiveTopology::RECTLIST, 3).stop, Stop::finished);
  }
  // Compares pixels inside and outside of a rectangle with two depths, and the states with one.
  void expect(uint32_t right, uint32_t bottom, float inside, bool clear) {
    for (uint32_t y = 0; y < kSize; ++y) {
      for (uint32_t x = 0; x < kSize; ++x) {
        const bool in = x < right && y < bottom;
        ASSERT_EQ(depth_at(x, y), in ? inside : kOld) << x << " " << y;
        ASSERT_EQ(clear_at(x, y), in && clear) << x << " " << y;
      }
    }
  }
};

using Operation = SandyHierarchicalDepth::Operation;

TEST(SandyHierarchical, AClearChangesStatesAndAResolveFillsWithTheDepthOfItsTime) {
  SandyHierarchicalDepth world;
  world.set_clear_depth(0.125f);
  world.operate(Operation::clear, 0, 0, 40, 36);
  world.expect(40, 36, SandyHierarchicalDepth::kOld, true);
  world.set_clear_depth(0.5f);
  world.operate(Operation::resolve, 0, 0, 64, 64);
  world.expect(40, 36, 0.5f, false);
}

TEST(SandyHierarchical, AClearWritesPixelsOfBlocksThatItDoesNotCover) {
  SandyHierarchicalDepth world;
  world.set_clear_depth(0.125f);
  world.operate(Operation::clear, 0, 0, 13, 6);
  for (uint32_t y = 0; y < 8; ++y) {
    for (uint32_t x = 0; x < 16; ++x) {
      const bool covered = x < 8 && y < 4;
      ASSERT_EQ(world.clear_at(x, y), covered) << x << " " << y;
      ASSERT_EQ(world.depth_at(x, y), !covered && x < 13 && y < 6 ? 0.125f : SandyHierarchicalDepth::kOld)
          << x << " " << y;
    }
  }
}

TEST(SandyHierarchical, AHierarchicalResolveDropsStatesAndKeepsDepths) {
  SandyHierarchicalDepth world;
  world.set_clear_depth(0.125f);
  world.operate(Operation::clear, 0, 0, 64, 64);
  world.operate(Operation::ambiguate, 0, 0, 64, 64);
  world.expect(0, 0, 0, false);
  world.operate(Operation::resolve, 0, 0, 64, 64);
  world.expect(0, 0, 0, false);
}

}  // namespace
}  // namespace halogen::pipe3d
