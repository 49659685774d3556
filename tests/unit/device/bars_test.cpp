// BAR and I/O accesses: sizes, alignment, edges, the GTT part, local memory and the index/data pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "covers.h"
#include "device/device.h"
#include "test_host.h"

namespace halogen::device {
namespace {

class Bars : public ::testing::TestWithParam<const spec::DeviceModel*> {
 protected:
  const spec::DeviceModel& model = *GetParam();
  Bench bench{*GetParam()};
};

TEST_P(Bars, GttStoresEntriesUpToItsEnd) {
  COVERS("DG1-MEM-03");
  Device& device = *bench.device;
  const unsigned entry = Generation(model).ggtt_entry_bytes();
  const uint64_t last = model.gtt_offset + model.gtt_bytes - entry;
  device.bar_write(0, model.gtt_offset, entry, 0x1234'5000'0000'1001);
  device.bar_write(0, last, entry, 0x00ab'c003);
  EXPECT_EQ(device.bar_read(0, model.gtt_offset, entry), entry == 8 ? 0x1234'5000'0000'1001u : 0x1001u);
  EXPECT_EQ(device.bar_read(0, last, entry), 0x00ab'c003u);
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(Bars, InvalidAccessesAreReported) {
  Device& device = *bench.device;
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto bar = static_cast<unsigned>(random() % 7);
    const auto bytes = static_cast<unsigned>(1u << (random() % 4));
    const uint64_t offset = (random() % 3) == 0 ? random() : random() % 0x1'0200'0000;
    const size_t before = bench.events();
    if (random() % 2 == 0) {
      const uint64_t value = device.bar_read(bar, offset, bytes);
      EXPECT_TRUE(bytes == 8 || value >> (8 * bytes) == 0);
    } else {
      device.bar_write(bar, offset, bytes, random());
    }
    const auto model_bar = std::ranges::find(model.bars, bar, &spec::BarModel::index);
    if (model_bar == model.bars.end() || offset >= model_bar->bytes) {
      ASSERT_GT(bench.events(), before);
      ASSERT_EQ(bench.host.log.events().back().kind, EventKind::bad_access);
    }
    bench.host.log.clear();
    bench.enable();
  }
  for (const unsigned bytes : {0u, 3u, 5u, 16u, 0xffff'ffffu}) {
    device.bar_read(0, 0x2000, bytes);
    device.bar_write(0, 0x2000, bytes, 0);
  }
  EXPECT_EQ(bench.events(EventKind::bad_access), 10u);
}

TEST_P(Bars, AccessesPastTheEndOfABarAreRejected) {
  for (const spec::BarModel& bar : model.bars) {
    bench.host.log.clear();
    EXPECT_EQ(bench.device->bar_read(bar.index, bar.bytes - 2, 4), 0xffff'ffffu);
    EXPECT_EQ(bench.device->bar_read(bar.index, ~uint64_t{0}, 8), ~uint64_t{0});
    EXPECT_EQ(bench.events(EventKind::bad_access), 2u);
  }
}

TEST_P(Bars, UnclaimedRegistersReadZeroAndAreReported) {
  COVERS("DG1-MEM-06");
  bench.wake_all();
  bench.host.log.clear();
  const auto map = mmio::RegisterMap::for_device(model);
  size_t tried = 0;
  for (uint32_t offset = 0x40000; offset < model.mmio_bytes && tried < 50; offset += 0x1004) {
    const bool hypervisor = offset >> 12 == 0x178 || offset >> 12 == 0x78;
    if (map->find(offset) != nullptr || hypervisor) {
      continue;
    }
    ++tried;
    bench.write(offset, 0xffff'ffff);
    EXPECT_EQ(bench.read(offset), 0u) << std::hex << offset;
  }
  ASSERT_GT(tried, 10u);
  EXPECT_EQ(bench.events(EventKind::unclaimed_register) + bench.events(EventKind::terminated_access), 2 * tried);
  const FidelityReport report = bench.device->fidelity();
  EXPECT_EQ(report.total(FidelityClass::unsupported), tried);
}

// Word and byte accesses affect only their bytes; forbidden accesses are split and reported.
TEST_P(Bars, PartialAccessesAffectOnlyTheirBytes) {
  COVERS("DG1-MEM-03");
  bench.wake_all();
  const mmio::RegisterSlot* start = bench.device->mmio().bank().map().find("RING_START", "rcs0");
  ASSERT_NE(start, nullptr);
  const uint32_t at = start->offset;
  const uint32_t rw = start->policy.rw;
  bench.write(at, 0xaabb'ccdd);
  bench.device->bar_write(0, at + 2, 2, 0x1122);
  EXPECT_EQ(bench.read(at), 0x1122'ccddu & rw);
  bench.device->bar_write(0, at + 1, 1, 0x33);
  EXPECT_EQ(bench.read(at), 0x1122'33ddu & rw);
  EXPECT_EQ(bench.device->bar_read(0, at + 1, 2), (0x1122'33ddu & rw) >> 8 & 0xffff);
  EXPECT_EQ(bench.device->bar_read(0, at, 1), 0xddu & rw);
}

INSTANTIATE_TEST_SUITE_P(Devices, Bars, ::testing::ValuesIn(every_model()), model_name);

TEST(Dg1Bars, RegisterAccessesAreSplitIntoAlignedDwords) {
  COVERS("DG1-MEM-03");
  Bench bench("dg1");
  bench.wake_all();
  const auto bad = [&] { return bench.events(EventKind::bad_access); };
  // Allowed: 32-bit aligned, at most 32 bits.
  bench.device->bar_read(0, 0x2038, 4);
  bench.device->bar_read(0, 0x2038, 2);
  bench.device->bar_read(0, 0x2038, 1);
  EXPECT_EQ(bad(), 0u);
  // Wider: two dwords, low first.
  bench.device->bar_write(0, 0x2034, 8, 0x7654'3000'0000'0040);
  EXPECT_EQ(bad(), 1u);
  EXPECT_EQ(bench.read(0x2038), 0x7654'3000u);
  EXPECT_EQ(bench.device->bar_read(0, 0x2034, 8) >> 32, 0x7654'3000u);
  EXPECT_EQ(bad(), 2u);
  // Not aligned.
  bench.device->bar_read(0, 0x203a, 2);
  EXPECT_EQ(bad(), 3u);
  EXPECT_EQ(bench.device->bar_read(0, 0x203a, 4) & 0xffff, 0x7654u) << "crosses into the next dword";
  EXPECT_EQ(bad(), 4u);
}

TEST(Dg1Bars, GttAccessesAreSplitIntoAlignedQwords) {
  COVERS("DG1-MEM-03");
  Bench bench("dg1");
  Device& device = *bench.device;
  device.bar_write(0, 0x80'0008, 8, 0x8877'6655'4433'2211);
  EXPECT_EQ(device.bar_read(0, 0x80'0008, 4), 0x4433'2211u) << "less than 64 bits, aligned";
  EXPECT_EQ(bench.events(), 0u);
  EXPECT_EQ(device.bar_read(0, 0x80'000c, 4), 0x8877'6655u) << "performed, but against the rule";
  EXPECT_EQ(bench.events(EventKind::bad_access), 1u);
  EXPECT_EQ(device.bar_read(0, 0x80'0006, 4), 0x2211'0000u);
  EXPECT_EQ(bench.events(EventKind::bad_access), 2u);
}

TEST(Dg1Bars, LocalMemoryBarIsMemory) {
  COVERS("DG1-MEM-02");
  Bench bench("dg1");
  Device& device = *bench.device;
  device.bar_write(2, 0, 8, 0x1122'3344'5566'7788);
  device.bar_write(2, 0xffff'fffc, 4, 0xdead'beef);
  device.bar_write(2, 0x1'0000 - 3, 8, 0x0102'0304'0506'0708);
  EXPECT_EQ(device.bar_read(2, 0, 8), 0x1122'3344'5566'7788u);
  EXPECT_EQ(device.bar_read(2, 3, 2), 0x4455u) << "any size, any alignment";
  EXPECT_EQ(device.bar_read(2, 0xffff'fffc, 4), 0xdead'beefu) << "up to the last of 4 GB";
  EXPECT_EQ(device.bar_read(2, 0x1'0000 - 3, 8), 0x0102'0304'0506'0708u) << "over a page border";
  EXPECT_EQ(device.bar_read(2, 0x8000'0000, 8), 0u);
  EXPECT_LE(device.local_memory().resident_bytes(), 4u * 64 * 1024) << "only written frames";
  EXPECT_EQ(bench.events(), 0u);
}

TEST(Dg1Bars, HypervisorRangeReadsZeroAndIgnoresWrites) {
  COVERS("DG1-MEM-05");
  Bench bench("dg1");
  for (uint32_t offset = 0x178000; offset <= 0x178ffc; offset += 4) {
    bench.write(offset, 0xffff'ffff);
    ASSERT_EQ(bench.read(offset), 0u);
  }
  EXPECT_EQ(bench.events(), 0u) << "documented, so no Event";
}

// i915 looks for a hypervisor there on every chip, including Gen12.
TEST(NullRanges, HypervisorPageReadsZeroOnEveryDevice) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    Bench bench(model);
    bench.write(0x78000, 0xffff'ffff);
    EXPECT_EQ(bench.device->bar_read(0, 0x78000, 4), 0u);
    EXPECT_EQ(bench.events(), 0u) << model.name;
  }
}

TEST(NullRanges, AccessesToThe17RangeHaveNoEffect) {
  COVERS("ICL-AS-07");
  for (const std::string_view name : {"skl", "icl"}) {
    Bench bench(name);
    for (uint32_t offset = 0x170000; offset <= 0x17fffc; offset += 4) {
      bench.write(offset, 0xffff'ffff);
      ASSERT_EQ(bench.read(offset), 0u);
      ASSERT_EQ(bench.device->mmio().bank().find(offset), nullptr) << "no register is at this offset";
    }
    EXPECT_EQ(bench.events(), 0u);
  }
}

TEST(IclBars, RegistersAndTableTakeSixteenMegabytes) {
  COVERS("ICL-AS-02");
  Bench bench("icl");
  Device& device = *bench.device;
  bench.wake_all();
  device.config_write(0x10, 4, 0xffff'ffff);
  EXPECT_EQ(device.config_read(0x10, 4), 0xff00'0004u) << "16 MB, 64 bits, not prefetchable: uncached";
  const auto bad = [&] { return bench.events(EventKind::bad_access); };
  // Registers: 2 MB, naturally aligned, at most 32 bits.
  for (const unsigned bytes : {1u, 2u, 4u}) {
    for (unsigned at = 0; at < 4; at += bytes) {
      device.bar_read(0, 0x2038 + at, bytes);
    }
  }
  EXPECT_EQ(bench.events(), 0u);
  device.bar_read(0, 0x2038, 8);
  device.bar_read(0, 0x2039, 2);
  device.bar_read(0, 0x203a, 4);
  EXPECT_EQ(bad(), 3u);
  // Then 6 MB without registers.
  EXPECT_EQ(device.bar_read(0, 0x20'0000, 4), 0u);
  EXPECT_EQ(device.bar_read(0, 0x7f'fffc, 4), 0u);
  EXPECT_EQ(bench.events(EventKind::unclaimed_register), 2u);
  // The table: 8 MB from offset 8 MB on, naturally aligned, at most one entry.
  bench.host.log.clear();
  device.bar_write(0, 0x80'0000, 8, 0x1001);
  device.bar_write(0, 0xff'fff8, 8, 0x8877'6655'4433'2211);
  for (const unsigned bytes : {1u, 2u, 4u, 8u}) {
    for (unsigned at = 0; at < 8; at += bytes) {
      const uint64_t ones = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
      EXPECT_EQ(device.bar_read(0, 0xff'fff8 + at, bytes), 0x8877'6655'4433'2211 >> 8 * at & ones);
    }
  }
  EXPECT_EQ(device.bar_read(0, 0x80'0000, 8), 0x1001u);
  EXPECT_EQ(bench.events(), 0u);
  device.bar_read(0, 0x80'0004, 8);
  device.bar_read(0, 0x80'0001, 4);
  EXPECT_EQ(bad(), 2u);
}

// Harmless writes of drivers raise no Event.
TEST(QuietWrites, MaskAndStatusWritesRaiseNoEvent) {
  Bench g45("g45");
  g45.write(0x70024, 0x8000'ffff);
  g45.write(0x71024, 0x8000'ffff);
  EXPECT_EQ(g45.events(), 0u);
  Bench snb("snb");
  snb.write(0xa18c, 0x0001'0001);
  EXPECT_EQ(snb.read(0x130090) & 1, 1u);
  snb.write(0xa18c, 0x0001'0000);
  EXPECT_EQ(snb.read(0x130090) & 1, 0u);
  EXPECT_EQ(snb.events(), 0u);
}

TEST(Dg1Bars, RegistersOutsideTheGtNeedNoWakeDomain) {
  COVERS("DG1-MEM-04");
  Bench bench("dg1");
  const auto map = mmio::RegisterMap::for_device(bench.device->model());
  size_t outside = 0;
  for (const mmio::RegisterSlot& slot : map->slots()) {
    const bool gt = slot.offset <= 0x3ffff || (slot.offset >= 0x1c0000 && slot.offset <= 0x23ffff);
    if (!gt) {
      ++outside;
      EXPECT_TRUE(slot.endpoint && slot.read_domains == 0 && slot.write_domains == 0) << slot.desc->name;
      bench.read(slot.offset);
    }
  }
  EXPECT_GT(outside, 50u);
  EXPECT_EQ(bench.events(EventKind::terminated_access), 0u);
}

TEST(Dg1Bars, ReservedAreasOfLocalMemoryArePublished) {
  Bench bench("dg1");
  const auto read64 = [&](uint32_t offset) { return bench.read(offset) | uint64_t{bench.read(offset + 4)} << 32; };
  const uint64_t dsm = read64(0x1080c0) & ~uint64_t{0xf'ffff};
  const uint64_t gsm = read64(0x108100) & ~uint64_t{0xf'ffff};
  const uint64_t wopcm = read64(0x1082c0) & ~uint64_t{0xf'ffff};
  EXPECT_EQ(dsm, 0x1'0000'0000 - bench.device->model().stolen_bytes);
  EXPECT_EQ(gsm, dsm - bench.device->model().gtt_bytes) << "the memory of the table is below";
  EXPECT_GT(wopcm, dsm);
  EXPECT_LT(wopcm, 0x1'0000'0000u);
  EXPECT_NE(bench.read(0x101010) & 0x80u, 0u) << "local memory is ready";
  EXPECT_EQ(bench.events(), 0u);
}

TEST(G45Bars, SixteenBitAccessesAreAllowed) {
  Bench bench("g45");
  bench.device->bar_read(0, 0x10206, 2);
  EXPECT_EQ(bench.events(EventKind::bad_access), 0u);
  bench.device->bar_read(0, 0x2036, 4);
  EXPECT_EQ(bench.events(EventKind::bad_access), 1u) << "crosses a dword";
}

TEST(G45Bars, MmioBlockIs512Kilobytes) {
  for (const std::string_view name : {"i965", "gm965", "g45", "gm45"}) {
    EXPECT_EQ(spec::find_device(name)->mmio_bytes, 512u * 1024);
    Bench bench(name);
    bench.write(0x2038, 0x1234'5000);
    EXPECT_EQ(bench.read(0x2038), 0x1234'5000u);
    EXPECT_EQ(bench.events(), 0u);
  }
}

// The I/O BAR: an index port and a data port, for registers and for the table.
TEST(IoBar, IndexAndDataPortsReachRegistersAndTable) {
  Bench bench("g45");
  Device& device = *bench.device;
  device.config_write(0x20, 4, 0xf100);
  device.io_write(0xf100, 4, 0x2038);
  device.io_write(0xf104, 4, 0x00ab'c000);
  EXPECT_EQ(bench.read(0x2038), 0x00ab'c000u);
  EXPECT_EQ(device.io_read(0xf104, 4), 0x00ab'c000u);
  EXPECT_EQ(device.io_read(0xf106, 2), 0x00abu);
  device.io_write(0xf100, 4, 0x40 | 1);
  device.io_write(0xf104, 4, 0x0123'4001);
  EXPECT_EQ(device.bar_read(0, 0x20'0040, 4), 0x0123'4001u) << "target 1: the table";
  EXPECT_EQ(bench.events(), 0u);
  device.io_write(0xf100, 4, 0x40 | 2);
  EXPECT_EQ(device.io_read(0xf104, 4), 0u);
  device.io_write(0xf100, 4, 0xffff'fffc);
  device.io_write(0xf104, 4, 1);
  device.io_write(0xf100, 4, 0xffff'fffd);
  device.io_write(0xf104, 4, 1);
  EXPECT_GE(bench.events(EventKind::bad_access), 2u);
}

TEST(VgaPorts, RespondAtIoPortsAndAtTheSameMmioOffsets) {
  COVERS("DG1-VGA-01");
  for (const spec::DeviceModel& model : spec::device_models()) {
    Bench bench(model);
    Device& device = *bench.device;
    device.io_write(0x3c4, 1, 2);
    device.io_write(0x3c5, 1, 0x0f);
    EXPECT_EQ(device.bar_read(0, 0x3c4, 1), 2u) << model.name;
    EXPECT_EQ(device.bar_read(0, 0x3c5, 1), 0x0fu);
    device.bar_write(0, 0x3ce, 1, 8);
    device.bar_write(0, 0x3cf, 1, 0xa5);
    EXPECT_EQ(device.io_read(0x3ce, 1), 8u);
    EXPECT_EQ(device.io_read(0x3cf, 1), 0xa5u);
    EXPECT_EQ(device.io_read(0x3ce, 2), 0xa508u) << "index and data as a word";
    EXPECT_EQ(bench.events(), 0u) << model.name;
    device.config_write(4, 2, 2);
    EXPECT_EQ(device.io_read(0x3ce, 1), 0xffu) << "I/O decoding is off";
    EXPECT_EQ(device.bar_read(0, 0x3ce, 1), 8u) << "MMIO is not";
    EXPECT_EQ(device.io_read(0x80, 1), 0xffu);
    EXPECT_EQ(bench.events(EventKind::bad_access), 2u);
  }
}

}  // namespace
}  // namespace halogen::device
