// The device surface with a hostile guest: configuration, BAR and port accesses of any size and value, resets, time,
// snapshots, frames of the display. Nothing may crash, and a restored snapshot must read back the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/device.h"
#include "fuzz/memory_host.h"

namespace halogen::fuzz {

// A device that is reset for every input, because creating one takes longer than a run.
struct UsedDevice {
  static constexpr unsigned kRuns = 2000;  // then a new one is created, because its fidelity report grows

  explicit UsedDevice(const spec::DeviceModel& model, device::DeviceOptions options = {}) {
    options.local_bytes = model.local_bytes != 0 ? 0x1000'0000 : 0;  // small, because every snapshot reads all of it
    auto created = device::Device::create(model, host, std::move(options));
    if (!created) std::abort();
    chip = std::move(*created);
    fresh = chip->snapshot();
  }
  device::Device& renew() {
    host.clear();
    chip->restore(fresh);
    --runs;
    return *chip;
  }

  MemoryHost host;
  std::unique_ptr<device::Device> chip;
  device::DeviceState fresh;
  unsigned runs = kRuns;
};

// Input: one byte for the device and its settings, then operations of 14 bytes: kind, BAR (from f0h on the IOMMU),
// offset (32 bits), value (64 bits).
inline void device(std::span<const uint8_t> data) {
  constexpr size_t kOperation = 14;
  if (data.size() < 1 + kOperation) return;
  const auto models = spec::device_models();
  constexpr size_t kSettings = 3;  // those of programs, read-ahead as hardware has it, host threads
  static std::vector<std::unique_ptr<UsedDevice>> used(models.size() * kSettings);
  const size_t which = data[0] % used.size();
  std::unique_ptr<UsedDevice>& mine = used[which];
  if (!mine || mine->runs == 0) {
    device::DeviceOptions options;
    options.prefetch_lines = which / models.size() == 1 ? 8 : 0;
    options.threads = which / models.size() == 2 ? 3 : 1;
    mine = std::make_unique<UsedDevice>(models[which % models.size()], std::move(options));
  }
  device::Device& chip = mine->renew();
  chip.config_write(4, 2, 7);
  device::DeviceState kept = chip.snapshot();
  for (data = data.subspan(1); data.size() >= kOperation; data = data.subspan(kOperation)) {
    uint32_t offset = 0;
    uint64_t value = 0;
    std::memcpy(&offset, data.data() + 2, sizeof offset);
    std::memcpy(&value, data.data() + 6, sizeof value);
    const unsigned bytes = 1u << ((data[0] >> 4) & 3);
    const unsigned bar = data[1] % 7;
    const bool iommu = data[1] >= 0xf0;
    const uint64_t address = bar == 2 ? uint64_t{offset} << 2 : offset;
    switch (data[0] & 15) {
      case 0:
      case 1:
      case 2:
        iommu ? chip.iommu_write(offset & 0x3ff, bytes, value) : chip.bar_write(bar, address, bytes, value);
        break;
      case 3:
      case 4:
        static_cast<void>(iommu ? chip.iommu_read(offset & 0x3ff, bytes) : chip.bar_read(bar, address, bytes));
        break;
      case 5:
        chip.config_write(offset & 0xfff, bytes & 7, static_cast<uint32_t>(value));
        break;
      case 6:
        static_cast<void>(chip.config_read(offset & 0xfff, bytes & 7));
        break;
      case 7:
        chip.io_write(static_cast<uint16_t>(offset), bytes & 7, static_cast<uint32_t>(value));
        break;
      case 8:
        static_cast<void>(chip.io_read(static_cast<uint16_t>(offset), bytes & 7));
        break;
      case 9:
        chip.reset((value & 1) != 0 ? device::ResetKind::power_on : device::ResetKind::function_level);
        break;
      case 10:
        chip.advance(value % 10'000'000);  // bounded, because engines may have endless work
        break;
      case 11:
        kept = chip.snapshot();
        break;
      case 12:
        chip.restore(kept);
        if (!(chip.snapshot() == kept)) std::abort();
        break;
      case 13:
        chip.config_write(4, 2, 7);
        break;
      case 14: {  // a display register, and a frame if it is small
        chip.bar_write(0, 0x60000 + (offset & 0x1fffc), 4, value);
        const unsigned pipe = offset >> 30;
        const display::Extent size = chip.display().source_size(pipe);
        if (uint64_t{size.width} * size.height <= 0x10000) static_cast<void>(chip.take_frame(pipe));
        break;
      }
      default:  // a register, so that not every offset is unused
        chip.bar_write(0, offset & 0x3fffc, 4, value);
        static_cast<void>(chip.bar_read(0, offset & 0x3fffc, 4));
        break;
    }
  }
  static_cast<void>(chip.fidelity());
}

}  // namespace halogen::fuzz
