// The caches of upper levels alone: positions and shortcuts by 2 MB ranges, and clearing.
#include "memory/walk_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace halogen::memory {
namespace {

constexpr uint64_t kRange = uint64_t{1} << WalkCache::kRangeBits;

WalkPosition position(uint64_t table) {
  WalkPosition made;
  made.table = table;
  return made;
}

// Returns the page table that serves an address without a call. Null: not cached.
const uint64_t* table_of(const WalkCache& cache, uint64_t address) {
  const uint64_t page = address >> kFrameBits;
  const WalkCache::Table& table = cache.table_at(page);
  const bool serves = page - table.first_page < WalkCache::kPagesInRange;
  return serves && table.entries[page - table.first_page] != 0 ? table.entries : nullptr;
}

WalkCache::Shortcut large_page(uint64_t range, uint64_t entry) {
  WalkCache::Shortcut made{range, WalkCache::Kind::page_2m, {}};
  made.page = entry;
  return made;
}

TEST(WalkCache, ComparesAllBitsOfARange) {
  WalkCache cache;
  EXPECT_EQ(cache.find(0), nullptr);
  EXPECT_FALSE(cache.find_shortcut(0));
  EXPECT_EQ(table_of(cache, 0), nullptr);
  const std::vector<uint64_t> entries(WalkCache::kPagesInRange, 3);
  for (const uint64_t address : {uint64_t{0}, 5 * kRange, uint64_t{0x7fff'ffe0'0000}, ~uint64_t{0} - kRange + 1}) {
    const uint64_t range = address >> WalkCache::kRangeBits;
    const auto elsewhere = [&](auto&& knows) {
      for (unsigned bit = WalkCache::kRangeBits; bit < 64; ++bit) {
        EXPECT_FALSE(knows(address ^ (uint64_t{1} << bit))) << bit;
      }
    };
    cache.fill({range, position(address + 1)});
    ASSERT_NE(cache.find(address + kRange - 1), nullptr);
    EXPECT_EQ(cache.find(address + 123)->position.table, address + 1);
    elsewhere([&](uint64_t other) { return cache.find(other) != nullptr; });

    cache.fill_table(range, entries.data());
    ASSERT_TRUE(cache.find_shortcut(address + kRange - 1));
    EXPECT_EQ(cache.find_shortcut(address)->kind, WalkCache::Kind::table);
    EXPECT_EQ(cache.find_shortcut(address)->table, reinterpret_cast<const std::byte*>(entries.data()));
    EXPECT_EQ(table_of(cache, address), entries.data());
    EXPECT_EQ(table_of(cache, address + kRange - 1), entries.data());
    elsewhere([&](uint64_t other) { return cache.find_shortcut(other).has_value(); });
    elsewhere([&](uint64_t other) { return table_of(cache, other) != nullptr; });

    cache.fill_shortcut(large_page(range, 0x1234));
    EXPECT_EQ(table_of(cache, address), nullptr) << "a range has one shortcut";
    EXPECT_EQ(cache.find_shortcut(address)->kind, WalkCache::Kind::page_2m);
    EXPECT_EQ(cache.find_shortcut(address)->page, 0x1234u);
    elsewhere([&](uint64_t other) { return cache.find_shortcut(other).has_value(); });
    cache.clear();
  }
}

TEST(WalkCache, ClearDropsEverything) {
  WalkCache cache;
  const std::vector<uint64_t> entries(WalkCache::kPagesInRange, 3);
  for (unsigned round = 0; round < 3; ++round) {
    for (uint64_t range = 0; range < 5000; range += 7) {  // more than it can hold
      cache.fill({range, position(range)});
      if (range % 2 == 0) {
        cache.fill_table(range, entries.data());
      } else {
        cache.fill_shortcut(large_page(range, range));
      }
      ASSERT_NE(cache.find(range * kRange), nullptr);
      ASSERT_TRUE(cache.find_shortcut(range * kRange));
    }
    cache.clear();
    for (uint64_t range = 0; range < 5000; ++range) {
      ASSERT_EQ(cache.find(range * kRange), nullptr) << range;
      ASSERT_FALSE(cache.find_shortcut(range * kRange)) << range;
      ASSERT_EQ(table_of(cache, range * kRange), nullptr) << range;
    }
  }
}

}  // namespace
}  // namespace halogen::memory
