// Speed of the parser: batches of one kind of command through the whole device, compared with memcpy of the batch.
#include <cstring>
#include <memory>
#include <vector>

#include "device/device.h"
#include "device/flat_host.h"
#include "ratios.h"

namespace {

using namespace halogen;

constexpr uint64_t kPage = 4096;
constexpr size_t kCommands = size_t{1} << 20;
constexpr uint64_t kMemoryBytes = uint64_t{64} << 20;
constexpr uint32_t kBatchEnd = 0x0500'0000;

// A Broadwell whose render ring starts a batch of repeated commands. Graphics addresses equal physical addresses.
struct RingBench {
  static constexpr uint32_t kWake = 0xa188, kRing = 0x2000;
  static constexpr uint64_t kRingAt = 0x10'0000, kBatchAt = 0x20'0000;

  explicit RingBench(const std::vector<uint32_t>& command) {
    device = std::move(device::Device::create(*spec::find_device("bdw"), host).value());
    device->config_write(4, 2, 6);  // memory decode and bus mastering
    device->bar_write(0, kWake, 4, 0x0001'0001);
    const uint64_t table = spec::find_device("bdw")->gtt_offset;
    for (uint64_t page = 0; page < kMemoryBytes / kPage; ++page) {
      device->bar_write(0, table + 8 * page, 8, page * kPage | 1);
    }
    std::vector<uint32_t> batch;
    for (size_t i = 0; i < kCommands; ++i) {
      batch.insert(batch.end(), command.begin(), command.end());
    }
    batch.push_back(kBatchEnd);
    host.write_memory(PhysAddr{kBatchAt}, std::as_bytes(std::span(batch)));
    device->bar_write(0, kRing + 0x38, 4, kRingAt);
    device->bar_write(0, kRing + 0x3c, 4, 1);
  }
  void run() {
    const uint32_t start[4] = {0x1880'0001, kBatchAt, 0, 0};
    host.write_memory(PhysAddr{kRingAt + tail}, std::as_bytes(std::span(start)));
    tail = (tail + sizeof(start)) % kPage;
    device->bar_write(0, kRing + 0x30, 4, tail);
    if (!device->settle() || host.events != 0) std::abort();
  }

  device::FlatHost host{kMemoryBytes};
  std::unique_ptr<device::Device> device;
  uint32_t tail = 0;
};

void parse(benchmark::State& state, const std::vector<uint32_t>& command) {
  RingBench machine(command);
  for (auto _ : state) {
    machine.run();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kCommands));
}

void copy_batch(benchmark::State& state) {
  const std::vector<uint32_t> source(kCommands, 1);
  std::vector<uint32_t> target(kCommands);
  for (auto _ : state) {
    std::memcpy(target.data(), source.data(), source.size() * sizeof(uint32_t));
    benchmark::DoNotOptimize(target.data());
    benchmark::ClobberMemory();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const char* name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name, function, arguments...)->Repetitions(3)->MinTime(0.2);
  };
  add("memcpy_noops", copy_batch);
  add("noop", parse, std::vector<uint32_t>{0});
  add("noop_with_number", parse, std::vector<uint32_t>{0x0040'0001});
  add("store_data_imm", parse, std::vector<uint32_t>{0x1040'0002, 0x1000, 0, 0x55});
  add("load_register_imm", parse, std::vector<uint32_t>{0x1100'0001, 0x2600, 0x55});
  // R0 += R1
  add("math", parse, std::vector<uint32_t>{0x0d00'0003, 0x0800'8000, 0x0800'8401, 0x1000'0000, 0x1800'0031});
  return halogen::bench::run(argc, argv, {{"noop", "memcpy_noops"}});
}
