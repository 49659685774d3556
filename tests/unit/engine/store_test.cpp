// Commands that write memory: immediate data, status pages, copies, page table entries.
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "covers.h"
#include "mi_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kHwsPga = 0x80;
constexpr uint32_t kUntouched = 0xeeee'eeee;

// Fills memory with a value that no report holds.
void fill(MiBench& bench, uint64_t data, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += 4) {
    bench.poke(data + at, kUntouched);
  }
}

class StoreTest : public ::testing::TestWithParam<const char*> {};

TEST_P(StoreTest, StoreDataImmWritesADwordOrAQword) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.poke(data + 0x44, 0x5555'5555);
  bench.go(bench.store(data + 0x40, 0xcafe'1234));
  EXPECT_EQ(bench.peek(data + 0x40), 0xcafe'1234u);
  EXPECT_EQ(bench.peek(data + 0x44), 0x5555'5555u);
  // A qword store is one dword longer; from Gen8 on bit 21 is set too.
  Dwords qword = bench.store(data + 0x80, 0x0101'0101) + Dwords{0x0202'0202};
  qword[0] += 1;
  qword[0] |= bench.wide() ? 1u << 21 : 0;
  bench.go(qword);
  EXPECT_EQ(bench.peek64(data + 0x80), 0x0202'0202'0101'0101u);
  EXPECT_EQ(bench.undefined(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, StoreTest,
                         ::testing::Values("i965", "gm965", "g45", "gm45", "snb", "bdw", "chv", "skl", "icl", "tgl",
                                           "dg1"));

class WideStoreTest : public ::testing::TestWithParam<const char*> {};

// Linux fills page tables with this form: the length field has ten bits.
TEST_P(WideStoreTest, OneCommandStoresManyDwords) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(2);
  const uint64_t first = data + 4096 - 8 * 4;  // crosses a page boundary
  Dwords command = bench.store(first, 1);
  for (uint32_t i = 1; i < 300; ++i) {
    command.push_back(i * i + 1);
  }
  command[0] = 0x1040'0000 | static_cast<uint32_t>(command.size() - 2);
  bench.go(command);
  for (uint32_t i = 0; i < 300; ++i) {
    ASSERT_EQ(bench.peek(first + 4 * i), i * i + 1) << i;
  }
  EXPECT_EQ(bench.peek(first + 4 * 300), 0u);
}

TEST_P(WideStoreTest, CopyMemMemCopiesOneDword) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.poke64(data, 0x9999'8888'1234'5678);
  bench.go(Dwords{0x1760'0003} + bench.at(data + 0x100) + bench.at(data));
  EXPECT_EQ(bench.peek64(data + 0x100), 0x1234'5678u);
}

// The report holds its id and the time. While counters are disabled the counters are zero; Gen12 then has the largest
// format, because drivers look at all of it.
TEST_P(WideStoreTest, ReportPerfCountWritesIdAndTime) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  fill(bench, data, 512);
  bench.go(Dwords{0x1400'0002, low(data) | 1, high(data), 0x7777'0001});
  EXPECT_EQ(bench.peek(data), 0x7777'0001u);
  EXPECT_LT(bench.peek(data + 12), 1000u) << "the clock";
  for (uint64_t counter = 16; counter < 64; counter += 4) {
    EXPECT_EQ(bench.peek(data + counter), 0u) << counter;
  }
  const bool per_context = GetParam() == std::string_view("tgl") || GetParam() == std::string_view("dg1");
  EXPECT_EQ(bench.peek(data + 64), per_context ? 0u : kUntouched);
  EXPECT_EQ(bench.peek(data + 256), kUntouched);
}

// Sizes of Linux's i915_perf.c. A select without a format has the smallest one.
TEST_P(WideStoreTest, ReportPerfCountHasTheSizeOfTheSelectedFormat) {
  constexpr std::array<uint32_t, 8> kBytes{64, 64, 128, 64, 64, 256, 64, 64};
  for (uint32_t select = 0; select < kBytes.size(); ++select) {
    MiBench bench(GetParam());
    const uint64_t data = bench.allocate(1);
    fill(bench, data, 512);
    const bool per_context = GetParam() == std::string_view("tgl") || GetParam() == std::string_view("dg1");
    if (per_context) {
      bench.go(MiBench::load(0x2244, 0x0100'0100));  // the running context has counters
    }
    bench.go(per_context ? MiBench::load(0x2960, select << 1 | 1) : MiBench::load(0x2b00, select << 2));
    bench.go(Dwords{0x1400'0002, low(data) | 1, high(data), 0x7777'0001});
    EXPECT_EQ(bench.peek(data + kBytes[select] - 4), 0u) << select;
    EXPECT_EQ(bench.peek(data + kBytes[select]), kUntouched) << select;
  }
}

TEST(SnbStore, ReportPerfCountWritesOneLine) {
  MiBench bench("snb");
  const uint64_t data = bench.allocate(1);
  fill(bench, data, 128);
  bench.go(Dwords{0x1400'0001, low(data) | 1, 0x7777'0001});
  EXPECT_EQ(bench.peek(data), 0x7777'0001u);
  EXPECT_EQ(bench.peek(data + 8), 0u);
  EXPECT_EQ(bench.peek(data + 60), 0u);
  EXPECT_EQ(bench.peek(data + 64), kUntouched);
}

// The page number is the index of the entry. The cached translation of the page is dropped.
TEST_P(WideStoreTest, UpdateGttChangesTheEntryAndDropsItsTranslation) {
  MiBench bench(GetParam());
  const uint64_t page = bench.allocate(1);
  const uint64_t other = bench.allocate(2);
  const uint64_t entry = bench.pte(EngineBench::host_address(other));
  const uint64_t next = bench.pte(EngineBench::host_address(other + 4096));
  bench.go(bench.store(page + 8, 1) +  // the translation is in use
           Dwords{0x1180'0004, low(page), low(entry), high(entry), low(next), high(next)} + bench.store(page + 8, 2) +
           bench.store(page + 4096 + 8, 3));
  EXPECT_EQ(bench.entry(page / 4096), entry);
  EXPECT_EQ(bench.entry(page / 4096 + 1), next);
  EXPECT_EQ(bench.peek(page + 8), 1u);
  EXPECT_EQ(bench.peek(other + 8), 2u);
  EXPECT_EQ(bench.peek(other + 4096 + 8), 3u);
}

// Line and half-line masks have no visible effect: the model has no write-back cache in front of memory.
TEST_P(WideStoreTest, CacheLineFlushHasNoVisibleEffect) {
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.go(bench.store(data, 7) + Dwords{0x13c0'0002, low(data), high(data), 0xffff'ffff} + bench.store(data + 4, 8));
  EXPECT_EQ(bench.peek64(data), 0x8'0000'0007u);
}

INSTANTIATE_TEST_SUITE_P(Chips, WideStoreTest, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"));

TEST(IclUpdateGtt, PageAddressBecomesTheIndexOfAQword) {
  COVERS("ICL-WALK-02");
  MiBench bench("icl");
  const uint64_t page = 0x0123'4000;  // bits 31:12 move to 22:3
  const uint64_t entry = 0x0000'0012'3456'7001;
  bench.go({0x1180'0002, low(page), low(entry), high(entry)});
  EXPECT_EQ(bench.device->bar_read(0, bench.model.gtt_offset + (page >> 12 << 3), 8), entry);
}

class EarlyStoreTest : public ::testing::TestWithParam<const char*> {};

// Physical addresses have 36 bits: the extension is in dword 1.
TEST_P(EarlyStoreTest, StoresToPhysicalAddresses) {
  COVERS("G45-1.16-06");  // the CPU sees the written value
  MiBench bench(GetParam());
  bench.host.top = uint64_t{1} << 36;
  const uint64_t below = 0x2345'6780;
  const uint64_t above = 0x3'2345'6780;
  bench.go({0x1000'0002, 0, low(below), 0x1111});
  bench.go({0x1000'0003, high(above), low(above), 0x2222, 0x3333});
  EXPECT_EQ(bench.host.value_at<uint32_t>(below), 0x1111u);
  EXPECT_EQ(bench.host.value_at<uint64_t>(above), 0x3333'0000'2222u);
}

TEST_P(EarlyStoreTest, LengthSelectsADwordOrAQword) {
  COVERS("G45-1.16-01");
  COVERS("G45-3.5-01");
  MiBench bench(GetParam());
  bench.host.top = uint64_t{1} << 36;
  const uint64_t data = bench.allocate(1);
  const uint64_t physical = 0x1'0000'4440;
  bench.go({0x1040'0002, 0, low(data), 0xa1});
  bench.go({0x1060'0002, 0, low(data + 16), 0xa2});  // global table
  bench.go({0x1040'0003, 0, low(data + 32), 0xa3, 0xa4});
  bench.go({0x1000'0003, 1, low(physical), 0xa5, 0xa6});
  EXPECT_EQ(bench.peek64(data), 0xa1u);
  EXPECT_EQ(bench.peek64(data + 16), 0xa2u);
  EXPECT_EQ(bench.peek64(data + 32), 0xa4'0000'00a3u);
  EXPECT_EQ(bench.host.value_at<uint64_t>(physical), 0xa6'0000'00a5u);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(EarlyStoreTest, MisalignedQwordIsReported) {
  COVERS("G45-1.16-02");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.go({0x1040'0003, 0, low(data + 4), 1, 2});
  EXPECT_EQ(bench.undefined(), 1u);
}

// Entry types: 0 not snooped, 3 snooped. Both may be written.
TEST_P(EarlyStoreTest, StoresToSnoopedAndUnsnoopedPages) {
  COVERS("G45-3.5-03");
  MiBench bench(GetParam());
  const uint64_t data = bench.allocate(2);
  bench.set_entry(data / 4096 + 1, bench.entry(data / 4096 + 1) | 3u << 1);
  bench.go(bench.store(data, 1) + bench.store(data + 4096, 2));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4096), 2u);
  EXPECT_TRUE(bench.host.log.events().empty());
}

INSTANTIATE_TEST_SUITE_P(Chips, EarlyStoreTest, ::testing::Values("i965", "gm965", "g45", "gm45"));

class IndexTest : public ::testing::TestWithParam<const char*> {};

// The page has a physical address on Gen4 and a global graphics address later.
TEST_P(IndexTest, StoresAtAnOffsetInTheStatusPage) {
  COVERS("G45-1.17-01");
  COVERS("G45-1.17-03");
  COVERS("G45-3.6-01");
  MiBench bench(GetParam());
  const uint64_t page = bench.allocate(1);
  const bool physical = bench.model.gen == spec::GenId::gen4;
  const bool far = bench.model.gen == spec::GenId::gen6;
  bench.set_reg("rcs0", far ? 0x2080 : kHwsPga, low(physical ? EngineBench::host_address(page) : page));
  bench.go({0x1080'0001, 16 << 2, 0x1234});
  bench.go({0x1080'0002, 1022 << 2, 0x5678, 0x9abc});
  EXPECT_EQ(bench.peek64(page + 64), 0x1234u);
  EXPECT_EQ(bench.peek64(page + 1022 * 4), 0x9abc'0000'5678u);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(IndexTest, ReservedDwordsAreReported) {
  COVERS("G45-1.17-02");
  COVERS("G45-2.10-03");
  MiBench bench(GetParam());
  const uint64_t page = bench.allocate(1);
  bench.set_reg("rcs0", kHwsPga, low(page));
  bench.go({0x1080'0001, 15 << 2, 0x1234});
  EXPECT_EQ(bench.undefined(), 1u);
}

TEST_P(IndexTest, StoresToTheProbeListAreReported) {
  MiBench bench(GetParam());
  if (!bench.is_gen4()) {
    GTEST_SKIP() << "only Gen4 chips give bit 22 a meaning";
  }
  COVERS("G45-3.6-02");
  const uint64_t page = bench.allocate(1);
  bench.set_reg("rcs0", kHwsPga, low(page));
  bench.go({0x1080'0001 | 1u << 22, 16 << 2, 0x1234});
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.peek(page + 64), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, IndexTest, ::testing::Values("i965", "gm965", "g45", "snb"));

TEST(WideIndex, StoresInTheGlobalStatusPage) {
  for (const char* name : {"bdw", "skl", "icl", "tgl", "dg1"}) {
    MiBench bench(name);
    const uint64_t page = bench.allocate(1);
    bench.set_reg("rcs0", kHwsPga, low(page));
    bench.go({0x1080'0002, 0x40 << 2, 0x5678, 0x9abc});
    EXPECT_EQ(bench.peek64(page + 0x100), 0x9abc'0000'5678u) << name;
  }
}

}  // namespace
}  // namespace halogen
