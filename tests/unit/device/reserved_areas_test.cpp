// The reserved areas of DG1's local memory, as firmware publishes them through registers (DG1 PRM vol. 13, "Discrete
// Graphics Memory Map Information", seed 000).
#include <gtest/gtest.h>

#include "covers.h"
#include "memory_bench.h"
#include "test_host.h"

namespace halogen::device {
namespace {

constexpr uint64_t kLocalBytes = uint64_t{4} << 30;
constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(Dg1ReservedAreas, AreasAreInLocalMemoryWithoutOverlap) {
  COVERS("DG1-MEM-01");
  Bench bench("dg1");
  const auto base_at = [&](uint32_t offset) {
    return (bench.read(offset) | uint64_t{bench.read(offset + 4)} << 32) & ~(kMiB - 1);
  };
  const uint64_t dsm = base_at(0x1080c0);    // DSMBASE
  const uint64_t gsm = base_at(0x108100);    // GSMBASE
  const uint64_t wopcm = base_at(0x1082c0);  // STOLEN_RESERVED: the firmware's part of DSM
  EXPECT_NE(dsm, 0u);
  EXPECT_NE(gsm, 0u);
  EXPECT_LT(dsm, kLocalBytes);
  EXPECT_LE(gsm + 8 * kMiB, kLocalBytes) << "the whole table of 8 MiB";
  EXPECT_TRUE(gsm + 8 * kMiB <= dsm || dsm < gsm) << "the table's memory and data stolen memory are apart";
  EXPECT_GE(wopcm, dsm);
  EXPECT_LT(wopcm, kLocalBytes);
  EXPECT_EQ(bench.events(), 0u);

  // GSM holds the global table: an entry written through the table's window is found there, in the low half of the
  // BAR that shows local memory.
  bench.device->bar_write(0, 0x80'0000 + 8 * 5, 8, 0x1234'5001);
  std::vector<std::byte> entry(8);
  EXPECT_TRUE(bench.device->memory().map().physical().read(memory::MemorySpace::local, PhysAddr(gsm + 8 * 5), entry));
  uint64_t value = 0;
  std::memcpy(&value, entry.data(), sizeof value);
  EXPECT_EQ(value, 0x1234'5001u);

  // This chip finds compression data through its auxiliary table, has no flat table, and is not virtualised. The
  // offsets at which later chips publish the flat table (4910) and the local memory translation table have no endpoint.
  EXPECT_EQ(bench.read(0x4910), 0u);
  EXPECT_GT(bench.events(), 0u) << "no endpoint";
}

// GEN6_STOLEN_RESERVED of integrated parts (i915): bit 0 is the enable; the size is in bits 5:4 on Gen6, 0 for 1 MB,
// the most it can say, and in bits 8:7 later, 1 for 2 MB.
TEST(StolenReserved, SizeFieldDependsOnTheGeneration) {
  constexpr uint64_t kBase = 0x7c00'0000;
  const struct {
    const char* device;
    uint32_t low_bits;
  } rows[] = {{"snb", 0x001}, {"bdw", 0x081}, {"skl", 0x081}, {"icl", 0x081}};
  for (const auto& row : rows) {
    MemoryBench bench(row.device, {.stolen_base = kBase});
    const uint64_t end = kBase + bench.model.stolen_bytes;
    EXPECT_EQ(bench.read(0x1082c0), static_cast<uint32_t>(end - 2 * kMiB) | row.low_bits) << row.device;
  }
}

}  // namespace
}  // namespace halogen::device
