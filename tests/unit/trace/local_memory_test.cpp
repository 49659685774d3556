// Local memory of a simulator's machine: pages behind the global table and ordinary pages may have the same number, and
// reads return the written data in either case.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>

#include "trace/simulator.h"

namespace halogen::trace {
namespace {

using aub::MemorySpace;

constexpr uint64_t kPresent = 1;
constexpr uint64_t kGlobalLocal = 1u << 1;    // bit of an entry of the global table
constexpr uint64_t kProcessLocal = 1u << 11;  // bit of a page table entry of a process
constexpr uint64_t kPage = 0x7'000;
constexpr uint64_t kOtherPage = 0x9'000;
constexpr uint64_t kPlace = 0x30'000;  // in the global table

class LocalMemory : public ::testing::Test {
 protected:
  void write(MemorySpace space, uint64_t address, uint64_t value) {
    EXPECT_TRUE(simulator_->write_memory(space, address, std::as_bytes(std::span(&value, 1))));
  }
  uint64_t read(MemorySpace space, uint64_t address) {
    uint64_t value = 0;
    simulator_->read_memory(space, address, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }
  uint64_t read_untyped(uint64_t address) { return read(simulator_->space_of_read(address, 8), address); }
  void map(uint64_t place, uint64_t page) {
    write(MemorySpace::ggtt_entry, place / 4096 * 8, page | kGlobalLocal | kPresent);
  }
  // Writes an ordinary page after its page table entry.
  void write_ordinary(MemorySpace space, uint64_t page, uint64_t value) {
    write(MemorySpace::system, 0x50'0000 + page / 512,
          page | kPresent | (space == MemorySpace::local ? kProcessLocal : 0));
    write(space, page, value);
  }

  std::unique_ptr<Simulator> simulator_ = std::move(Simulator::create(*spec::find_device("dg1"))).value();
};

TEST_F(LocalMemory, PageMappedThenWrittenIsAnObject) {
  map(kPlace, kPage);
  write(MemorySpace::local, kPage + 8, 0x1111);
  EXPECT_EQ(read(MemorySpace::ggtt, kPlace + 8), 0x1111u);
  EXPECT_EQ(read(MemorySpace::local, kPage + 8), 0x1111u);
  EXPECT_EQ(read_untyped(kPage + 8), 0x1111u);
}

TEST_F(LocalMemory, PageWrittenThenMappedKeepsItsContent) {
  write(MemorySpace::local, kPage + 8, 0x2222);
  EXPECT_EQ(read(MemorySpace::local, kPage + 8), 0x2222u);
  map(kPlace, kPage);
  EXPECT_EQ(read(MemorySpace::ggtt, kPlace + 8), 0x2222u);
  EXPECT_EQ(read(MemorySpace::local, kPage + 8), 0x2222u);
  EXPECT_EQ(read_untyped(kPage + 8), 0x2222u);
  // It stays an object, through the global table and by its local address.
  write(MemorySpace::local, kPage + 16, 0x3333);
  write(MemorySpace::ggtt, kPlace + 24, 0x4444);
  EXPECT_EQ(read(MemorySpace::ggtt, kPlace + 16), 0x3333u);
  EXPECT_EQ(read(MemorySpace::local, kPage + 24), 0x4444u);
}

TEST_F(LocalMemory, RemappedPageKeepsLaterWrites) {
  write(MemorySpace::local, kPage, 0x1);
  map(kPlace, kPage);
  write(MemorySpace::local, kPage, 0x2);
  map(kPlace, kPage);
  map(kPlace + 0x1000, kPage);
  EXPECT_EQ(read(MemorySpace::ggtt, kPlace), 0x2u);
  EXPECT_EQ(read(MemorySpace::ggtt, kPlace + 0x1000), 0x2u);
}

// The behaviour of the driver's simulator mode: three pages with the same number.
TEST_F(LocalMemory, OrdinaryPagesWithTheSameNumberAreSeparate) {
  map(kPlace, kPage);
  write(MemorySpace::local, kPage, 0xaaaa);
  write_ordinary(MemorySpace::local, kPage, 0xbbbb);
  write_ordinary(MemorySpace::system, kPage, 0xcccc);
  EXPECT_EQ(read(MemorySpace::ggtt, kPlace), 0xaaaau);
  EXPECT_EQ(read(MemorySpace::local, kPage), 0xbbbbu);
  EXPECT_EQ(read(MemorySpace::system, kPage), 0xccccu);
}

// An ordinary page that was written before the global table pointed at its number does not become an object.
TEST_F(LocalMemory, OrdinaryPageIsNotAnObjectWhenItsNumberIsMapped) {
  write_ordinary(MemorySpace::local, kPage, 0xbbbb);
  map(kPlace, kPage);
  EXPECT_EQ(read(MemorySpace::ggtt, kPlace), 0u);
  write(MemorySpace::ggtt, kPlace, 0xaaaa);
  EXPECT_EQ(read(MemorySpace::local, kPage), 0xbbbbu);
}

// The tail of a ring, which the driver writes to system memory, and a read that spans both kinds of pages.
TEST_F(LocalMemory, ReadsCrossPagesOfBothKinds) {
  map(kPlace, kPage);
  map(kPlace + 0x2000, kOtherPage);
  write(MemorySpace::system, kPage + 0xff8, 0x5555);
  write(MemorySpace::local, kPage + 0x1000, 0x6666);
  EXPECT_EQ(read(MemorySpace::ggtt, kPlace + 0xff8), 0x5555u);
  std::array<uint64_t, 2> both{};
  EXPECT_TRUE(simulator_->read_memory(MemorySpace::local, kPage + 0xff8, std::as_writable_bytes(std::span(both))));
  EXPECT_EQ(both[0], 0x5555u);
  EXPECT_EQ(both[1], 0x6666u);
}

// Reads without a memory type: the end of an allocation in local memory, then a part of a system memory page with the
// same number. The driver's simulator mode reads heap memory of programs this way.
TEST_F(LocalMemory, PieceIsReadFromTheMemoryItWasWrittenTo) {
  constexpr uint64_t kHeap = kPage + 0x1000;
  const auto write_page = [&](uint64_t page, uint64_t value) {
    write(MemorySpace::system, 0x50'0000 + page / 512, page | kPresent | kProcessLocal);
    std::array<uint64_t, 512> content;
    content.fill(value);
    EXPECT_TRUE(simulator_->write_memory(MemorySpace::local, page, std::as_bytes(std::span(content))));
  };
  write_page(kPage, 0x1);
  write_page(kHeap, 0x2);
  write(MemorySpace::system, 0x60'0000, kHeap | kPresent);
  write(MemorySpace::system, kHeap + 0x910, 0x3);
  EXPECT_EQ(simulator_->space_of_read(kPage, 4096), MemorySpace::local);
  EXPECT_EQ(simulator_->space_of_read(kHeap, 4096), MemorySpace::local);
  EXPECT_EQ(read_untyped(kHeap + 0x910), 0x3u);
  // The reads in reverse order.
  EXPECT_EQ(simulator_->space_of_read(kHeap, 4096), MemorySpace::local);
  EXPECT_EQ(read_untyped(kHeap + 0x910), 0x3u);
}

// Both reads are of whole pages. The local page is not the first of its allocation, so the second consecutive read is
// from system memory.
TEST_F(LocalMemory, RepeatedPageNumberIsAnotherAllocation) {
  write_ordinary(MemorySpace::local, kPage, 0x1);
  write_ordinary(MemorySpace::local, kPage + 0x1000, 0x2);
  write(MemorySpace::system, 0x60'0000, (kPage + 0x1000) | kPresent);
  write(MemorySpace::system, kPage + 0x1000, 0x3);
  EXPECT_EQ(read_untyped(kPage), 0x1u);
  EXPECT_EQ(read_untyped(kPage + 0x1000), 0x2u);
  EXPECT_EQ(read_untyped(kPage + 0x1000), 0x3u);
  EXPECT_EQ(read_untyped(kPage + 0x1000), 0x3u);
}

TEST_F(LocalMemory, DevicesWithoutLocalMemoryHaveNone) {
  simulator_ = std::move(Simulator::create(*spec::find_device("icl"))).value();
  map(kPlace, kPage);
  write(MemorySpace::system, kPage, 0x7777);
  EXPECT_EQ(read(MemorySpace::ggtt, kPlace), 0x7777u);
  EXPECT_EQ(read(MemorySpace::system, kPage), 0x7777u);
  EXPECT_EQ(simulator_->space_of_read(kPage, 8), MemorySpace::system);
}

}  // namespace
}  // namespace halogen::trace
