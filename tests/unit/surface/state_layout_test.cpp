// Converts surface states to layouts. The states are raw dwords with the bit positions of the manuals and genxml.
#include "surface/state_layout.h"

#include <gtest/gtest.h>

#include <array>

#include "covers.h"

namespace halogen::surface {
namespace {

using spec::GenId;

SurfaceLayout layout_from(GenId gen, std::array<uint32_t, 16> dwords, uint32_t bits = 32) {
  return layout_of(hw::RENDER_SURFACE_STATE::unpack(gen, dwords), bits);
}

// Dword 3: pitch minus one at 19:3, tiled at 1, walk at 0 (1 is Y).
TEST(StateLayout, TilingComesFromTwoBitsBeforeGen8) {
  COVERS("G45-4.5.4-06");
  for (const GenId gen : {GenId::gen4, GenId::gen4_5, GenId::gen6}) {
    std::array<uint32_t, 16> state{};
    state[0] = 1u << 29;
    state[1] = 0x12345000;
    state[3] = 2047u << 3;
    EXPECT_EQ(layout_from(gen, state).pattern, nullptr);
    EXPECT_EQ(layout_from(gen, state).pitch_B, 2048u);
    state[3] |= 1;
    EXPECT_EQ(layout_from(gen, state).pattern, nullptr) << "the walk alone does not tile";
    state[3] |= 2;
    EXPECT_EQ(layout_from(gen, state).pattern, &kTileY);
    state[3] &= ~1u;
    EXPECT_EQ(layout_from(gen, state).pattern, &kTileX);
    EXPECT_EQ(hw::RENDER_SURFACE_STATE::unpack(gen, state).surface_base_address.value, 0x12345000u);
  }
}

// Dword 0 bits 13:12: 0 linear, 1 W, 2 X, 3 Y; dword 1 14:0 QPitch / 4; dword 3 17:0 pitch; dword 5 19:18 resource
// mode.
TEST(StateLayout, TilingComesFromTheTileModeFromGen8On) {
  for (const GenId gen : {GenId::gen8, GenId::gen9, GenId::gen11, GenId::gen12}) {
    std::array<uint32_t, 16> state{};
    state[0] = 1u << 29;
    state[1] = 25;
    state[3] = 0x3ffff;
    EXPECT_EQ(layout_from(gen, state).pattern, nullptr);
    EXPECT_EQ(layout_from(gen, state).pitch_B, 256u * 1024u);
    EXPECT_EQ(layout_from(gen, state).layer_rows, 100u);
    state[0] |= 1u << 12;
    EXPECT_EQ(layout_from(gen, state, 8).pattern, &kTileW);
    state[0] ^= 3u << 12;
    EXPECT_EQ(layout_from(gen, state).pattern, &kTileX);
    state[0] |= 3u << 12;
    EXPECT_EQ(layout_from(gen, state).pattern, &kTileY);
    if (gen == GenId::gen8) {
      continue;
    }
    state[5] = 1u << 18;
    EXPECT_EQ(layout_from(gen, state, 64).pattern, find_pattern({.tiling = Tiling::yf, .element_bits = 64}));
    state[5] = 2u << 18;
    EXPECT_EQ(layout_from(gen, state, 16).pattern, find_pattern({.tiling = Tiling::ys, .element_bits = 16}));
    state[4] = 2u << 3;  // four samples
    EXPECT_EQ(layout_from(gen, state).pattern, find_pattern({.tiling = Tiling::ys, .samples = 4}));
    state[4] |= 1u << 6;  // interleaved samples
    EXPECT_EQ(layout_from(gen, state).pattern, find_pattern({.tiling = Tiling::ys}));
  }
}

TEST(StateLayout, VolumesFollowTheAddressMappingMode) {
  std::array<uint32_t, 16> state{};
  state[0] = 2u << 29 | 3u << 12;
  state[5] = 2u << 18;
  const auto ys = [](TileAddressMapping mapping) {
    return find_pattern({.tiling = Tiling::ys, .element_bits = 32, .volume = true, .mapping = mapping});
  };
  EXPECT_EQ(layout_from(GenId::gen9, state).pattern, ys(TileAddressMapping::gfx9));
  EXPECT_EQ(layout_from(GenId::gen11, state).pattern, ys(TileAddressMapping::gfx9));
  state[3] |= 1u << 20;
  EXPECT_EQ(layout_from(GenId::gen11, state).pattern, ys(TileAddressMapping::gfx10));
}

}  // namespace
}  // namespace halogen::surface
