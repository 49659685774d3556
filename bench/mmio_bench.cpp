// Cost of a register access through the whole device surface, compared with a load and a store of plain memory.
#include <random>
#include <vector>

#include "device/device.h"
#include "ratios.h"

namespace {

using namespace halogen;

class NoHost final : public device::Host {
 public:
  bool read_memory(PhysAddr, std::span<std::byte>) override { return false; }
  bool write_memory(PhysAddr, std::span<const std::byte>) override { return false; }
  void set_interrupt_line(bool) override {}
  void send_message_interrupt(PhysAddr, uint32_t) override {}
  void on_event(const Event&) override { ++events; }
  uint64_t events = 0;
};

constexpr uint32_t kRingHead = 0x2034;
constexpr uint32_t kGpr = 0x2600;
constexpr uint32_t kUnclaimed = 0x0'4900;

struct Chip {
  explicit Chip(const char* name, std::initializer_list<uint32_t> wake = {}) {
    device = std::move(device::Device::create(*spec::find_device(name), host).value());
    device->config_write(4, 2, 6);  // memory decode and bus mastering
    for (const uint32_t port : wake) {
      device->bar_write(0, port, 4, 0x0001'0001);
    }
  }
  NoHost host;
  std::unique_ptr<device::Device> device;
};

void plain(benchmark::State& state) {
  std::vector<uint32_t> memory(1 << 20);
  std::mt19937 random(1);
  for (auto _ : state) {
    const auto at = static_cast<uint32_t>(random()) & 0xfffff;
    memory[at] += 1;
    benchmark::DoNotOptimize(memory[at]);
  }
}

constexpr uint32_t kRenderWake = 0xa188;  // FORCEWAKE_MT of Broadwell

void read_register(benchmark::State& state, const char* name, uint32_t offset) {
  Chip chip(name, {kRenderWake});
  for (auto _ : state) {
    benchmark::DoNotOptimize(chip.device->bar_read(0, offset, 4));
  }
}

void write_register(benchmark::State& state, const char* name, uint32_t offset) {
  Chip chip(name, {kRenderWake});
  uint32_t value = 0;
  for (auto _ : state) {
    chip.device->bar_write(0, offset, 4, ++value);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const char* name, auto function, auto... arguments) {
    benchmark::RegisterBenchmark(name, function, arguments...)->Repetitions(3)->MinTime(0.1);
  };
  add("plain_memory", plain);
  add("read_gen4", read_register, "g45", kRingHead);
  add("read_gen8", read_register, "bdw", kRingHead);
  add("read_asleep_dg1", read_register, "dg1", kRingHead);
  add("write_gen8", write_register, "bdw", kGpr);
  add("read_unclaimed_dg1", read_register, "dg1", kUnclaimed);
  return halogen::bench::run(
      argc, argv, {{"read_gen4", "plain_memory"}, {"read_gen8", "plain_memory"}, {"write_gen8", "plain_memory"}});
}
