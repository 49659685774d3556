// The smallest program with a GPU in it: a Broadwell whose render engine stores one dword. docs/embedding.md explains
// it.
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include "device/device.h"
#include "device/flat_host.h"

namespace {

using namespace halogen;

// The machine around the device: memory from physical address 0 on; interrupts are ignored, Events are printed.
struct Machine final : device::FlatHost {
  using device::FlatHost::FlatHost;
  void on_event(const Event& event) override { std::fprintf(stderr, "%s\n", event.to_string().c_str()); }
};

}  // namespace

int main() {
  constexpr uint64_t kRing = 0x1000, kTarget = 0x2000;  // graphics addresses; the global table maps them to themselves
  const spec::DeviceModel* const model = spec::find_device("bdw");
  Machine machine(0x10000);
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
  // MI_STORE_DATA_IMM through the global table, in the encoding of Gen8.
  const uint32_t commands[] = {0x1040'0002, kTarget, 0, 0xcafe'f00d};
  machine.write_memory(PhysAddr{kRing}, std::as_bytes(std::span(commands)));
  gpu.bar_write(0, 0x2038, 4, kRing);             // RING_START of the render engine
  gpu.bar_write(0, 0x203c, 4, 1);                 // RING_CTL: one page, enabled
  gpu.bar_write(0, 0x2030, 4, sizeof(commands));  // RING_TAIL: asks for work
  const bool settled = gpu.settle();              // does the work
  const auto stored = machine.get<uint32_t>(kTarget);
  std::printf("stored 0x%08x\n", stored);
  return settled && stored == 0xcafe'f00d ? 0 : 1;
}
