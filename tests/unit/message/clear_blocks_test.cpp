// Blocks that a control surface marks as clear have the clear colour of the surface state, whatever memory holds.
// Places of states are computed here: a line of 64 bytes has 16x16 blocks of two bits (16x32 of one bit before Gen9),
// lines are in the order of Y tiles; on Gen12 a tile of 4 KB has 4x8 blocks of four bits at the address of the
// auxiliary table.
#include "covers.h"
#include "message/block_states.h"
#include "message/surface_table.h"
#include "message/texture.h"
#include "sampler_bench.h"

namespace halogen::message {
namespace {

class ClearBlocks : public SamplerBench {
 protected:
  static constexpr uint32_t kWidth = 100, kHeight = 40;
  static constexpr uint32_t kAux = 0x8000, kColour = 0x7000, kAuxTable = 0x4'0000;
  static constexpr uint32_t kConverted = 0x4433'2211;

  ClearBlocks() {
    environment_.bases.aux_table = kAuxTable;
    word(kAuxTable) = (kAuxTable + 0x8000) | 1;
    word(kAuxTable + 0x8000) = (kAuxTable + 0x1'0000) | 1;
    word(kAuxTable + 0x1'0000 + (kImage >> 16) * 8) = kAux | 1;
    real(kColour) = 0.25f;
    real(kColour + 4) = 0.5f;
    real(kColour + 8) = 0.75f;
    real(kColour + 12) = 1.0f;
    word(kColour + 16) = kConverted;
  }
  bool has_address() const { return GetParam() == "icl" || GetParam() == "dg1"; }

  hw::RENDER_SURFACE_STATE surface(hw::SurfaceFormat format) const {
    hw::RENDER_SURFACE_STATE state = image(format, kWidth, kHeight);
    state.tile_mode = hw::TileMode::YMAJOR;
    state.auxiliary_surface_mode =
        GetParam() == "dg1" ? hw::AuxiliarySurfaceMode::AUX_CCS_E : hw::AuxiliarySurfaceMode::AUX_CCS_D;
    if (GetParam() == "bdw") {
      state.auxiliary_surface_mode = hw::AuxiliarySurfaceMode::AUX_MCS;
      state.red_clear_color_one = state.alpha_clear_color_one = true;
    } else if (GetParam() == "skl") {
      state.red_clear_color = 0x3e80'0000;    // 0.25
      state.green_clear_color = 0x3f00'0000;  // 0.5
      state.blue_clear_color = 0x3f40'0000;   // 0.75
      state.alpha_clear_color = 0x3f80'0000;  // 1
    } else {
      state.clear_value_address_enable = true;
      state.clear_value_address = GpuVa{kColour};
    }
    state.auxiliary_surface_base_address = GpuVa{kAux};
    return state;
  }
  static uint32_t place(uint32_t x, uint32_t y) {
    return kImage + y / 32 * 32 * kPitch + x * 4 / 128 * 4096 + x * 4 % 128 / 16 * 512 + y % 32 * 16 + x * 4 % 16;
  }
  void make_clear(uint32_t block_x, uint32_t block_y) {
    if (GetParam() == "dg1") {
      const uint32_t tile = block_y / 8 * (kPitch / 128) + block_x / 4;
      const uint32_t block = block_y % 8 * 4 + block_x % 4;
      byte(kAux + tile * 16 + block / 2) |= static_cast<uint8_t>(0xf << block % 2 * 4);
      return;
    }
    const uint32_t bits = GetParam() == "bdw" ? 1 : 2;
    const uint32_t rows = 32 / bits;
    const uint32_t bit = (block_y % rows * 16 + block_x % 16) * bits;
    byte(kAux + block_x / 16 * 512 + block_y / rows * 64 + bit / 8) |= static_cast<uint8_t>((bits * 2 - 1) << bit % 8);
  }
  static bool is_clear(uint32_t x, uint32_t y) { return (x / 8 * 5 + y / 4 * 3) % 7 < 3; }

  void mark_blocks() {
    for (uint32_t y = 0; y < kHeight; y += 4) {
      for (uint32_t x = 0; x < kWidth; x += 8) {
        if (is_clear(x, y)) make_clear(x / 8, y / 4);
      }
    }
  }
  uint32_t expected() const { return has_address() ? kConverted : GetParam() == "skl" ? 0xffbf'8040 : 0xff00'00ff; }
};

TEST_P(ClearBlocks, TexelsHaveTheClearColourOfTheSurfaceState) {
  COVERS("NOTES-DRV-08");
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) word(place(x, y)) = 0x7700'0000 | x << 8 | y;
  }
  mark_blocks();
  bind_state(3, surface(hw::SurfaceFormat::R8G8B8A8_UNORM));
  SurfaceTable table;
  const Surface* const found = table.find(generation_, environment_, 3, 0);
  ASSERT_NE(found, nullptr);
  Texture texture(memory_.space(), *found, nullptr);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      const surface::Texel texel = texture.load({x, y, 0}, 0, 0, {});
      const uint32_t pixel = is_clear(x, y) ? expected() : 0x7700'0000 | x << 8 | y;
      for (unsigned i = 0; i < 4; ++i) {
        ASSERT_EQ(std::bit_cast<float>(texel[i]),
                  static_cast<float>(static_cast<double>(pixel >> 8 * i & 0xff) / 255.0))
            << x << " " << y << " channel " << i;
      }
      ASSERT_EQ(word(place(x, y)), 0x7700'0000 | x << 8 | y);  // a read fills nothing
    }
  }
}

// Samplers read a single channel of 32 bits from the components, not from the converted colour.
TEST_P(ClearBlocks, SingleChannelsOf32BitsHaveTheFirstComponent) {
  mark_blocks();
  bind_state(3, surface(hw::SurfaceFormat::R32_FLOAT));
  SurfaceTable table;
  const Surface* const found = table.find(generation_, environment_, 3, 0);
  ASSERT_NE(found, nullptr);
  Texture texture(memory_.space(), *found, nullptr);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      const float wanted = !is_clear(x, y) ? 0.0f : GetParam() == "bdw" ? 1.0f : 0.25f;
      ASSERT_EQ(std::bit_cast<float>(texture.load({x, y, 0}, 0, 0, {})[0]), wanted) << x << " " << y;
    }
  }
}

TEST_P(ClearBlocks, ASurfaceStateWithoutAnAuxiliarySurfaceShowsTheBytesOfMemory) {
  mark_blocks();
  hw::RENDER_SURFACE_STATE state = surface(hw::SurfaceFormat::R8G8B8A8_UNORM);
  state.auxiliary_surface_mode = hw::AuxiliarySurfaceMode::AUX_NONE;
  bind_state(3, state);
  SurfaceTable table;
  const Surface* const found = table.find(generation_, environment_, 3, 0);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(Texture(memory_.space(), *found, nullptr).load({0, 0, 0}, 0, 0, {})[0], 0u);
}

TEST_P(ClearBlocks, ASurfaceForTypedMessagesIsFilled) {
  mark_blocks();
  bind_state(3, surface(hw::SurfaceFormat::R8G8B8A8_UNORM));
  SurfaceTable table;
  const Surface* const found = table.find(generation_, environment_, 3, 0);
  ASSERT_NE(found, nullptr);
  ASSERT_TRUE(table.make_plain(found, memory_.space()));
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      ASSERT_EQ(word(place(x, y)), is_clear(x, y) ? expected() : 0u) << x << " " << y;
    }
  }
  SurfaceTable later;
  const Surface* const plain = later.find(generation_, environment_, 3, 0);
  ASSERT_NE(plain, nullptr);
  EXPECT_FALSE(may_be_clear(*plain, memory_.space()));
}

INSTANTIATE_TEST_SUITE_P(Chips, ClearBlocks, testing::Values("bdw", "skl", "icl", "dg1"),
                         [](const auto& chip) { return chip.param; });

}  // namespace
}  // namespace halogen::message
