// How the Gen4 clip unit classifies objects. Expected flags are those that the clip threads of Mesa decode: planes far,
// near, top, bottom, right and left from bit 26, user planes from bit 14.
#include "pipe3d/geometry/clip_stage.h"

#include <bit>
#include <vector>

#include <gtest/gtest.h>

namespace halogen::pipe3d {
namespace {

using Verdict = ClipStage::Verdict;

struct Place {
  float x = 0, y = 0, z = 0, rhw = 1;
  uint32_t flags = 0;  // user planes that the vertex is outside of
};

class ClipUnitTest : public ::testing::Test {
 protected:
  ClipUnitTest() {
    state_.clip_unit = {.enabled = true,
                        .mode = hw::ClipMode::NORMAL,
                        .xy_test = true,
                        .z_test = true,
                        .guard_band = true,
                        .user_flags = 0x3,
                        .user_must_clip = true};
    state_.viewports[0].guard_x_min = state_.viewports[0].guard_y_min = -8;
    state_.viewports[0].guard_x_max = state_.viewports[0].guard_y_max = 8;
  }
  ClipStage::Judgement judge(const std::vector<Place>& places) {
    EntryStore entries;
    entries.begin(4);
    Assembled made;
    for (const Place& place : places) {
      const uint32_t handle = entries.add();
      entries.entry(handle)[0][3] = place.flags;
      const float values[]{place.x, place.y, place.z, place.rhw};
      for (size_t i = 0; i < 4; ++i) entries.entry(handle)[1][i] = std::bit_cast<uint32_t>(values[i]);
      made.vertex[made.count++] = handle;
    }
    return ClipStage::judge(state_, made, entries);
  }
  PipelineState state_;
};

TEST_F(ClipUnitTest, ObjectsInsideTheGuardBandPass) {
  EXPECT_EQ(judge({{-1, -1}, {1, -1}, {0, 1}}).verdict, Verdict::pass);
  EXPECT_EQ(judge({{-7, -1}, {7, -1}, {0, 7}}).verdict, Verdict::pass);
}

TEST_F(ClipUnitTest, ObjectsOutsideOnePlaneAreDropped) {
  EXPECT_EQ(judge({{-2, 0}, {-3, 5}, {-1.5f, -2}}).verdict, Verdict::drop);
  EXPECT_EQ(judge({{0, 0, 2}, {0, 1, 3}, {1, 0, 1.5f}}).verdict, Verdict::drop);
  EXPECT_EQ(judge({{0, 0, 0, 1, 2}, {0, 1, 0, 1, 3}, {1, 0, 0, 1, 2}}).verdict, Verdict::drop);
  // The vertices are outside different planes.
  EXPECT_EQ(judge({{-2, 0}, {2, 0}, {0, 2}}).verdict, Verdict::pass);
}

TEST_F(ClipUnitTest, PayloadsNameThePlanesThatAVertexIsOutsideOf) {
  EXPECT_EQ(judge({{0, 0, 2}, {1, 0}, {0, 1}}).outside.planes, 1u);
  EXPECT_EQ(judge({{0, 0, -2}, {1, 0}, {0, 1}}).outside.planes, 2u);
  EXPECT_EQ(judge({{0, 9}, {1, 0}, {0, -9}}).outside.planes, 4u | 8u);
  EXPECT_EQ(judge({{9, 0}, {-9, 0}, {0, 1}}).outside.planes, 16u | 32u);
  const auto user = judge({{0, 0, 0, 1, 1}, {1, 0, 0, 1, 6}, {0, 1}});
  EXPECT_EQ(user.verdict, Verdict::thread);
  EXPECT_EQ(user.outside.planes, 0u);
  EXPECT_EQ(user.outside.user_planes, 3u);  // the third flag is not enabled
}

// In clip space x = -9, w = -1. Inside the guard band are x >= -8 w = 8 and x <= 8 w = -8, so the vertex is outside the
// left plane only.
TEST_F(ClipUnitTest, BehindTheEyeSidesAreSwapped) {
  const auto judged = judge({{9, 0, 0, -1}, {0, 0}, {0, 1}});
  EXPECT_EQ(judged.verdict, Verdict::thread);
  EXPECT_EQ(judged.outside.planes & 0b110000, 0b100000);
}

TEST_F(ClipUnitTest, ClipModesOverrideTheTests) {
  const std::vector<Place> inside{{-1, -1}, {1, -1}, {0, 1}};
  const std::vector<Place> outside{{-2, 0}, {-3, 5}, {-1.5f, -2}};
  state_.clip_unit.mode = hw::ClipMode::REJECT_ALL;
  EXPECT_EQ(judge(inside).verdict, Verdict::drop);
  state_.clip_unit.mode = hw::ClipMode::ACCEPT_ALL;
  EXPECT_EQ(judge(outside).verdict, Verdict::pass);
  state_.clip_unit.mode = hw::ClipMode::CLIP_NON_REJECTED;
  EXPECT_EQ(judge(inside).verdict, Verdict::thread);
  EXPECT_EQ(judge(outside).verdict, Verdict::drop);
  state_.clip_unit.mode = hw::ClipMode::ALL;
  EXPECT_EQ(judge(outside).verdict, Verdict::thread);
}

TEST_F(ClipUnitTest, NanPositionsAreOutside) {
  const float none = std::bit_cast<float>(0x7fc0'0000u);
  EXPECT_EQ(judge({{none, 0}, {0, 0}, {0, 1}}).verdict, Verdict::thread);
  EXPECT_EQ(judge({{none, 0}, {none, 0}, {none, 1}}).verdict, Verdict::drop);
}

}  // namespace
}  // namespace halogen::pipe3d
