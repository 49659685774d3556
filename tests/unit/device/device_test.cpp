// The device as a whole: two devices, snapshots, virtual time, the fidelity report.
#include "device/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "test_host.h"

namespace halogen::device {
namespace {

// A deterministic stream of accesses, like those of a confused driver.
void babble(Bench& bench, uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  const auto slots = bench.device->mmio().bank().map().slots();
  for (int i = 0; i < count; ++i) {
    const uint32_t offset = slots[random() % slots.size()].offset;
    if (random() % 3 == 0) {
      bench.read(offset);
    } else {
      bench.write(offset, static_cast<uint32_t>(random()));
    }
    bench.device->bar_write(0, bench.device->model().gtt_offset + 8 * (random() % 64), 4, random());
    bench.device->advance(random() % 1000);
  }
}

class DeviceTest : public ::testing::TestWithParam<const spec::DeviceModel*> {};

// Code of zeros: one illegal instruction.
class ZeroCode final : public eu::CodeMemory {
 public:
  bool read(uint64_t /*page*/, eu::CodePage& into) override {
    into.fill(std::byte{0});
    return true;
  }
};

TEST_P(DeviceTest, EachDeviceHasItsOwnKernelLibrary) {
  Bench a(*GetParam());
  Bench b(*GetParam(), {.name = "gpu1"});
  ZeroCode code;
  const auto program = a.device->engines().kernels().find(code, 0);
  EXPECT_EQ(a.device->engines().kernels().statistics().programs, 1u);
  EXPECT_EQ(b.device->engines().kernels().statistics().programs, 0u);
  EXPECT_NE(b.device->engines().kernels().find(code, 0), program);
}

TEST_P(DeviceTest, UnavailableExecutorsAreRefused) {
  TestHost host;
  const auto refused = Device::create(*GetParam(), host, {.executor = eu::ExecutorKind::compiled});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.message(), "executor \"compiled\" is not available; use interpreter");
  EXPECT_FALSE(Device::create(*GetParam(), host, {.executor = eu::ExecutorKind::check}).ok());
}

TEST_P(DeviceTest, TwoDevicesAreIndependent) {
  Bench a(*GetParam());
  Bench b(*GetParam(), {.name = "gpu1"});
  const DeviceState before = b.device->snapshot();
  a.wake_all();
  babble(a, 1, 2000);
  EXPECT_EQ(b.device->snapshot(), before);
  EXPECT_TRUE(b.host.log.events().empty());
  for (const Event& event : a.host.log.events()) {
    ASSERT_TRUE(event.path.starts_with("gpu0."));
  }
  b.write(0x40000 - 4, 1);
  for (const Event& event : b.host.log.events()) {
    EXPECT_TRUE(event.path.starts_with("gpu1.")) << event.to_string();
  }
}

TEST_P(DeviceTest, InterleavedRunsEqualSeparateRuns) {
  Bench alone(*GetParam());
  alone.wake_all();
  babble(alone, 3, 500);
  babble(alone, 4, 500);
  Bench a(*GetParam());
  Bench b(*GetParam());
  a.wake_all();
  b.wake_all();
  babble(a, 3, 500);
  babble(b, 3, 500);
  babble(b, 4, 500);
  babble(a, 4, 500);
  EXPECT_EQ(a.device->snapshot(), alone.device->snapshot());
  EXPECT_EQ(b.device->snapshot(), alone.device->snapshot());
}

TEST_P(DeviceTest, SnapshotRestoresTheWholeState) {
  Bench bench(*GetParam());
  bench.wake_all();
  babble(bench, 5, 500);
  const DeviceState middle = bench.device->snapshot();
  babble(bench, 6, 500);
  const DeviceState end = bench.device->snapshot();
  bench.device->restore(middle);
  EXPECT_EQ(bench.device->snapshot(), middle);
  babble(bench, 6, 500);
  EXPECT_EQ(bench.device->snapshot(), end) << "the same accesses lead to the same state";
}

TEST_P(DeviceTest, ReportNamesAccessedRegisters) {
  Bench bench(*GetParam());
  bench.wake_all();
  bench.write(0x2038, 0x1000);
  const FidelityReport report = bench.device->fidelity();
  EXPECT_TRUE(
      std::ranges::any_of(report.entries(), [](const auto& entry) { return entry.first.second == "RING_START"; }));
  EXPECT_EQ(report.total(FidelityClass::unsupported), 0u);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest, ::testing::ValuesIn(every_model()), model_name);

TEST(Timestamps, TimestampsFollowVirtualTime) {
  for (const spec::DeviceModel& model : spec::device_models()) {
    Bench bench(model);
    bench.wake_all();
    const auto timestamp = [&](const spec::EngineModel& engine) {
      return bench.read(engine.mmio_base + 0x358) | uint64_t{bench.read(engine.mmio_base + 0x35c)} << 32;
    };
    for (const spec::EngineModel& engine : model.engines) {
      EXPECT_EQ(timestamp(engine), 0u);
    }
    bench.device->advance(3'000'000'000);
    for (const spec::EngineModel& engine : model.engines) {
      if (model.gen == spec::GenId::gen4_5) {
        EXPECT_EQ(timestamp(engine) >> 32, 3'000'000'000u / 1024) << "the upper dword counts 1024 ns";
      } else {
        EXPECT_EQ(timestamp(engine), 3 * model.timestamp_hz) << model.name;
      }
    }
  }
}

TEST(Timestamps, WrapAfterThirtySixBits) {
  Bench bench("skl");
  bench.wake_all();
  // 2^36 ticks of 12 MHz are 5726.6 s; two hours are longer.
  bench.device->advance(7'200'000'000'000);
  const uint64_t expected = (uint64_t{7200} * 12'000'000) % (uint64_t{1} << 36);
  EXPECT_EQ(bench.read(0x2358), static_cast<uint32_t>(expected));
  EXPECT_EQ(bench.read(0x235c), static_cast<uint32_t>(expected >> 32));
}

TEST(SparseMemoryTest, CopiesShareUntilWritten) {
  SparseMemory a(1 << 20);
  const std::byte one[] = {std::byte{1}};
  a.write(70'000, one);
  SparseMemory b = a;
  EXPECT_EQ(a, b);
  b.write(70'001, one);
  EXPECT_NE(a, b);
  std::byte out[2];
  a.read(70'000, out);
  EXPECT_EQ(out[1], std::byte{0});
  b.write((1 << 20) - 1, std::vector<std::byte>(4, std::byte{9}));
  b.read((1 << 20) - 1, out);
  EXPECT_EQ(out[0], std::byte{9});
  EXPECT_EQ(out[1], std::byte{0}) << "beyond the end";
  b.clear();
  EXPECT_EQ(b, SparseMemory(1 << 20));
}

TEST(MmioEvents, ReservedAndReadOnlyWritesAreReported) {
  Bench bench("dg1");
  bench.write(0xa278, 0x0001'0001);
  bench.write(0x130044, 1);
  EXPECT_EQ(bench.events(EventKind::read_only_write), 1u);
  const mmio::RegisterSlot* slot = bench.device->mmio().bank().map().find("RING_CTL", "rcs0");
  ASSERT_NE(slot, nullptr);
  ASSERT_NE(slot->policy.reserved, 0u);
  bench.write(slot->offset, slot->policy.reserved);
  EXPECT_EQ(bench.events(EventKind::reserved_bits), 1u);
  EXPECT_EQ(bench.host.log.events().back().item, "RING_CTL");
  EXPECT_EQ(bench.host.log.events().back().value, slot->policy.reserved);
  EXPECT_EQ(bench.read(slot->offset) & slot->policy.reserved, 0u) << "never stored";
}

}  // namespace
}  // namespace halogen::device
