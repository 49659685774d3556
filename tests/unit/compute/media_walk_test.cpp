// The order in which MEDIA_OBJECT_WALKER visits positions, in the patterns that media drivers use.
#include "compute/media_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace halogen::compute {
namespace {

using Positions = std::vector<MediaPosition>;

// Returns a walk whose block is the whole field, as intel-vaapi-driver sets it up.
hw::MEDIA_OBJECT_WALKER whole(uint16_t width, uint16_t height) {
  hw::MEDIA_OBJECT_WALKER walker{};
  walker.block_resolution_x = walker.global_resolution_x = width;
  walker.block_resolution_y = walker.global_resolution_y = height;
  walker.global_outer_loop_stride_x = static_cast<int16_t>(width);
  walker.global_inner_loop_unit_y = static_cast<int16_t>(height);
  walker.local_loop_exec_count = walker.global_loop_exec_count = 0xfff;
  return walker;
}

Positions walk(const hw::MEDIA_OBJECT_WALKER& walker) {
  Positions positions;
  EXPECT_TRUE(walk_positions(walker, 1 << 16, positions));
  return positions;
}

TEST(MediaWalk, WalksRowByRow) {
  auto walker = whole(4, 3);
  walker.local_outer_loop_stride_y = 1;
  walker.local_inner_loop_unit_x = 1;
  Positions wanted;
  for (uint16_t y = 0; y < 3; ++y) {
    for (uint16_t x = 0; x < 4; ++x) {
      wanted.push_back({x, y});
    }
  }
  EXPECT_EQ(walk(walker), wanted);
  walker.local_loop_exec_count = 1;  // two iterations
  wanted.resize(8);
  EXPECT_EQ(walk(walker), wanted);
}

// Waves go down and to the left: each block starts after its upper right neighbour, and every block is visited once.
TEST(MediaWalk, WalksInSlantedWaves) {
  for (const int slant : {1, 2}) {
    for (const auto& [width, height] : {std::pair<uint16_t, uint16_t>{5, 7}, {8, 3}, {1, 4}, {6, 1}}) {
      auto walker = whole(width, height);
      walker.local_outer_loop_stride_x = 1;
      walker.local_inner_loop_unit_x = static_cast<int16_t>(-slant);
      walker.local_inner_loop_unit_y = 1;
      Positions wanted;
      for (uint16_t y = 0; y < height; ++y) {
        for (uint16_t x = 0; x < width; ++x) {
          wanted.push_back({x, y});
        }
      }
      std::ranges::stable_sort(wanted, {}, [&](const MediaPosition& at) { return at.x + slant * at.y; });
      EXPECT_EQ(walk(walker), wanted) << width << 'x' << height << " slant " << slant;
    }
  }
}

// Blocks of 2x2 in a field of 5x3, row by row. Blocks at the edges are cut off.
TEST(MediaWalk, WalksInBlocks) {
  hw::MEDIA_OBJECT_WALKER walker{};
  walker.block_resolution_x = walker.block_resolution_y = 2;
  walker.global_resolution_x = 5;
  walker.global_resolution_y = 3;
  walker.global_outer_loop_stride_y = 2;
  walker.global_inner_loop_unit_x = 2;
  walker.local_outer_loop_stride_y = 1;
  walker.local_inner_loop_unit_x = 1;
  walker.local_loop_exec_count = walker.global_loop_exec_count = 100;
  const Positions wanted{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {3, 0}, {2, 1}, {3, 1},
                         {4, 0}, {4, 1}, {0, 2}, {1, 2}, {2, 2}, {3, 2}, {4, 2}};
  EXPECT_EQ(walk(walker), wanted);
}

// The middle loop adds one step down, so pairs of rows are walked together.
TEST(MediaWalk, MiddleStepsPairRowsAndColorsRepeatPositions) {
  auto walker = whole(2, 4);
  walker.local_outer_loop_stride_y = 2;
  walker.local_mid_loop_unit_y = 1;
  walker.middle_loop_extra_steps = 1;
  walker.local_inner_loop_unit_x = 1;
  const Positions rows{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}};
  EXPECT_EQ(walk(walker), rows);
  walker.color_count_minus_one = 2;
  const Positions colored = walk(walker);
  ASSERT_EQ(colored.size(), 24u);
  for (size_t i = 0; i < colored.size(); ++i) {
    EXPECT_EQ(colored[i], rows[i / 3]);
  }
}

// Every walk ends, whatever its fields hold, and all positions are inside the field.
TEST(MediaWalk, RandomFieldsTerminate) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::array<uint32_t, 17> words{};
    for (uint32_t& word : words) {
      word = static_cast<uint32_t>(random()) & (random() % 2 != 0 ? ~0u : 0x000f'000f);
    }
    const auto walker = hw::MEDIA_OBJECT_WALKER::unpack(spec::GenId::gen9, words);
    Positions positions;
    walk_positions(walker, 4096, positions);
    EXPECT_LE(positions.size(), 4096u);
    for (const MediaPosition& at : positions) {
      ASSERT_LT(at.x, walker.global_resolution_x);
      ASSERT_LT(at.y, walker.global_resolution_y);
    }
  }
  auto still = whole(3, 3);  // all strides are zero
  still.global_outer_loop_stride_x = still.global_inner_loop_unit_y = 0;
  EXPECT_EQ(walk(still), (Positions{{0, 0}}));
}

}  // namespace
}  // namespace halogen::compute
