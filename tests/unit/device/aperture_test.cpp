// The aperture: from an offset in the BAR to memory, through fences and the global table.
#include <gtest/gtest.h>

#include <random>

#include "covers.h"
#include "memory_bench.h"

namespace halogen::device {
namespace {

class ApertureTest : public ::testing::TestWithParam<const spec::DeviceModel*> {
 protected:
  MemoryBench bench{*GetParam()};
};

TEST_P(ApertureTest, ApertureAccessesReachHostMemory) {
  COVERS("ICL-AS-01");
  bench.map(0, 0x12'3000);
  bench.map(1, 0x7'8000);
  bench.map(0xffff, 0xffff'f000);  // the last page of 256 MB
  bench.put_aperture(0x10, 0xdead'beef);
  bench.put_aperture(0x1ffc, 0x1234'5678);
  bench.put_aperture(0xfff'fffc, 0x8765'4321);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x12'3010), 0xdead'beefu);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x7'8ffc), 0x1234'5678u);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0xffff'fffc), 0x8765'4321u);
  bench.host.put<uint32_t>(0x7'8004, 42);
  EXPECT_EQ(bench.aperture(0x1004), 42u) << "read in place: no copy is kept";
  // Across a page boundary the two halves go to two pages.
  bench.device->bar_write(2, 0xffc, 8, 0x8877'6655'4433'2211);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x12'3ffc), 0x4433'2211u);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x7'8000), 0x8877'6655u);
  EXPECT_EQ(bench.device->bar_read(2, 0xffd, 2), 0x3322u);
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(ApertureTest, HighAddressesReachHighMemory) {
  bench.host.top = uint64_t{1} << 36;
  bench.map(3, 0xa'1234'5000);
  bench.put_aperture(0x3008, 77);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0xa'1234'5008), 77u);
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(ApertureTest, InvalidEntryIsAnErrorWithoutEffect) {
  bench.host.put<uint32_t>(0, 0x1111'1111);
  EXPECT_EQ(bench.aperture(0x5000), 0u);
  bench.put_aperture(0x5000, 5);
  EXPECT_EQ(bench.events(EventKind::fault), 2u);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0), 0x1111'1111u);
  bench.map(5, uint64_t{1} << 34);  // valid, but outside of host memory
  bench.host.log.clear();
  EXPECT_EQ(bench.aperture(0x5000), 0u);
  EXPECT_EQ(bench.events(EventKind::fault), 1u);
  EXPECT_EQ(bench.host.log.events().back().item, "page outside memory");
}

// Every entry write affects the next access: writes to the table are tracked.
TEST_P(ApertureTest, ChangedEntryAffectsTheNextAccess) {
  bench.host.put<uint32_t>(0x1000, 1);
  bench.host.put<uint32_t>(0x2000, 2);
  memory::AddressSpace& engine = bench.device->space(0, memory::Stream::batch, memory::TableKind::global);
  for (int round = 0; round < 3; ++round) {
    bench.map(9, 0x1000);
    EXPECT_EQ(bench.aperture(0x9000), 1u);
    EXPECT_EQ(engine.load_value<uint32_t>(GpuVa(0x9000)), 1u);
    bench.map(9, 0x2000);
    EXPECT_EQ(bench.aperture(0x9000), 2u);
    EXPECT_EQ(engine.load_value<uint32_t>(GpuVa(0x9000)), 2u);
    bench.set_entry(9, 0);
    EXPECT_EQ(bench.aperture(0x9000), 0u);
  }
  EXPECT_EQ(bench.events(EventKind::fault), 3u);
}

// X and Y fences over scattered pages: the fence is applied first, then the table.
TEST_P(ApertureTest, FencesTileCpuAccesses) {
  COVERS("G45-4.3-01");
  COVERS("G45-4.5.3-06");  // flat memory: the formulas below fold no other bit into bit 6
  constexpr uint64_t kBase = 0x40'0000;
  constexpr uint64_t kPages = 64;
  std::mt19937_64 random(11);
  std::vector<uint64_t> frames;
  for (uint64_t i = 0; i < kPages; ++i) {
    frames.push_back((0x100 + i * 37 % 64) << 12);  // a permutation: 37 and 64 have no common divisor
    bench.map((kBase >> 12) + i, frames.back());
  }
  const auto behind = [&](uint64_t offset) { return frames[offset / 4096] + offset % 4096; };
  for (const bool y_walk : {false, true}) {
    for (const uint32_t pitch : {512u, 1024u, 2048u, 4096u}) {
      bench.set_fence(3, kBase, (kBase >> 12) + kPages - 1, pitch, y_walk);
      for (int i = 0; i < 200; ++i) {
        const uint64_t linear = random() % (kPages * 4096 / 4) * 4;
        const uint64_t x = linear % pitch;
        const uint64_t y = linear / pitch;
        const uint64_t tiled = y_walk ? y_tiled(x, y, pitch) : x_tiled(x, y, pitch);
        const auto value = static_cast<uint32_t>(random());
        bench.put_aperture(kBase + linear, value);
        ASSERT_EQ(bench.host.value_at<uint32_t>(behind(tiled)), value) << pitch << " " << y_walk << " " << linear;
        ASSERT_EQ(bench.aperture(kBase + linear), value);
      }
      // Blocks of any length and alignment give the same result.
      std::vector<std::byte> block(3000);
      const uint64_t at = kBase + 1 + random() % 4096;
      ASSERT_TRUE(bench.device->bar_read_block(2, at, block));
      for (size_t i = 0; i < block.size(); i += 97) {
        ASSERT_EQ(std::to_integer<uint64_t>(block[i]), bench.device->bar_read(2, at + i, 1));
      }
    }
  }
  // Nothing is tiled outside of the region or without the valid bit.
  bench.map(1, 0x9000);
  bench.put_aperture(0x1200, 7);
  EXPECT_EQ(bench.host.value_at<uint32_t>(0x9200), 7u);
  bench.write((bench.is_gen4() ? 0x3000 : 0x100000) + 8 * 3, 0);
  bench.put_aperture(kBase + 0x1234, 0xabcd);
  EXPECT_EQ(bench.host.value_at<uint32_t>(behind(0x1234)), 0xabcdu);
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(ApertureTest, EveryFenceRegisterWorksAndReadsBack) {
  const unsigned count = bench.is_gen4() || bench.model.name == "snb" || bench.model.name == "chv" ? 16 : 32;
  const uint32_t at = bench.is_gen4() ? 0x3000 : 0x100000;
  for (unsigned i = 0; i < count; ++i) {
    bench.map(0x100 + 2 * i, 0x10'0000 + i * 0x2000);
    bench.map(0x101 + 2 * i, 0x10'1000 + i * 0x2000);
    bench.set_fence(i, (0x100 + 2 * i) << 12, 0x101 + 2 * i, 1024, false);
  }
  for (unsigned i = 0; i < count; ++i) {
    EXPECT_EQ(bench.read(at + 8 * i + 4) >> 12, 0x101 + 2 * i);
    bench.put_aperture(((0x100 + 2 * i) << 12) + 1024, i + 1);  // (0, 1): the second row of the first tile
    EXPECT_EQ(bench.host.value_at<uint32_t>(0x10'0000 + i * 0x2000 + 512), i + 1);
  }
  EXPECT_EQ(bench.events(), 0u);
  bench.device->reset(ResetKind::function_level);
  bench.enable();
  bench.wake_all();
  EXPECT_EQ(bench.read(at), 0u);
  EXPECT_EQ(bench.device->memory().aperture().fences().find(GgttOffset(0x10'0000)), nullptr) << "cleared by a reset";
}

// Engine accesses bypass fences, even valid ones.
TEST_P(ApertureTest, EngineAccessesIgnoreFences) {
  bench.map(0x400, 0x1'0000);
  bench.map(0x401, 0x1'1000);
  bench.set_fence(0, 0x40'0000, 0x401, 1024, false);
  bench.put_aperture(0x40'0000 + 1024, 0x55);  // (0, 1), which the fence maps to 512
  EXPECT_EQ(bench.engine_reads(memory::Stream::blit, 0x40'0000 + 512, memory::TableKind::global), 0x55u);
  EXPECT_EQ(bench.device->memory().external_space(memory::Stream::display_a).load_value<uint32_t>(GpuVa(0x40'0200)),
            0x55u);
  EXPECT_EQ(bench.engine_reads(memory::Stream::blit, 0x40'0000 + 1024, memory::TableKind::global), 0u);
}

TEST_P(ApertureTest, OverlappingAndInvalidFencesAreReported) {
  bench.set_fence(0, 0x10'0000, 0x1ff, 1024, false);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 0u);
  bench.set_fence(1, 0x18'0000, 0x2ff, 1024, false);
  EXPECT_GE(bench.events(EventKind::undefined_behaviour), 1u);
  bench.host.log.clear();
  bench.set_fence(2, 0x80'0000, 0x700, 1024, false);
  EXPECT_GE(bench.events(EventKind::undefined_behaviour), 1u) << "the fence ends before it starts";
}

INSTANTIATE_TEST_SUITE_P(Devices, ApertureTest, ::testing::ValuesIn(models_with_aperture()), model_name);

TEST(ApertureSizes, FirmwareSelectsTheSize) {
  COVERS("ICL-AS-01");
  COVERS("G45-4.4-01");
  COVERS("G45-4.4-02");
  const auto check = [](std::string_view name, uint64_t megabytes) {
    const uint64_t bytes = megabytes << 20;
    MemoryBench bench(name, {.aperture_bytes = bytes});
    Device& device = *bench.device;
    // The size of the BAR as software finds it.
    device.config_write(0x18, 4, 0xffff'ffff);
    device.config_write(0x1c, 4, 0xffff'ffff);
    const bool wide = (device.config_read(0x18, 4) & 4) != 0;
    const uint64_t high = wide ? device.config_read(0x1c, 4) : 0xffff'ffff;
    const uint64_t mask = (high << 32 | device.config_read(0x18, 4)) & ~uint64_t{0xf};
    EXPECT_EQ(~mask + 1, bytes) << name;
    // Wherever the BAR is, its first address is graphics address zero and its last is the size minus one.
    const uint64_t base = wide ? uint64_t{0x1'0000'0000} << (megabytes >= 4096 ? 1 : 0) : 0x8000'0000;
    device.config_write(0x18, 4, static_cast<uint32_t>(base));
    device.config_write(0x1c, 4, static_cast<uint32_t>(base >> 32));
    const auto first = device.config().decode_memory(base + 4);
    const auto last = device.config().decode_memory(base + bytes - 4);
    ASSERT_TRUE(first && last);
    bench.map(0, 0x5000);
    bench.map(bytes / 4096 - 1, 0x6000);
    bench.host.log.clear();
    device.bar_write(first->bar, first->offset, 4, 1);
    device.bar_write(last->bar, last->offset, 4, 2);
    EXPECT_EQ(bench.host.value_at<uint32_t>(0x5004), 1u);
    EXPECT_EQ(bench.host.value_at<uint32_t>(0x6ffc), 2u);
    // The same zero-based range for internal clients.
    EXPECT_EQ(bench.engine_reads(memory::Stream::blit, 4, memory::TableKind::global), 1u);
    EXPECT_EQ(bench.engine_reads(memory::Stream::blit, bytes - 4, memory::TableKind::global), 2u);
    EXPECT_EQ(bench.events(), 0u);
    EXPECT_EQ(device.bar_read(2, bytes, 4), 0xffff'ffffu) << "beyond the aperture";
    EXPECT_EQ(bench.events(EventKind::bad_access), 1u);
  };
  for (const uint64_t megabytes : {128u, 256u, 512u, 1024u, 2048u, 4096u}) {
    check("icl", megabytes);
  }
  for (const std::string_view name : {"i965", "gm965", "g45", "gm45"}) {
    for (const uint64_t megabytes : {64u, 128u, 256u, 512u}) {
      check(name, megabytes);
    }
  }
  TestHost host;
  EXPECT_FALSE(Device::create(*spec::find_device("g45"), host, {.aperture_bytes = 0x4000'0000}).ok());
  EXPECT_FALSE(Device::create(*spec::find_device("icl"), host, {.aperture_bytes = 0x1800'0000}).ok());
  EXPECT_FALSE(Device::create(*spec::find_device("dg1"), host, {.aperture_bytes = 0x1000'0000}).ok());
}

TEST(RangeRemoval, SystemAddressesBecomeZeroBased) {
  COVERS("ICL-AS-08");
  MemoryBench bench("icl");
  Device& device = *bench.device;
  bench.map(0x123, 0x4'5000);
  for (const uint64_t base : {uint64_t{0xc000'0000}, uint64_t{0x20'4000'0000}}) {
    device.config_write(0x18, 4, static_cast<uint32_t>(base));
    device.config_write(0x1c, 4, static_cast<uint32_t>(base >> 32));
    const auto hit = device.config().decode_memory(base + 0x12'3678);
    ASSERT_TRUE(hit);
    EXPECT_EQ(hit->bar, 2u);
    device.bar_write(hit->bar, hit->offset, 4, static_cast<uint32_t>(base >> 8));
    EXPECT_EQ(bench.host.value_at<uint32_t>(0x4'5678), static_cast<uint32_t>(base >> 8));
    EXPECT_FALSE(device.config().decode_memory(base - 1));
    EXPECT_FALSE(device.config().decode_memory(base + 0x1000'0000));
  }
}

}  // namespace
}  // namespace halogen::device
