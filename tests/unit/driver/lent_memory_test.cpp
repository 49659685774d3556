#include "driver/gem/lent_memory.h"

#include <gtest/gtest.h>

namespace halogen::driver {
namespace {

TEST(LentMemory, TracksAddedRanges) {
  LentMemory lent;
  EXPECT_FALSE(lent.touches(0, ~uint64_t{0}));
  lent.add(0x10000, 0x2000);
  lent.add(0x40000, 0x1000);
  lent.add(0x40000, 0x1000);  // twice
  EXPECT_TRUE(lent.touches(0xf000, 0x1001));
  EXPECT_FALSE(lent.touches(0xf000, 0x1000));
  EXPECT_TRUE(lent.touches(0x11fff, 1));
  EXPECT_FALSE(lent.touches(0x12000, 0x2e000));  // between the two
  EXPECT_TRUE(LentMemory::is_near(0x12000, 0x2e000));
  EXPECT_TRUE(lent.touches(0x0, 0x100000));
  lent.remove(0x40000, 0x1000);
  EXPECT_TRUE(lent.touches(0x40800, 1));
  lent.remove(0x40000, 0x1000);
  EXPECT_FALSE(lent.touches(0x40800, 1));
  EXPECT_FALSE(LentMemory::is_near(0x40800, 1));
  lent.remove(0x10000, 0x2000);
  EXPECT_FALSE(LentMemory::any());
}

TEST(LentMemory, RangesLeaveUntilTheyAreUnmapped) {
  LentMemory lent;
  LentMemory::Leaving first{{0x10000, 0x2000}}, second{{0x11000, 0x2000}};
  lent.begin_leaving(first);
  lent.begin_leaving(second);
  EXPECT_TRUE(lent.is_leaving(0x11000, 1));
  lent.end_leaving(first);
  EXPECT_FALSE(lent.is_leaving(0x10000, 0x1000));
  EXPECT_TRUE(lent.is_leaving(0x11000, 1));
  lent.end_leaving(second);
  EXPECT_FALSE(lent.is_leaving(0, ~uint64_t{0}));
}

}  // namespace
}  // namespace halogen::driver
