// The walker on Gen4 and Gen6 tables of four-byte entries, the contents of a fault, and the entries that a recorder
// sees. Entries of Gen8 and later are tested in walk_rows_test.cpp and pte_rows_test.cpp.
#include "memory/walker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "walk_rows_bench.h"

namespace halogen::memory {
namespace {

using rows::Bench;

constexpr uint64_t kTable = 0x0123'4000;

WalkContext context_of(const Bench& bench, WalkMode mode, uint64_t root, uint64_t entries = 0) {
  return {.format = bench.formats.find(mode), .roots = {root}, .entries = entries};
}

TEST(Walker, DevicesSupportTheExpectedWalkModes) {
  using enum WalkMode;
  struct Row {
    const char* device;
    std::vector<WalkMode> modes;
  };
  const std::vector<Row> devices = {
      {"i965", {ggtt}},
      {"gm965", {ggtt}},
      {"g45", {ggtt}},
      {"gm45", {ggtt, ppgtt_flat}},
      {"snb", {ggtt, ppgtt_directory}},
      {"bdw", {ggtt, legacy32, legacy48}},
      {"chv", {ggtt, legacy32}},
      {"skl", {ggtt, legacy32, legacy48, advanced48}},
      {"icl", {ggtt, legacy32, legacy48, advanced48}},
      {"tgl", {ggtt, legacy48, advanced48}},
      {"dg1", {ggtt, legacy48, advanced48}},
  };
  for (const Row& row : devices) {
    const Bench bench(row.device);
    for (const WalkMode mode : {ggtt, ppgtt_flat, ppgtt_directory, legacy32, legacy48, advanced48}) {
      const bool wanted = std::count(row.modes.begin(), row.modes.end(), mode) != 0;
      EXPECT_EQ(bench.formats.find(mode) != nullptr, wanted) << row.device << " " << name_of(mode);
    }
  }
}

// Gen4: an array of four-byte entries; address bits 31:12 in place, 35:32 in bits 7:4; bits 2:1 select snooping; bit 0
// valid.
TEST(Walker, TranslatesThroughTheGlobalTableOfGen4) {
  for (const char* device : {"i965", "gm965", "g45", "gm45"}) {
    SCOPED_TRACE(device);
    Bench bench(device, 36);
    const WalkContext context = context_of(bench, WalkMode::ggtt, kTable, 128 * 1024);
    bench.put32(kTable + 4 * 5, 0xabcd'e091);
    WalkResult result = walk(bench.memory, context, 0x5678, kWrite);
    ASSERT_FALSE(result.fault);
    EXPECT_EQ(result.mapping.address, 0x9'abcd'e000u);
    EXPECT_EQ(result.mapping.page_bits, 12);
    EXPECT_TRUE(result.mapping.writable);
    EXPECT_FALSE(result.mapping.snooped);
    EXPECT_EQ(result.mapping.space, MemorySpace::system);
    bench.put32(kTable + 4 * 5, 0xabcd'e097);
    EXPECT_TRUE(walk(bench.memory, context, 0x5678, kRead).mapping.snooped);
    bench.put32(kTable + 4 * 5, 0xabcd'e090);
    EXPECT_EQ(walk(bench.memory, context, 0x5678, kRead).fault.reason, FaultReason::not_present);

    // 128 pages of entries cover 512 MB, and nothing above.
    bench.put32(kTable + 4 * (128 * 1024 - 1), 0x0000'1001);
    EXPECT_EQ(walk(bench.memory, context, 0x1fff'ffff, kRead).mapping.address, 0x1000u);
    EXPECT_EQ(walk(bench.memory, context, 0x2000'0000, kRead).fault.reason, FaultReason::out_of_range);
    EXPECT_EQ(walk(bench.memory, context, 0x1'0000'0000, kRead).fault.reason, FaultReason::out_of_range);
  }
}

// Gen6: 39:32 in bits 11:4.
TEST(Walker, TranslatesThroughTheGlobalTableOfGen6) {
  Bench bench("snb", 40);
  const WalkContext context = context_of(bench, WalkMode::ggtt, kTable, 512 * 1024);
  bench.put32(kTable + 4 * 0x70001, 0x1234'5ab3);
  const WalkResult result = walk(bench.memory, context, 0x7000'1abc, kWrite);
  ASSERT_FALSE(result.fault);
  EXPECT_EQ(result.mapping.address, 0xab'1234'5000u);
  EXPECT_FALSE(result.mapping.snooped);
  bench.put32(kTable + 4 * 0x70001, 0x1234'5ab2);
  EXPECT_EQ(walk(bench.memory, context, 0x7000'1abc, kRead).fault.reason, FaultReason::not_present);
  EXPECT_EQ(walk(bench.memory, context, 0x8000'0000, kRead).fault.reason, FaultReason::out_of_range);
}

// Gen8 and later: eight bytes; bits above the host address width and bits 11:1 are ignored.
TEST(Walker, TranslatesThroughTheGlobalTableOfGen8AndLater) {
  for (const char* device : {"bdw", "chv", "skl", "icl", "tgl", "dg1"}) {
    SCOPED_TRACE(device);
    Bench bench(device);
    const WalkContext context = context_of(bench, WalkMode::ggtt, kTable, 1 << 20);
    bench.put(kTable + 8 * 0xfffff, 0xffff'ff80'0000'0ffd | 0x7f'1234'5000);
    const WalkResult result = walk(bench.memory, context, 0xffff'ffff, kWrite);
    ASSERT_FALSE(result.fault);
    EXPECT_EQ(result.mapping.address, 0x7f'1234'5000u);
    EXPECT_EQ(walk(bench.memory, context, 0x1'0000'0000, kRead).fault.reason, FaultReason::out_of_range);
  }
}

// The flat per-process table: the same entries, up to 512 pages of them, 2 GB.
TEST(Walker, TranslatesThroughTheFlatPerProcessTable) {
  Bench bench("gm45", 36);
  const WalkContext context = context_of(bench, WalkMode::ppgtt_flat, kTable);
  bench.put32(kTable + 4 * (512 * 1024 - 1), 0x00ff'f0f1);
  const WalkResult result = walk(bench.memory, context, 0x7fff'ffff, kRead);
  ASSERT_FALSE(result.fault);
  EXPECT_EQ(result.mapping.address, 0xf'00ff'f000u);
  EXPECT_EQ(walk(bench.memory, context, 0x8000'0000, kRead).fault.reason, FaultReason::out_of_range);
}

// Gen6: 512 directory entries of 4 MB, tables of 1024 entries.
TEST(Walker, TranslatesThroughTheDirectoryOfGen6) {
  Bench bench("snb", 40);
  constexpr uint64_t kVa = 0x5b3c'9a14;  // directory 16C, table 3C9
  static_assert(kVa >> 22 == 0x16c && ((kVa >> 12) & 0x3ff) == 0x3c9);
  const WalkContext context = context_of(bench, WalkMode::ppgtt_directory, kTable);
  bench.put32(kTable + 4 * 0x16c, 0x0044'4051);         // table at 05'0044'4000
  bench.put32(0x5'0044'4000 + 4 * 0x3c9, 0x7778'8fe1);  // page at FE'7778'8000
  rows::Steps steps;
  const WalkResult result = walk(bench.memory, context, kVa, kWrite, &steps);
  ASSERT_FALSE(result.fault);
  EXPECT_EQ(result.mapping.address, 0xfe'7778'8000u);
  EXPECT_EQ(result.mapping.page_bits, 12);
  EXPECT_EQ(steps.addresses, (std::vector<uint64_t>{kTable + 4 * 0x16c, 0x5'0044'4000 + 4 * 0x3c9}));
  EXPECT_EQ(result.entry_loads, 2);

  EXPECT_EQ(walk(bench.memory, context, 0x8000'0000, kRead).fault.reason, FaultReason::out_of_range);
  const Fault pde = walk(bench.memory, context, kVa ^ 0x40'0000, kRead).fault;
  EXPECT_EQ(pde.reason, FaultReason::not_present);
  EXPECT_EQ(pde.level, 0);
  const Fault pte = walk(bench.memory, context, kVa ^ 0x1000, kRead).fault;
  EXPECT_EQ(pte.reason, FaultReason::not_present);
  EXPECT_EQ(pte.level, 1);
  // A directory with fewer entries.
  WalkContext short_directory = context;
  short_directory.entries = 0x16c;
  EXPECT_EQ(walk(bench.memory, short_directory, kVa, kRead).fault.reason, FaultReason::out_of_range);
}

TEST(Walker, FaultNamesTheLevelAtWhichTheWalkEnded) {
  for (const size_t level : {0u, 1u, 2u, 3u}) {
    SCOPED_TRACE(level);
    Bench bench;
    rows::Chain chain = rows::make_chain(bench, WalkMode::legacy48, rows::Size::k4, rows::kVa48, rows::kRw);
    const uint64_t entry = chain.levels[level].entry & ~rows::kP;
    chain.set(bench, level, entry);
    const WalkResult result = walk(bench.memory, chain.context, rows::kVa48, kWrite);
    EXPECT_EQ(result.fault.reason, FaultReason::not_present);
    EXPECT_EQ(result.fault.level, level);
    EXPECT_EQ(result.fault.entry, entry);
    EXPECT_EQ(result.fault.entry_address, chain.levels[level].entry_address);
    EXPECT_EQ(result.fault.address, rows::kVa48);
    EXPECT_EQ(result.fault.direction, Direction::write);
    EXPECT_FALSE(result.fault.instruction);
    EXPECT_EQ(result.reached_last, level == 3);
    EXPECT_EQ(result.entry_loads, level + 1);
  }
}

TEST(Walker, TablesOutsideMemoryFault) {
  for (const size_t level : {0u, 1u, 2u}) {
    Bench bench;
    bench.memory.remove_all(MemorySpace::system);
    bench.memory.add({MemorySpace::system, MemoryKind::ram, 0, 0x1000'0000, &bench.system});
    rows::Chain chain = rows::make_chain(bench, WalkMode::legacy48, rows::Size::k4, rows::kVa48, rows::kRw);
    chain.set(bench, level, 0x70'0000'0003);
    const Fault fault = walk(bench.memory, chain.context, rows::kVa48, kRead).fault;
    EXPECT_EQ(fault.reason, FaultReason::table_hole);
    EXPECT_EQ(fault.level, level + 1);
  }
  Bench bench;
  bench.memory.remove_all(MemorySpace::system);
  const WalkContext context = context_of(bench, WalkMode::legacy48, 0);
  EXPECT_EQ(walk(bench.memory, context, 0, kRead).fault.reason, FaultReason::table_hole);
}

// All entries of a table point at the table itself: every walk ends after four entries.
TEST(Walker, SelfReferencingTableEndsTheWalk) {
  for (const WalkMode mode : {WalkMode::legacy48, WalkMode::advanced48}) {
    Bench bench;
    for (uint64_t index = 0; index < 512; ++index) {
      bench.put(kTable + 8 * index, kTable | rows::kP | rows::kRw | rows::kUs);
    }
    rows::Steps steps;
    const WalkResult result = walk(bench.memory, context_of(bench, mode, kTable), 0x1234'5678'9abc, kWrite, &steps);
    EXPECT_EQ(result.mapping.address, kTable);
    EXPECT_EQ(steps.addresses.size(), 4u);
  }
}

// A root may be any number: an entry is read at its address, aligned down, and never across a frame.
TEST(Walker, AnyRootIsHarmless) {
  Bench bench;
  for (const uint64_t root : {~uint64_t{0}, ~uint64_t{7}, uint64_t{1} << 63, uint64_t{0xfff}, uint64_t{0x123}}) {
    for (const uint64_t va : {uint64_t{0}, uint64_t{0x7fff'ffff'ffff}, uint64_t{0xffff'ffff'ffff'ffff}}) {
      const WalkResult result = walk(bench.memory, context_of(bench, WalkMode::legacy48, root), va, kRead);
      EXPECT_TRUE(result.fault.reason == FaultReason::table_hole || result.fault.reason == FaultReason::not_present);
    }
  }
}

TEST(Walker, ContinuesFromAPosition) {
  Bench bench;
  const rows::Chain chain = rows::make_chain(bench, WalkMode::legacy48, rows::Size::k4, rows::kVa48, rows::kRw);
  const WalkResult whole = walk(bench.memory, chain.context, rows::kVa48, kRead);
  ASSERT_TRUE(whole.reached_last);
  rows::Steps steps;
  const WalkResult rest = walk_from(bench.memory, chain.context, whole.last, rows::kVa48, kRead, &steps);
  EXPECT_EQ(rest.mapping, whole.mapping);
  EXPECT_EQ(steps.addresses, std::vector<uint64_t>{chain.levels.back().entry_address});
}

TEST(FaultReasons, EveryReasonHasItsOwnName) {
  std::vector<std::string_view> names;
  for (unsigned i = 0; i <= static_cast<unsigned>(FaultReason::update_not_writeback); ++i) {
    const std::string_view name = name_of(static_cast<FaultReason>(i));
    EXPECT_NE(name, "invalid");
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 0) << name;
    names.push_back(name);
  }
}

}  // namespace
}  // namespace halogen::memory
