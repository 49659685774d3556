// Reports of the observation unit on an idle chip, compared with copying as many bytes; and what a slice of time costs
// while the unit is off.
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "device/device.h"
#include "device/flat_host.h"
#include "ratios.h"

namespace {

using namespace halogen;

constexpr uint64_t kBuffer = 0x100'0000;  // 16 MB, at its own address
constexpr uint64_t kBufferBytes = 0x100'0000;
constexpr uint64_t kReportBytes = 256;
constexpr uint32_t kExponent = 4;  // 2.56 us, as the fastest test of drivers asks

// A Broadwell with a report buffer and the events of a metric set, timer reports and nothing else.
struct Chip {
  explicit Chip(bool enabled) : host(kBuffer + kBufferBytes) {
    device = std::move(device::Device::create(*spec::find_device("bdw"), host, {}).value());
    device->config_write(4, 2, 6);
    write(0xa188, 0x0001'0001);  // force wake
    for (uint64_t page = 0; page < (kBuffer + kBufferBytes) / 4096; ++page) {
      device->bar_write(0, device->model().gtt_offset + 8 * page, 8, page * 4096 | 1);
    }
    constexpr std::array<uint32_t, 8> kEvents{4, 3, 7, 0x100002, 0x100002, 0x100082, 0x1000c2, 0x100001};
    constexpr std::array<uint32_t, 8> kMasks{0, 0, 0, 0xfff7, 0xffcf, 0xffef, 0xffe7, 0xffe7};
    for (uint32_t n = 0; n < 8; ++n) {
      write(0x2770 + 8 * n, kEvents[n]);
      write(0x2774 + 8 * n, kMasks[n]);
    }
    write(0x2714, 0xf080'0000);
    write(0x2724, 0xf080'0000);
    write(0x2b0c, kBuffer);
    write(0x2b14, kBuffer | 7 << 3 | 1);
    write(0x2b10, kBuffer);
    write(0x2360, kExponent << 2 | 3);
    write(0x2b00, enabled ? 5 << 2 | 1 : 0);
  }
  void write(uint32_t offset, uint64_t value) { device->bar_write(0, offset, 4, value); }
  uint64_t tail() { return device->bar_read(0, 0x2b10, 4); }

  device::FlatHost host;
  std::unique_ptr<device::Device> device;
};

// Lets 1 ms pass at a time, which is 390 reports.
constexpr uint64_t kStep = 1'000'000;

void reports(benchmark::State& state) {
  Chip chip(true);
  uint64_t count = 0;
  uint64_t before = chip.tail();
  for (auto _ : state) {
    chip.device->advance(kStep);
    const uint64_t tail = chip.tail();
    count += (tail - before) % kBufferBytes / kReportBytes;
    before = tail;
    chip.write(0x2b0c, tail);
  }
  if (count < static_cast<uint64_t>(state.iterations()) * 300) std::abort();
  state.SetItemsProcessed(static_cast<int64_t>(count));
  state.SetBytesProcessed(static_cast<int64_t>(count * kReportBytes));
}
BENCHMARK(reports);

void copies(benchmark::State& state) {
  std::vector<char> from(kBufferBytes, 1);
  std::vector<char> to(kBufferBytes);
  constexpr size_t kReports = 390;
  size_t at = 0;
  for (auto _ : state) {
    for (size_t n = 0; n < kReports; ++n) {
      std::memcpy(to.data() + at, from.data() + at, kReportBytes);
      benchmark::DoNotOptimize(to.data());
      benchmark::ClobberMemory();
      at = (at + kReportBytes) % kBufferBytes;
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(static_cast<size_t>(state.iterations()) * kReports));
}
BENCHMARK(copies);

// A slice of time of an idle device without counters.
void off(benchmark::State& state) {
  Chip chip(false);
  for (auto _ : state) {
    chip.device->advance(kStep);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(off);

}  // namespace

int main(int argc, char** argv) {
  return halogen::bench::run(argc, argv, {{"reports", "copies"}});
}
