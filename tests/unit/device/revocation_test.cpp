// Memory that the host takes away: no stream of any engine, and no access of the CPU, reaches it afterwards.
#include <gtest/gtest.h>

#include "device/flat_host.h"
#include "memory_bench.h"

namespace halogen::device {
namespace {

class RevokedMemory : public ::testing::TestWithParam<const spec::DeviceModel*> {};

TEST_P(RevokedMemory, EveryStreamReadsZeroFromARevokedPage) {
  MemoryBench bench(*GetParam());
  constexpr uint64_t kPage = 0x200, kAddress = kPage << 12, kHost = 0x123'4000;
  bench.map(kPage, kHost);
  bench.host.put<uint32_t>(kHost, 0x1234);
  std::vector<memory::AddressSpace*> spaces;
  for (unsigned engine = 0; engine < bench.model.engines.size(); ++engine) {
    for (size_t stream = 0; stream < memory::kStreams; ++stream) {
      if (memory::is_external(static_cast<memory::Stream>(stream))) continue;
      spaces.push_back(&bench.device->space(engine, static_cast<memory::Stream>(stream), memory::TableKind::global));
    }
  }
  for (size_t stream = 0; stream < memory::kStreams; ++stream) {
    if (!memory::is_external(static_cast<memory::Stream>(stream))) continue;
    spaces.push_back(&bench.device->memory().external_space(static_cast<memory::Stream>(stream)));
  }
  for (memory::AddressSpace* space : spaces) {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(space->load_value<uint32_t>(GpuVa(kAddress)), 0x1234u);
  }
  if (bench.has_aperture()) {
    EXPECT_EQ(bench.aperture(kAddress), 0x1234u);
  }
  bench.host.take_back(*bench.device, kHost, 4096);
  for (memory::AddressSpace* space : spaces) {
    EXPECT_EQ(space->load_value<uint32_t>(GpuVa(kAddress)), 0u);
    static_cast<void>(space->store_value<uint32_t>(GpuVa(kAddress), 7));
    EXPECT_TRUE(space->view(GpuVa(kAddress), {}).bytes.empty());
  }
  if (bench.has_aperture()) {
    EXPECT_EQ(bench.aperture(kAddress), 0u);
    bench.put_aperture(kAddress, 8);
  }
  EXPECT_NE(bench.events(), 0u);
}

// The host may not take memory away from inside a call: engines may be in the middle of an access.
TEST(RevokedMemoryDeathTest, RevocationInsideWorkIsABug) {
  struct Revoker final : FlatHost {
    using FlatHost::FlatHost;
    std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override {
      if (device != nullptr) device->revoke_memory();
      return FlatHost::map_memory(address, bytes);
    }
    Device* device = nullptr;
  };
  EXPECT_DEATH(
      {
        Revoker host(1 << 20);
        const auto device = std::move(Device::create(*spec::find_device("g45"), host)).value();
        device->config_write(4, 2, 7);
        device->bar_write(0, 0x2020, 4, 1);          // the table is enabled
        device->bar_write(0, 0x20'0000, 4, 0x1001);  // page 0
        device->bar_write(0, 0x2038, 4, 0);          // the start of the ring
        device->bar_write(0, 0x203c, 4, 1);          // one page, enabled
        host.device = device.get();
        device->bar_write(0, 0x2030, 4, 8);  // the tail
        device->advance(10'000);
      },
      "memory revoked while engines run");
}

INSTANTIATE_TEST_SUITE_P(Chips, RevokedMemory, ::testing::ValuesIn(every_model()), model_name);

}  // namespace
}  // namespace halogen::device
