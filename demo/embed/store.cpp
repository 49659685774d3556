// The smallest program with a GPU in it: a Broadwell whose render engine stores one dword. docs/embedding.md walks
// through it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"

namespace {

using namespace halogen;

// The machine around the device: 64 KB of memory from physical address 0 on, no interrupts, Events on standard error.
class Machine final : public device::Host {
 public:
  // The device reaches memory through this view of it.
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override {
    if (address.value > memory.size() || bytes > memory.size() - address.value) return {};
    return std::span(memory).subspan(address.value, bytes);
  }
  bool read_memory(PhysAddr address, std::span<std::byte> out) override {
    const std::span<std::byte> from = map_memory(address, out.size());
    std::copy(from.begin(), from.end(), out.begin());
    return from.size() == out.size();
  }
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override {
    const std::span<std::byte> to = map_memory(address, data.size());
    std::copy_n(data.begin(), to.size(), to.begin());
    return to.size() == data.size();
  }
  void set_interrupt_line(bool /*asserted*/) override {}
  void send_message_interrupt(PhysAddr /*address*/, uint32_t /*data*/) override {}
  void on_event(const Event& event) override { std::fprintf(stderr, "%s\n", event.to_string().c_str()); }

  std::vector<std::byte> memory = std::vector<std::byte>(0x10000);
};

}  // namespace

int main() {
  constexpr uint64_t kRing = 0x1000, kTarget = 0x2000;  // graphics addresses; the global table maps them to themselves
  const spec::DeviceModel* const model = spec::find_device("bdw");
  Machine machine;
  device::DeviceOptions options;
  options.power_gating = false;  // registers answer without force wake
  auto created = device::Device::create(*model, machine, options);
  if (!created) {
    std::fprintf(stderr, "%s\n", std::string(created.message()).c_str());
    return 1;
  }
  device::Device& gpu = **created;
  gpu.config_write(4, 2, 7);  // PCI command register: memory, I/O, bus master
  for (const uint64_t page : {kRing, kTarget}) {
    gpu.bar_write(0, model->gtt_offset + page / 4096 * 8, 8, page | 1);  // a present page table entry
  }
  // MI_STORE_DATA_IMM through the global table, by the commands' encodings of Gen8.
  const uint32_t commands[] = {0x1040'0002, kTarget, 0, 0xcafe'f00d};
  std::memcpy(machine.memory.data() + kRing, commands, sizeof(commands));
  gpu.bar_write(0, 0x2038, 4, kRing);             // RING_START of the render engine
  gpu.bar_write(0, 0x203c, 4, 1);                 // RING_CTL: one page, enabled
  gpu.bar_write(0, 0x2030, 4, sizeof(commands));  // RING_TAIL: asks for work
  const bool settled = gpu.settle();              // does the work
  uint32_t stored = 0;
  std::memcpy(&stored, machine.memory.data() + kTarget, sizeof(stored));
  std::printf("stored 0x%08x\n", stored);
  return settled && stored == 0xcafe'f00d ? 0 : 1;
}
