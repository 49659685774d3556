// The display under a hostile guest: any value in any register of pipes, clocks, planes, cursors, palettes and
// compressors, surfaces anywhere, writes through fences, time, and then frames. Nothing may crash, a frame must be no
// larger than its bound, and a snapshot that is restored shows the same frame.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "device_target.h"

namespace halogen::fuzz {

// A device whose registers of the display are listed, as new for every input.
struct DisplayUnderTest {
  explicit DisplayUnderTest(const spec::DeviceModel& model) : device(model) {
    Device& chip = *device.chip;
    chip.config_write(4, 2, 7);
    if (const RegisterSlot* table = chip.mmio().bank().map().find("PGTBL_CTL")) {
      chip.mmio().bank().write(*table, chip.mmio().bank().peek(*table) | 1);
    }
    // A little of the global table is valid.
    const bool wide =
        model.gen != spec::GenId::gen4 && model.gen != spec::GenId::gen4_5 && model.gen != spec::GenId::gen6;
    const unsigned entry_B = wide ? 8 : 4;
    for (uint64_t page = 0; page < 64; ++page) {
      chip.bar_write(0, model.gtt_offset + page * entry_B, entry_B, page % 60 << 12 | 1);
    }
    device.fresh = chip.snapshot();
    for (const RegisterSlot& slot : chip.mmio().bank().map().slots()) {
      const uint32_t at = slot.offset >= 0x180000 ? slot.offset - 0x180000 : slot.offset;
      const bool wanted = (at >= 0x60000 && at < 0x80000) || (at >= 0x4a000 && at < 0x4c000) ||
                          (at >= 0x6000 && at < 0x6060) || (at >= 0x3000 && at < 0x3400);
      if (wanted && slot.engine == nullptr) slots.push_back(&slot);
    }
  }

  UsedDevice device;
  std::vector<const RegisterSlot*> slots;
};

// Input: one byte for the device, then operations of 8 bytes: kind, a byte, a register's number or place (16), value.
inline void display(std::span<const uint8_t> data) {
  constexpr size_t kOperation = 8;
  constexpr uint64_t kMostFrames = 2;            // of any size; they cost the most
  constexpr uint64_t kMostPixels = 7680 * 4320;  // of one
  if (data.size() < 1 + kOperation) return;
  const auto models = spec::device_models();
  static std::map<size_t, std::unique_ptr<DisplayUnderTest>> used;
  std::unique_ptr<DisplayUnderTest>& mine = used[data[0] % models.size()];
  if (!mine || mine->device.runs == 0) {
    mine = std::make_unique<DisplayUnderTest>(models[data[0] % models.size()]);
  }
  Device& chip = mine->device.renew();
  uint64_t frames = 0;
  const auto take = [&](unsigned pipe, bool large) {
    const Extent size = chip.display().source_size(pipe);
    const uint64_t pixels = uint64_t{size.width} * size.height;
    if (pixels > 0x10000 && (!large || frames++ >= kMostFrames)) return;
    if (pixels > 0x10000) {
      const auto image = chip.take_frame(pipe);
      if (image && image->pixels.size() > std::min(pixels, kMostPixels)) std::abort();
      return;
    }
    const DeviceState kept = chip.snapshot();
    const auto image = chip.take_frame(pipe);
    chip.restore(kept);
    const auto again = chip.take_frame(pipe);
    if (image.has_value() != again.has_value() || (image && !(*image == *again))) std::abort();
  };
  for (data = data.subspan(1); data.size() >= kOperation; data = data.subspan(kOperation)) {
    uint16_t place = 0;
    uint32_t value = 0;
    std::memcpy(&place, data.data() + 2, sizeof place);
    std::memcpy(&value, data.data() + 4, sizeof value);
    switch (data[0] & 7) {
      case 0:
      case 1:
      case 2:
        chip.mmio().bank().write(*mine->slots[place % mine->slots.size()], value);
        break;
      case 3:
        chip.advance(value % 20'000'000);
        break;
      case 4:  // processor writes, through fences
        chip.bar_write(2, uint64_t{place} << 4, 4, value);
        break;
      case 5:  // what an engine says
        chip.display().on_target_write(GpuVa(uint64_t{place} << 12), value >> 16, value & 0xffff);
        break;
      case 6:
        chip.display().flip({.plane = place % 32u,
                             .async = (data[1] & 1) != 0,
                             .queued = (data[1] & 2) != 0,
                             .base = value,
                             .pitch = uint32_t{place} << 2,
                             .tiled = static_cast<uint8_t>(data[1] >> 4)});
        break;
      default:
        take(data[1] % 5, (data[1] & 0x80) != 0);
        break;
    }
  }
  for (unsigned pipe = 0; pipe < chip.display().pipes(); ++pipe) {
    take(pipe, false);
  }
}

}  // namespace halogen::fuzz
