// Places of compression states. The Skylake PRM vol. 12 says of planes: a cache line of the control surface represents
// 16x16 pairs of cache lines of the main surface, and the control surface is Y tiled. Broadwell has half the bits.
#include "surface/block_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace halogen::surface {
namespace {

StateMap map_of(StateForm form, uint32_t width, uint32_t height) {
  StateMap map{.form = form, .pitch_tiles = 3, .width = width, .height = height, .block_width = 8, .block_height = 4};
  map.pad_x = form == StateForm::hierarchical ? 2 : form == StateForm::one_bit ? 32 : 16;
  map.pad_y = form == StateForm::hierarchical ? 2 : form == StateForm::one_bit ? 32 : 16;
  map.layer_rows = 512;
  return map;
}

TEST(BlockStates, ATileOfControlSurfaceHasOneBitFieldForEachOfItsBlocks) {
  for (const StateForm form : {StateForm::one_bit, StateForm::two_bits}) {
    const uint32_t rows = form == StateForm::one_bit ? 256 : 128;
    const uint32_t bits = form == StateForm::one_bit ? 1 : 2;
    const StateMap map = map_of(form, 128 * 8 * 3, rows * 4 * 2);
    std::set<std::pair<uint64_t, unsigned>> places;
    for (uint32_t y = 0; y < rows; ++y) {
      for (uint32_t x = 0; x < 128; ++x) {
        const StatePlace at = state_place(map, {.x = x, .y = y});
        EXPECT_LT(at.offset, 4096u);
        EXPECT_EQ(at.shift % bits, 0u);
        EXPECT_TRUE(places.emplace(at.offset, at.shift).second) << x << " " << y;
        // The line of the block: column x / 16 of 512 bytes, row of lines of 64 bytes.
        EXPECT_EQ(at.offset / 64, x / 16 * 8 + y / (rows / 8)) << x << " " << y;
      }
    }
    EXPECT_EQ(places.size() * bits, 4096u * 8);
    EXPECT_EQ(state_place(map, {.x = 128, .y = 0}).offset, 4096u);
    EXPECT_EQ(state_place(map, {.x = 0, .y = rows}).offset, 3 * 4096u);
  }
}

TEST(BlockStates, HierarchicalDepthHasSixteenBytesForABlock) {
  const StateMap map = map_of(StateForm::hierarchical, 384, 256);
  std::set<uint64_t> places;
  for (uint32_t y = 0; y < 16; ++y) {
    for (uint32_t x = 0; x < 16; ++x) {
      const StatePlace at = state_place(map, {.x = x, .y = y});
      EXPECT_LT(at.offset, 4096u);
      EXPECT_EQ(at.offset % 16, 0u);
      EXPECT_TRUE(places.insert(at.offset).second);
      EXPECT_EQ(at.offset / 512, x / 2);  // a column of a Y tile holds two columns of blocks
    }
  }
  EXPECT_EQ(state_place(map, {.x = 16, .y = 0}).offset, 4096u);
  EXPECT_EQ(state_place(map, {.x = 0, .y = 16}).offset, 3 * 4096u);
}

TEST(BlockStates, LevelsBeginAtThePaddingOfTheManual) {
  // Skylake: levels are padded to 128x64 pixels of the target, which is 16x16 blocks of 8x4 pixels.
  const StateMap map = map_of(StateForm::two_bits, 300, 200);
  const auto same = [&](BlockIndex block, uint32_t x, uint32_t y) {
    const StatePlace at = state_place(map, block);
    const StatePlace expected = state_place(map, {.x = x, .y = y});
    EXPECT_EQ(at.offset, expected.offset);
    EXPECT_EQ(at.shift, expected.shift);
  };
  same({.x = 1, .y = 2, .level = 1}, 1, 64 + 2);       // below 200 rows, padded to 256: 64 rows of blocks
  same({.x = 1, .y = 2, .level = 2}, 32 + 1, 64 + 2);  // right of 150 pixels, padded to 256: 32 blocks
  same({.x = 0, .y = 0, .level = 3}, 32, 64 + 16);     // below 50 rows, padded to 64: 16 rows of blocks
  same({.x = 5, .y = 7, .layer = 2, .level = 0}, 5, 1024 + 7);
}

TEST(BlockStates, StatesOfTheLastLevelLieInsideTheTilesOfTheSurface) {
  for (const StateForm form : {StateForm::one_bit, StateForm::two_bits, StateForm::hierarchical}) {
    StateMap map = map_of(form, 300, 200);
    map.pitch_tiles = 8;
    for (uint32_t level = 0; level < 4; ++level) {
      const uint32_t width = std::max(300u >> level, 1u);
      const uint32_t height = std::max(200u >> level, 1u);
      const uint64_t end = state_tiles(map, 3, 4) * 4096;
      EXPECT_LT(state_place(map, {.x = (width - 1) / 8, .y = (height - 1) / 4, .layer = 2, .level = level}).offset,
                end);
    }
  }
}

// 64 KB of a surface have 256 bytes of states: 16 for each tile of 4 KB, four bits for each of its 4x8 blocks.
TEST(BlockStates, MappedStatesOfATileAreSixteenBytes) {
  std::set<std::pair<uint64_t, unsigned>> places;
  for (uint64_t x_B = 0; x_B < 128; x_B += 32) {
    for (uint64_t y = 0; y < 32; y += 4) {
      const uint64_t first = 0x7'0000 + 5 * 4096 + x_B / 16 * 512 + y * 16;
      const StatePlace at = mapped_state_place(first);
      EXPECT_EQ(at.offset / 16, 5u);
      EXPECT_TRUE(places.emplace(at.offset, at.shift).second);
      for (uint64_t byte : {15u, 63u, 512u + 63u}) {  // the same block: two columns of four rows
        EXPECT_EQ(mapped_state_place(first + byte).offset, at.offset);
        EXPECT_EQ(mapped_state_place(first + byte).shift, at.shift);
      }
    }
  }
  EXPECT_EQ(places.size(), 32u);
}

TEST(BlockStates, ZeroMeansResolvedInControlSurfacesAndClearInHierarchicalDepth) {
  for (const StateForm form : {StateForm::one_bit, StateForm::two_bits, StateForm::four_bits}) {
    EXPECT_EQ(decode_state(form, 0), BlockState::resolved);
    EXPECT_EQ(decode_state(form, encode_state(form, BlockState::clear)), BlockState::clear);
    EXPECT_EQ(decode_state(form, encode_state(form, BlockState::compressed)),
              form == StateForm::one_bit ? BlockState::resolved : BlockState::compressed);
  }
  EXPECT_EQ(decode_state(StateForm::hierarchical, 0), BlockState::clear);
  EXPECT_EQ(decode_state(StateForm::hierarchical, encode_state(StateForm::hierarchical, BlockState::resolved)),
            BlockState::resolved);
}

}  // namespace
}  // namespace halogen::surface
