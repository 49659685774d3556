// Memory that belongs to the device: the stolen range of integrated chips, local memory of the discrete chip.
#include <gtest/gtest.h>

#include "covers.h"
#include "memory_bench.h"

namespace halogen::device {
namespace {

constexpr uint64_t kMiB = 1024 * 1024;
constexpr uint64_t kStolenBase = 0x7c00'0000;

class StolenTest : public ::testing::TestWithParam<const spec::DeviceModel*> {
 protected:
  MemoryBench bench{*GetParam(), {.stolen_base = kStolenBase}};
  uint64_t gsm() const { return kStolenBase - bench.model.gtt_bytes; }
};

TEST_P(StolenTest, CpuReachesStolenMemoryOnlyThroughTheAperture) {
  bench.host.put<uint32_t>(kStolenBase + 0x5000, 0x1111'1111);  // the host's memory below is hidden
  bench.map(0, kStolenBase + 0x5000);
  bench.map(1, kStolenBase + bench.model.stolen_bytes - 3 * kMiB);
  EXPECT_EQ(bench.aperture(0), 0u);
  bench.put_aperture(0, 0x2222'2222);
  bench.put_aperture(0x1004, 0x3333'3333);
  EXPECT_EQ(bench.aperture(0), 0x2222'2222u);
  EXPECT_EQ(bench.host.value_at<uint32_t>(kStolenBase + 0x5000), 0x1111'1111u);
  EXPECT_EQ(bench.engine_reads(memory::Stream::sampler, 0x1004, memory::TableKind::global), 0x3333'3333u)
      << "direct engine access";
  EXPECT_EQ(bench.events(), 0u);
  // The query of a front end that routes CPU accesses.
  Device& device = *bench.device;
  EXPECT_TRUE(device.closes_memory(PhysAddr(kStolenBase)));
  EXPECT_TRUE(device.closes_memory(PhysAddr(kStolenBase + bench.model.stolen_bytes - 1)));
  EXPECT_TRUE(device.closes_memory(PhysAddr(gsm())));
  EXPECT_FALSE(device.closes_memory(PhysAddr(gsm() - 1)));
  EXPECT_FALSE(device.closes_memory(PhysAddr(kStolenBase + bench.model.stolen_bytes)));
  EXPECT_EQ(device.closed_read(PhysAddr(kStolenBase), 4), 0xffff'ffffu);
  device.closed_write(PhysAddr(kStolenBase), 4, 1);
  EXPECT_EQ(bench.events(EventKind::bad_access), 2u);
}

TEST_P(StolenTest, TableMemoryIsAccessibleOnlyThroughItsAlias) {
  COVERS("ICL-AS-03");
  const unsigned bytes = bench.entry_bytes();
  bench.map(0, gsm());  // the page with the first entries, including this one
  bench.map(2, 0x1000);
  const uint64_t second = bench.entry(2);
  bench.put_aperture(2 * bytes, 0xffff'ffff);
  EXPECT_EQ(bench.entry(2), second);
  EXPECT_EQ(bench.aperture(2 * bytes), 0u);
  EXPECT_EQ(bench.events(EventKind::bad_access), 2u);
  EXPECT_EQ(bench.entry(2), bench.pte(0x1000)) << "the alias reads it";
  bench.map(2, 0x2000);
  EXPECT_EQ(bench.entry(2), bench.pte(0x2000)) << "and writes it";
  bench.host.put<uint64_t>(gsm() + 2 * bytes, 0);
  EXPECT_EQ(bench.entry(2), bench.pte(0x2000)) << "host memory at this address is separate";
  EXPECT_EQ(bench.engine_reads(memory::Stream::blit, 2 * bytes, memory::TableKind::global),
            static_cast<uint32_t>(bench.pte(0x2000)))
      << "engines access the memory directly";
}

TEST_P(StolenTest, ContentSurvivesResetsAndSnapshots) {
  Device& device = *bench.device;
  bench.map(0, kStolenBase + 0x5000);
  bench.put_aperture(0, 0x1234);
  device.reset(ResetKind::function_level);
  bench.enable();
  bench.wake_all();
  if (bench.is_gen4()) {
    bench.enable_table();
  }
  EXPECT_EQ(bench.aperture(0), 0x1234u) << "table and data";
  device.reset(ResetKind::power_on);
  bench.enable();
  EXPECT_EQ(bench.entry(0), 0u);
}

INSTANTIATE_TEST_SUITE_P(Devices, StolenTest, ::testing::ValuesIn(models_with_aperture()), model_name);

TEST(GttStolen, TableHasTheSelectedSizeAndLocation) {
  COVERS("ICL-AS-04");
  for (const uint64_t megabytes : {1u, 2u, 4u, 8u}) {
    const uint64_t bytes = megabytes * kMiB;
    MemoryBench bench("icl", {.gtt_bytes = bytes, .stolen_base = kStolenBase});
    const uint64_t base = bench.read(0x108100) & ~0xf'ffffu;
    EXPECT_EQ(base, kStolenBase - bytes);
    EXPECT_EQ(bench.device->config_read(0x50, 2) >> 6 & 3, static_cast<unsigned>(std::countr_zero(megabytes)));
    const uint64_t last = bytes / 8 - 1;
    bench.map(last, 0x4000);
    bench.map(0, base + bytes - 4096);
    EXPECT_TRUE(bench.device->closes_memory(PhysAddr(base)));
    EXPECT_TRUE(bench.device->closes_memory(PhysAddr(base + bytes - 1)));
    // The table is in that memory: an engine and the display read the last entry from its last page.
    EXPECT_EQ(bench.engine_reads(memory::Stream::blit, 0xff8, memory::TableKind::global), 0x4001u);
    EXPECT_EQ(bench.device->memory().external_space(memory::Stream::display_a).load_value<uint64_t>(GpuVa(0xff8)),
              0x4001u);
    EXPECT_EQ(bench.events(), 0u);
    bench.device->bar_read(0, 0x80'0000 + bytes - 8, 8);
    EXPECT_EQ(bench.events(), 0u);
    if (megabytes < 8) {
      bench.device->bar_write(0, 0x80'0000 + bytes, 8, 1);
      EXPECT_EQ(bench.events(EventKind::bad_access), 1u) << "beyond the table";
    }
  }
}

TEST(DataStolen, SizeIsSelectedInStepsOf32Megabytes) {
  COVERS("ICL-AS-05");
  for (const uint64_t steps : {0u, 1u, 2u, 3u, 17u, 64u, 127u, 128u}) {
    const uint64_t bytes = steps * 32 * kMiB;
    MemoryBench bench("icl", {.stolen_bytes = bytes, .stolen_base = uint64_t{0x1'0000'0000}});
    EXPECT_EQ(bench.device->config_read(0x50, 2) >> 8, steps) << "GMS";
    EXPECT_EQ(bench.read(0x108040) >> 8 & 0xff, steps);
    EXPECT_EQ(bench.device->closes_memory(PhysAddr(0x1'0000'0000)), steps != 0);
    EXPECT_EQ(bench.device->closes_memory(PhysAddr(0x1'0000'0000 + bytes)), false);
    if (steps == 0) {
      continue;
    }
    EXPECT_TRUE(bench.device->closes_memory(PhysAddr(0x1'0000'0000 + bytes - 1)));
    bench.map(0, 0x1'0000'0000 + 0x1000);
    bench.map(1, 0x1'0000'0000 + bytes - 0x1000);
    bench.put_aperture(8, 1);
    bench.put_aperture(0x1ffc, 2);
    EXPECT_EQ(bench.aperture(8), 1u);
    EXPECT_EQ(bench.aperture(0x1ffc), 2u);
    EXPECT_EQ(bench.events(), 0u);
    bench.map(0, 0x1'0000'0000);
    bench.put_aperture(8, 3);
    EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u) << "the first page is reserved for hardware";
  }
}

TEST(DataStolen, InvalidStolenBaseIsRefused) {
  TestHost host;
  const spec::DeviceModel& icl = *spec::find_device("icl");
  EXPECT_FALSE(Device::create(icl, host, {.stolen_base = 0x1000}).ok());
  EXPECT_FALSE(Device::create(icl, host, {.stolen_base = 0x10'0000}).ok()) << "no room for the table below";
  EXPECT_FALSE(Device::create(icl, host, {.stolen_base = uint64_t{1} << 39}).ok());
  EXPECT_FALSE(Device::create(*spec::find_device("dg1"), host, {.stolen_base = 0x7c00'0000}).ok());
}

TEST(LocalMemory, BarTableAndEnginesSeeTheSameBytes) {
  MemoryBench bench("dg1");
  Device& device = *bench.device;
  bench.map(0, 0x12'3000, /*local=*/true);
  bench.map(1, 0x12'3000, /*local=*/false);
  device.bar_write(2, 0x12'3010, 4, 0xabcd);
  bench.host.put<uint32_t>(0x12'3010, 0x1234);
  EXPECT_EQ(bench.engine_reads(memory::Stream::blit, 0x10, memory::TableKind::global), 0xabcdu);
  EXPECT_EQ(bench.engine_reads(memory::Stream::blit, 0x1010, memory::TableKind::global), 0x1234u)
      << "the bit of the entry selects the memory";
  memory::AddressSpace& blit = device.space(0, memory::Stream::blit, memory::TableKind::global);
  EXPECT_TRUE(ok(blit.store_value<uint32_t>(GpuVa(0x14), 5)));
  EXPECT_EQ(device.bar_read(2, 0x12'3014, 4), 5u);
  // The table is in local memory, accessible through its alias but not through the BAR.
  const uint64_t gsm = bench.read(0x108100) & ~0xf'ffffu;
  EXPECT_EQ(device.bar_read(2, gsm, 8), 0x12'3003u);
  device.bar_write(2, gsm, 8, 0);
  EXPECT_EQ(bench.entry(0), 0x12'3003u);
  EXPECT_EQ(bench.events(EventKind::bad_access), 1u);
  std::vector<std::byte> block(0x3000, std::byte{0xff});
  EXPECT_TRUE(device.bar_write_block(2, gsm - 0x1000, block));
  EXPECT_EQ(device.bar_read(2, gsm - 8, 8), ~uint64_t{0});
  EXPECT_EQ(bench.entry(0), 0x12'3003u);
}

TEST(LocalMemory, TranslationsSurviveSnapshots) {
  MemoryBench bench("dg1");
  Device& device = *bench.device;
  bench.map(0, 0x40'0000, true);
  device.bar_write(2, 0x40'0000, 4, 1);
  memory::AddressSpace& space = device.space(0, memory::Stream::blit, memory::TableKind::global);
  const std::byte* before = space.view(GpuVa(0), {}).bytes.data();
  const DeviceState saved = device.snapshot();
  device.bar_write(2, 0x40'0000, 4, 2);
  device.bar_write(2, 0x50'0000, 4, 3);
  bench.map(0, 0x50'0000, true);
  EXPECT_EQ(space.load_value<uint32_t>(GpuVa(0)), 3u);
  device.restore(saved);
  EXPECT_EQ(space.load_value<uint32_t>(GpuVa(0)), 1u) << "translations are restored";
  EXPECT_EQ(space.view(GpuVa(0), {}).bytes.data(), before);
  EXPECT_EQ(device.bar_read(2, 0x50'0000, 4), 0u);
  EXPECT_EQ(device.snapshot(), saved);
}

}  // namespace
}  // namespace halogen::device
