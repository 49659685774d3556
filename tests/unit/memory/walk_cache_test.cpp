// The caches of upper levels alone: positions and shortcuts by 2 MB ranges, and forgetting by age.
#include "memory/walk_cache.h"

#include <gtest/gtest.h>

namespace halogen {
namespace {

constexpr uint64_t kRange = uint64_t{1} << WalkCache::kRangeBits;

WalkPosition position(uint64_t table) {
  WalkPosition made;
  made.table = table;
  return made;
}

TEST(WalkCache, KnowsARangeByAllItsBits) {
  WalkCache cache;
  EXPECT_EQ(cache.find(0), nullptr);
  EXPECT_EQ(cache.find_shortcut(0), nullptr);
  std::byte bytes[8];
  for (const uint64_t address : {uint64_t{0}, 5 * kRange, uint64_t{0x7fff'ffe0'0000}, ~uint64_t{0} - kRange + 1}) {
    cache.fill({address >> WalkCache::kRangeBits, position(address + 1)});
    cache.fill_table(address, WalkCache::Kind::table, bytes);
    ASSERT_NE(cache.find(address + kRange - 1), nullptr);
    EXPECT_EQ(cache.find(address + 123)->position.table, address + 1);
    ASSERT_NE(cache.find_shortcut(address + kRange - 1), nullptr);
    EXPECT_EQ(cache.find_shortcut(address)->table, bytes);
    for (unsigned bit = WalkCache::kRangeBits; bit < 64; ++bit) {
      EXPECT_EQ(cache.find(address ^ (uint64_t{1} << bit)), nullptr) << bit;
      EXPECT_EQ(cache.find_shortcut(address ^ (uint64_t{1} << bit)), nullptr) << bit;
    }
    cache.clear();
  }
}

TEST(WalkCache, ForgetsHoweverOftenItIsCleared) {
  WalkCache cache;
  constexpr unsigned kClears = 600'000;  // more than there are ages
  unsigned left = 0;
  for (unsigned i = 0; i < kClears; ++i) {
    cache.fill({i % 3, position(i)});
    cache.fill_page(i % 3 * kRange, WalkCache::Kind::page_2m, i);
    left += cache.find(i % 3 * kRange) == nullptr || cache.find_shortcut(i % 3 * kRange) == nullptr ? 1u : 0u;
    cache.clear();
    for (uint64_t range = 0; range < 3; ++range) {
      left += cache.find(range * kRange) != nullptr || cache.find_shortcut(range * kRange) != nullptr ? 1u : 0u;
    }
  }
  EXPECT_EQ(left, 0u);
}

}  // namespace
}  // namespace halogen
