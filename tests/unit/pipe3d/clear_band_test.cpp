// Bands of a clear cover the whole rectangle, and each band is small.
#include "pipe3d/output/clear_band.h"

#include <gtest/gtest.h>

namespace halogen::pipe3d {
namespace {

TEST(ClearBand, BandsAreConsecutiveAndBounded) {
  for (const uint32_t samples : {1u, 4u, 16u}) {
    for (const Rectangle& whole : {Rectangle{.x_min = 0, .y_min = 0, .x_max = 16383, .y_max = 16383},
                                   Rectangle{.x_min = 7, .y_min = 5, .x_max = 7, .y_max = 70000},
                                   Rectangle{.x_min = 0, .y_min = 3, .x_max = 63, .y_max = 66},
                                   Rectangle{.x_min = 0, .y_min = 0, .x_max = 9, .y_max = 0}}) {
      int32_t next = whole.y_min;
      bool last = false;
      for (uint32_t band = 0; !last; ++band) {
        const ClearBand part(whole, samples, band);
        ASSERT_EQ(part.area.y_min, next);
        ASSERT_GE(part.area.y_max, part.area.y_min);
        EXPECT_EQ(part.area.x_min, whole.x_min);
        EXPECT_EQ(part.area.x_max, whole.x_max);
        const int64_t rows = part.area.y_max - part.area.y_min + 1;
        EXPECT_TRUE(rows == 1 || rows * (whole.x_max - whole.x_min + 1) * samples <= 1 << 20);
        next = part.area.y_max + 1;
        last = part.last;
      }
      EXPECT_EQ(next, whole.y_max + 1);
    }
  }
}

TEST(ClearBand, AnEmptyClearIsOneBand) {
  for (const Rectangle& whole : {Rectangle{}, Rectangle{.x_min = 5, .y_min = 9, .x_max = 2, .y_max = 3}}) {
    const ClearBand part(whole, 1, 0);
    EXPECT_TRUE(part.last);
    EXPECT_TRUE(part.area.y_max < part.area.y_min || part.area.x_max < part.area.x_min);
  }
}

}  // namespace
}  // namespace halogen::pipe3d
