// Memory that the host takes away: no cache keeps its address. The pages are protected, so that a late access of any
// kind ends the test (support/lent_pages.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "memory/buffered_speculation.h"
#include "memory/in_place_speculation.h"
#include "support/mapped_memory.h"

namespace halogen::memory {
namespace {

constexpr uint64_t kPages = 64;

class Revocation : public testing::Test {
 protected:
  Revocation() {
    memory_.set_action(FaultAction::skip);
    std::ranges::fill(memory_.bytes(), std::byte{0x11});
  }
  AddressSpace& space() { return memory_.space(); }
  static GpuVa at(uint64_t page, uint64_t offset = 0) { return GpuVa{page * kFrameBytes + offset}; }

  test::MappedMemory memory_{kPages * kFrameBytes};
};

struct Way {
  const char* name;
  std::function<uint32_t(AddressSpace&, GpuVa)> access;  // returns what it read; a write returns zero
};

std::vector<Way> ways() {
  return {
      {"load", [](AddressSpace& space, GpuVa at) { return space.load_value<uint32_t>(at); }},
      {"store",
       [](AddressSpace& space, GpuVa at) {
         EXPECT_EQ(space.store_value<uint32_t>(at, 0), AccessResult::ok);
         return 0u;
       }},
      {"read",
       [](AddressSpace& space, GpuVa at) {
         std::vector<uint32_t> data(600, 5);
         EXPECT_EQ(space.read(at, std::as_writable_bytes(std::span(data))), AccessResult::ok);
         return data[0];
       }},
      {"line",
       [](AddressSpace& space, GpuVa at) {
         std::vector<uint32_t> data(16, 5);
         EXPECT_EQ(space.read(at, std::as_writable_bytes(std::span(data))), AccessResult::ok);
         return data[15];
       }},
      {"write",
       [](AddressSpace& space, GpuVa at) {
         const std::vector<uint32_t> data(600);
         EXPECT_EQ(space.write(at, std::as_bytes(std::span(data))), AccessResult::ok);
         return 0u;
       }},
      {"read each",
       [](AddressSpace& space, GpuVa at) {
         const std::vector<GpuVa> all(8, at);
         std::vector<uint32_t> data(8, 5);
         EXPECT_EQ(space.read_each(all, 4, reinterpret_cast<std::byte*>(data.data())), AccessResult::ok);
         return data[7];
       }},
      {"view",
       [](AddressSpace& space, GpuVa at) {
         const AddressSpace::View view = space.view(at, kWrite);
         return view.bytes.empty() ? 0u : std::to_integer<uint32_t>(view.bytes[0]);
       }},
      {"page",
       [](AddressSpace& space, GpuVa at) {
         const std::byte* const page = space.page_at(at, kRead);
         return page == nullptr ? 0u : std::to_integer<uint32_t>(page[0]);
       }},
      {"frame",
       [](AddressSpace& space, GpuVa at) {
         const std::byte* const page = space.look_up_frame(at, kRead);
         return page == nullptr ? 0u : std::to_integer<uint32_t>(page[0]);
       }},
  };
}

TEST_F(Revocation, NoKindOfAccessReachesARevokedPage) {
  uint64_t page = 0;
  for (const Way& warm : ways()) {
    for (const Way& late : ways()) {
      SCOPED_TRACE(std::string(warm.name) + ", then " + late.name);
      page = (page + 1) % (kPages - 1);
      test::MappedMemory memory(kPages * kFrameBytes);
      memory.set_action(FaultAction::skip);
      std::ranges::fill(memory.bytes(), std::byte{0x11});
      for (uint64_t each = 0; each < kPages - 1; ++each) warm.access(memory.space(), at(each));
      memory.take_back(page, 1);
      EXPECT_EQ(late.access(memory.space(), at(page)), 0u);
      EXPECT_EQ(late.access(memory.space(), at(page)), 0u);
      // Other pages are looked up again.
      const uint64_t other = (page + 7) % (kPages - 1);
      late.access(memory.space(), at(other, 64));
      EXPECT_EQ(memory.space().store_value<uint32_t>(at(other), 0x1234), AccessResult::ok);
      EXPECT_EQ(memory.at<uint32_t>(other * kFrameBytes), 0x1234u);
    }
  }
}

// The tables lie behind the mapped pages; a walk may start at a host address of a table (walk_cache.h).
TEST_F(Revocation, AccessThroughRevokedPageTablesReadsZero) {
  for (uint64_t page = 0; page < kPages; page += 2) EXPECT_EQ(space().load_value<uint8_t>(at(page)), 0x11);
  memory_.take_back(kPages, 4);
  for (uint64_t page = 0; page < kPages; ++page) EXPECT_EQ(space().load_value<uint8_t>(at(page)), 0);
  EXPECT_EQ(memory_.faults(), kPages);
}

TEST_F(Revocation, InPlaceWorkLooksPagesUpAgain) {
  InPlaceSpeculation work;
  InPlaceSpeculation::Side side(work, space().memory(), InPlaceSpeculation::Side::Kind::writer);
  const auto add = [&](uint64_t page) {
    work.begin(space());
    side.begin();
    const auto old = side.space().load_value<uint32_t>(at(page));
    static_cast<void>(side.space().store_value<uint32_t>(at(page), old + 1));
    return work.finish();
  };
  EXPECT_TRUE(add(3));
  EXPECT_TRUE(add(4));
  EXPECT_EQ(memory_.at<uint32_t>(3 * kFrameBytes), 0x1111'1112u);
  memory_.take_back(3, 1);
  EXPECT_FALSE(add(3));
  EXPECT_TRUE(add(4));
  EXPECT_EQ(memory_.at<uint32_t>(4 * kFrameBytes), 0x1111'1113u);
}

TEST_F(Revocation, BufferedWorkLooksPagesUpAgain) {
  BufferedSpeculation work;
  Tlb tlb(64);
  struct Stopper final : FaultHandler {
    FaultAction on_fault(const Fault& /*fault*/) override { return FaultAction::stop; }
  } stopper;
  AddressSpace ours(space().memory(), tlb, kGlobalSpace, stopper);
  ours.set_speculation(&work);
  std::mutex finding;
  WrittenPages written;
  const auto add = [&](uint64_t page) {
    work.begin(space(), finding);
    written.clear();
    const auto old = ours.load_value<uint32_t>(at(page));
    return ok(ours.store_value<uint32_t>(at(page), old + 1)) && work.commit(written);
  };
  EXPECT_TRUE(add(3));
  memory_.take_back(3, 1);
  EXPECT_FALSE(add(3));
  EXPECT_TRUE(add(4));
  EXPECT_EQ(memory_.at<uint32_t>(4 * kFrameBytes), 0x1111'1112u);
}

TEST_F(Revocation, WithoutCachedAddressesNothingIsDone) {
  struct Keeper final : PhysicalMemory::Watcher {
    using Watcher::Watcher;
    void drop_host_addresses() override { ++dropped; }
    unsigned dropped = 0;
  };
  SparseFrames ram(4);
  PhysicalMemory memory;
  memory.add({MemorySpace::system, MemoryKind::ram, 0, 4 * kFrameBytes, &ram});
  Keeper keeper(memory);
  memory.revoke();
  // Copies leave no address behind.
  uint32_t word = 7;
  EXPECT_TRUE(memory.write(MemorySpace::system, PhysAddr(8), std::as_bytes(std::span(&word, 1))));
  EXPECT_TRUE(memory.read(MemorySpace::system, PhysAddr(8), std::as_writable_bytes(std::span(&word, 1))));
  memory.revoke();
  EXPECT_EQ(keeper.dropped, 0u);
  EXPECT_NE(memory.frame(MemorySpace::system, PhysAddr(8)), nullptr);
  memory.revoke();
  EXPECT_EQ(keeper.dropped, 1u);
  memory.revoke();
  EXPECT_EQ(keeper.dropped, 1u);
  EXPECT_NE(memory.direct_range(MemorySpace::system, PhysAddr(8)).bytes, 0u);
  memory.revoke();
  EXPECT_EQ(keeper.dropped, 2u);
}

}  // namespace
}  // namespace halogen::memory
