// Freeing pages never fails, whatever the pattern, and returns exactly what was taken.
#include "driver/hw/page_allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "support/host_faults.h"

namespace halogen::driver {
namespace {

TEST(PageAllocator, GivingNeedsNoMemoryOfTheHost) {
  constexpr uint64_t kAll = 4096 * kPageBytes;
  PageAllocator pages(kPageBytes, kAll);
  const uint64_t before = pages.free_bytes();
  std::mt19937 random(7);
  std::map<uint64_t, uint64_t> taken;
  for (int round = 0; round < 20'000; ++round) {
    if (random() % 2 == 0) {
      const uint64_t bytes = (random() % 40 + 1) * kPageBytes;
      const uint64_t alignment = random() % 3 == 0 ? 16 * kPageBytes : kPageBytes;
      const auto address = pages.take(bytes, alignment);
      if (!address) continue;
      ASSERT_EQ(*address % alignment, 0u);
      const auto next = taken.upper_bound(*address);
      ASSERT_TRUE(next == taken.end() || next->first >= *address + bytes) << "ranges overlap";
      ASSERT_TRUE(next == taken.begin() || std::prev(next)->first + std::prev(next)->second <= *address);
      taken[*address] = bytes;
    } else if (!taken.empty()) {
      auto each = taken.begin();
      std::advance(each, static_cast<std::ptrdiff_t>(random() % taken.size()));
      test::HostFaults faults(test::HostCall::memory, 1, true);
      faults.in([&] {
        pages.give(each->first, each->second);
        return 0;
      });
      taken.erase(each);
    }
  }
  for (const auto& [address, bytes] : taken) pages.give(address, bytes);
  EXPECT_EQ(pages.free_bytes(), before);
  EXPECT_EQ(pages.take(before), kPageBytes) << "all ranges are merged again";
}

TEST(PageAllocator, FailedTakeChangesNothing) {
  for (uint64_t n = 1; n <= 8; ++n) {
    PageAllocator pages(0, 64 * kPageBytes);
    test::HostFaults faults(test::HostCall::memory, n);
    try {
      faults.in([&] {
        for (uint64_t at = 0; at < 64; at += 2) {
          if (!pages.take_at(at * kPageBytes, kPageBytes)) return 1;
        }
        return 0;
      });
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(faults.failed());
    }
    uint64_t found = 0;
    while (pages.take(kPageBytes)) ++found;
    EXPECT_EQ(pages.free_bytes(), 0u);
    EXPECT_GE(found, 32u);
  }
}

}  // namespace
}  // namespace halogen::driver
