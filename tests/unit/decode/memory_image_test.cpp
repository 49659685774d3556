#include "decode/memory_image.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace halogen::decode {
namespace {

using engine::StreamSpace;
using Pool = PagedImage::Pool;

std::span<const std::byte> bytes_of(std::span<const uint32_t> dwords) {
  return std::as_bytes(dwords);
}

void put(PagedImage& image, Pool pool, uint64_t address, std::vector<uint32_t> dwords) {
  image.write(pool, address, bytes_of(dwords));
}
void put_entry(PagedImage& image, Pool pool, uint64_t address, uint64_t entry) {
  put(image, pool, address, {static_cast<uint32_t>(entry), static_cast<uint32_t>(entry >> 32)});
}
uint32_t first(MemoryImage& image, StreamSpace space, uint64_t address) {
  const auto run = image.dwords_at(space, GpuVa{address});
  return run.empty() ? 0xdead'dead : run.front();
}

TEST(FlatImage, ObjectsReadZeroBeyondTheirContent) {
  const std::vector<uint32_t> content{1, 2, 3};
  FlatImage image;
  image.add(GpuVa{0x10000}, 0x4000, content);
  image.add(GpuVa{0xffff'8000'0000'0000}, 0x1000, content);
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0x10008), 3u);
  EXPECT_EQ(first(image, StreamSpace::ggtt, 0x1000c), 0u);
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0x14000), 0xdead'deadu);
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0xfffc), 0xdead'deadu);
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0x8000'0000'0004), 2u) << "addresses are cut to 48 bits";
  std::array<uint32_t, 5> out{9, 9, 9, 9, 9};
  EXPECT_EQ(image.read(StreamSpace::ppgtt, GpuVa{0x10004}, out), 5u);
  EXPECT_EQ(out, (std::array<uint32_t, 5>{2, 3, 0, 0, 0}));
  EXPECT_EQ(image.read(StreamSpace::ppgtt, GpuVa{0x13ff8}, out), 2u);
}

TEST(PagedImage, GlobalTableMapsPages) {
  PagedImage image(*spec::find_device("bdw"));
  const std::array<uint64_t, 2> entries{0x5001, 0x7001};
  image.write_ggtt_entries(0x10, std::as_bytes(std::span(entries)));  // entries 2 and 3
  put(image, Pool::system, 0x5000, {55});
  const std::vector<uint32_t> data{77, 78};
  image.write_ggtt(0x2ffc, bytes_of(data));  // crosses from page 2 to page 3
  EXPECT_EQ(first(image, StreamSpace::ggtt, 0x2000), 55u);
  EXPECT_EQ(first(image, StreamSpace::ggtt, 0x2ffc), 77u);
  EXPECT_EQ(first(image, StreamSpace::ggtt, 0x3000), 78u);
  EXPECT_EQ(first(image, StreamSpace::ggtt, 0x9000), 0xdead'deadu);
  image.write_ggtt(0x9000, bytes_of(data));
  EXPECT_EQ(first(image, StreamSpace::ggtt, 0x9004), 78u) << "without an entry the address is used directly";
}

TEST(PagedImage, FourLevelsOfTablesAreWalked) {
  PagedImage image(*spec::find_device("bdw"));
  constexpr uint64_t kVa = (uint64_t{3} << 39) | (uint64_t{5} << 30) | (uint64_t{7} << 21) | (uint64_t{9} << 12) | 0x10;
  put_entry(image, Pool::system, 0x1000 + 3 * 8, 0x2003);
  put_entry(image, Pool::system, 0x2000 + 5 * 8, 0x3003);
  put_entry(image, Pool::system, 0x3000 + 7 * 8, 0x4003);
  put_entry(image, Pool::system, 0x4000 + 9 * 8, 0x41'0000'5003);
  put(image, Pool::system, 0x41'0000'5010, {1234});
  image.set_root({.valid = true, .mode = memory::WalkMode::legacy48, .pointers = {0x1000}});
  EXPECT_EQ(first(image, StreamSpace::ppgtt, kVa), 1234u);
  EXPECT_EQ(first(image, StreamSpace::ppgtt, kVa + 0x1000), 0xdead'deadu);
  // A 2 MB page: the directory entry is the leaf.
  put_entry(image, Pool::system, 0x3000 + 8 * 8, 0x40'0083);
  put(image, Pool::system, 0x41'2000, {4321});
  EXPECT_EQ(first(image, StreamSpace::ppgtt, (kVa & ~0x1f'ffffull) + 0x20'0000 + 0x1'2000), 4321u);
}

TEST(PagedImage, Pages64KAnd1GAreMapped) {
  PagedImage image(*spec::find_device("icl"));
  put_entry(image, Pool::system, 0x1000, 0x2003);
  put_entry(image, Pool::system, 0x2000, 0x3003);
  put_entry(image, Pool::system, 0x2000 + 1 * 8, 0x1'4000'0083);  // a 1 GB page
  put_entry(image, Pool::system, 0x3000, 0x4803);                 // 64 KB pages below
  put_entry(image, Pool::system, 0x4000 + 16 * 8, 0x7'0003);      // the first entry of sixteen counts
  put(image, Pool::system, 0x7'3004, {64});
  put(image, Pool::system, 0x1'4567'8000, {1024});
  image.set_root({.valid = true, .mode = memory::WalkMode::legacy48, .pointers = {0x1000}});
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0x1'3004), 64u);
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0x4567'8000), 1024u);
  EXPECT_EQ(image.walk(StreamSpace::ppgtt, GpuVa{0x1'3004}).mapping.page_bits, 16);
  EXPECT_EQ(image.walk(StreamSpace::ppgtt, GpuVa{0x4567'8000}).mapping.page_bits, 30);
}

TEST(PagedImage, TablesAreInLocalMemoryOnlyIfEnabled) {
  PagedImage image(*spec::find_device("dg1"));
  for (const Pool pool : {Pool::system, Pool::local}) {
    put_entry(image, pool, 0x1000, 0x2003);
    put_entry(image, pool, 0x2000, 0x3003);
    put_entry(image, pool, 0x3000, 0x4003);
    put_entry(image, pool, 0x4000, pool == Pool::local ? 0x6803 : 0x7003);
  }
  put(image, Pool::system, 0x7000, {1});
  put(image, Pool::local, 0x6000, {2});
  image.set_root({.valid = true, .mode = memory::WalkMode::legacy48, .pointers = {0x1000}});
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0), 1u);
  image.set_tables_in_local_memory(true);
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0), 2u);
}

TEST(PagedImage, HolesAndHighAddressesUseNoMemory) {
  PagedImage image(*spec::find_device("bdw"));
  put_entry(image, Pool::system, 0x1000 + 511 * 8, 0x2003);
  put_entry(image, Pool::system, 0x2000, 0x3003);
  put_entry(image, Pool::system, 0x3000, 0x4003);
  put_entry(image, Pool::system, 0x4000, 0x9003);
  put(image, Pool::system, 0x9000, {5});
  image.set_root({.valid = true, .mode = memory::WalkMode::legacy48, .pointers = {0x1000}});
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0xff80'0000'0000), 5u) << "addresses of 48 bits are made canonical";
  EXPECT_EQ(image.walk(StreamSpace::ppgtt, GpuVa{0xff80'0000'1000}).fault.reason, memory::FaultReason::not_present);
  image.set_root({.valid = true, .mode = memory::WalkMode::legacy48, .pointers = {0x77'0000'0000}});
  EXPECT_EQ(image.walk(StreamSpace::ppgtt, GpuVa{0}).fault.reason, memory::FaultReason::table_hole);
  image.set_root({.valid = true, .mode = memory::WalkMode::advanced48, .pointers = {0x1000}});
  EXPECT_EQ(image.walk(StreamSpace::ppgtt, GpuVa{0}).fault.reason, memory::FaultReason::table_disabled);
}

TEST(PagedImage, ThreeLevelWalkHasFourPointersAndFourGigabytes) {
  PagedImage image(*spec::find_device("bdw"));
  put_entry(image, Pool::system, 0x3000 + 1 * 8, 0x4003);
  put_entry(image, Pool::system, 0x4000 + 2 * 8, 0x5003);
  put(image, Pool::system, 0x5000, {42});
  image.set_root({.valid = true, .mode = memory::WalkMode::legacy32, .pointers = {0, 0, 0x3000, 0}});
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0x8000'0000u + (1u << 21) + (2u << 12)), 42u);
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0x1'8000'0000u + (1u << 21) + (2u << 12)), 0xdead'deadu);
}

TEST(PagedImage, LocalAndSystemPagesAreSeparate) {
  PagedImage image(*spec::find_device("dg1"));
  put(image, Pool::system, 0x6000, {1});
  put(image, Pool::local, 0x6000, {2});
  image.set_tables_in_local_memory(true);
  put_entry(image, Pool::local, 0x1000, 0x2003);  // tables in local memory, without a local bit
  put_entry(image, Pool::local, 0x2000, 0x3003);
  put_entry(image, Pool::local, 0x3000, 0x4003);
  put_entry(image, Pool::local, 0x4000, 0x6003);
  put_entry(image, Pool::local, 0x4008, 0x6803);
  image.set_root({.valid = true, .mode = memory::WalkMode::legacy48, .pointers = {0x1000}});
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0x0000), 1u);
  EXPECT_EQ(first(image, StreamSpace::ppgtt, 0x1000), 2u);
}

// One trace writer uses the same local addresses twice: for objects of the global table and for ordinary pages.
TEST(PagedImage, GlobalTableObjectsKeepTheirContentWhenPagesReuseTheirAddress) {
  PagedImage image(*spec::find_device("dg1"));
  const std::array<uint64_t, 1> entry{0x6003};
  image.write_ggtt_entries(6 * 8, std::as_bytes(std::span(entry)));
  const std::vector<uint32_t> object{0x0b7ec7};
  const std::vector<uint32_t> page{0xda7a};
  image.write_local(0x6000, bytes_of(object));
  const std::vector<uint32_t> table_entry{0x6803, 0};
  image.write_local(0x40'0000'0000, bytes_of(table_entry));
  image.write_local(0x6000, bytes_of(page));
  EXPECT_EQ(first(image, StreamSpace::ggtt, 0x6000), 0x0b7ec7u);
  EXPECT_EQ(image.dwords_at(StreamSpace::ggtt, GpuVa{0x6000}).size(), PagedImage::kPageDwords);
  const std::vector<uint32_t> tail{0x18};
  image.write_local(0x8000, bytes_of(tail));  // not in the global table: an ordinary page
  const std::vector<uint32_t> head{0x20};
  image.write_ggtt(0x6000, bytes_of(head));
  EXPECT_EQ(first(image, StreamSpace::ggtt, 0x6000), 0x20u);
}

}  // namespace
}  // namespace halogen::decode
