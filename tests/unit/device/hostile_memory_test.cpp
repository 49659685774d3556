// Random accesses of every size to every part of every BAR, with random tables: no access leaves its memory. Host
// memory has guard pages that must not change, because no entry can name them.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "memory_bench.h"

namespace halogen::device {
namespace {

class HostileMemory : public ::testing::TestWithParam<const spec::DeviceModel*> {};

void noise(MemoryBench& bench, uint64_t seed, int count) {
  Device& device = *bench.device;
  const spec::DeviceModel& model = bench.model;
  std::mt19937_64 random(seed);
  const auto slots = device.mmio().bank().map().slots();
  const auto near = [&](uint64_t size) {  // edges are where mistakes are likely
    switch (random() % 4) {
      case 0:
        return random() % 64;
      case 1:
        return size - 1 - random() % 64;
      case 2:
        return (random() % size & ~uint64_t{0xfff}) + random() % 16 - 8;
      default:
        return random() % size;
    }
  };
  for (int i = 0; i < count; ++i) {
    const auto bytes = static_cast<unsigned>(1u << random() % 4);
    const uint64_t value = random() % 3 == 0 ? random() % 0x1'0000'0000 | 1 : random();
    switch (random() % 8) {
      case 0:
      case 1:
        device.bar_write(0, model.gtt_offset + near(model.gtt_bytes), bytes, value);
        break;
      case 2:
        device.bar_read(0, model.gtt_offset + near(model.gtt_bytes), bytes);
        break;
      case 3:
        device.bar_write(2, near(0x1000'0000), bytes, value);
        break;
      case 4:
        device.bar_read(2, near(0x1000'0000), bytes);
        break;
      case 5: {
        const uint32_t offset = slots[random() % slots.size()].offset;
        device.bar_write(0, offset, 4, value);
        break;
      }
      case 6: {
        std::vector<std::byte> block(random() % 9000);
        if (random() % 2 == 0) {
          device.bar_read_block(2, near(0x1000'0000), block);
        } else {
          device.bar_write_block(2, near(0x1000'0000), block);
        }
        break;
      }
      default: {
        const auto engine = static_cast<unsigned>(random() % model.engines.size());
        const auto stream = static_cast<memory::Stream>(random() % 12);
        memory::AddressSpace& space = device.space(
            engine, stream, random() % 2 == 0 ? memory::TableKind::global : memory::TableKind::per_process);
        if (random() % 2 == 0) {
          space.load_value<uint64_t>(GpuVa(random() % 2 == 0 ? random() : near(0x1000'0000)));
        } else {
          static_cast<void>(
              space.store_value<uint64_t>(GpuVa(random() % 2 == 0 ? random() : near(0x1000'0000)), value));
        }
        if (Generation(model).has_execlists() && random() % 16 == 0) {
          device.memory().begin_context(engine);
          device.memory().launch_context(engine, random() % 2 == 0 ? random() : 0x119);
        }
        break;
      }
    }
    if (random() % 512 == 0) {
      bench.enable();
      bench.wake_all();
      bench.host.log.clear();
    }
  }
}

TEST_P(HostileMemory, RandomAccessesStayInsideTheirMemory) {
  MemoryBench bench(*GetParam(), {.stolen_base = GetParam()->local_bytes != 0 ? 0 : uint64_t{0x1000'0000}});
  bench.host.top = uint64_t{1} << 24;  // 16 MB; everything above is unmapped
  noise(bench, 1, 20000);
  EXPECT_LE(bench.host.pages.size(), size_t{4096});
  for (const auto& [number, page] : bench.host.pages) {
    ASSERT_LT(number, uint64_t{4096}) << "no page outside of host memory was created";
  }
  SUCCEED();
}

TEST_P(HostileMemory, RandomAccessesAreDeterministicAcrossSnapshots) {
  const auto run = [](bool interrupted) {
    MemoryBench bench(*GetParam());
    bench.host.top = uint64_t{1} << 22;
    noise(bench, 5, 1500);
    if (interrupted) {
      const DeviceState middle = bench.device->snapshot();
      noise(bench, 6, 200);
      // A snapshot does not include host memory; here the random accesses after it must only survive.
      bench.device->restore(middle);
      EXPECT_EQ(bench.device->snapshot(), middle);
    }
    return bench.device->snapshot();
  };
  const DeviceState once = run(false);
  EXPECT_EQ(once, run(false));
  EXPECT_EQ(once.mmio.registers, run(true).mmio.registers);
}

TEST_P(HostileMemory, TwoDevicesShareNothing) {
  MemoryBench a(*GetParam());
  MemoryBench b(*GetParam(), {.name = "gpu1"});
  a.host.top = b.host.top = uint64_t{1} << 22;
  const DeviceState before = b.device->snapshot();
  noise(a, 9, 3000);
  EXPECT_EQ(b.device->snapshot(), before);
  EXPECT_TRUE(b.host.log.events().empty());
}

INSTANTIATE_TEST_SUITE_P(Devices, HostileMemory, ::testing::ValuesIn(every_model()), model_name);

}  // namespace
}  // namespace halogen::device
