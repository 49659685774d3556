// The display with a hostile guest: any value in any register of pipes, clocks, planes, cursors, palettes and
// compressors, surfaces at any address, writes through fences, time, and then frames. Nothing may crash, and a restored
// snapshot shows the same frame.
#pragma once

#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "device_target.h"

namespace halogen::fuzz {

// A device with a list of its display registers, reset for every input.
struct DisplayUnderTest {
  static constexpr uint64_t kStolen = 0x7800'0000;
  explicit DisplayUnderTest(const spec::DeviceModel& model)
      : device(model, {.stolen_base = model.local_bytes != 0 ? 0 : kStolen}) {
    device::Device& chip = *device.chip;
    chip.config_write(4, 2, 7);
    if (const mmio::RegisterSlot* table = chip.mmio().bank().map().find("PGTBL_CTL")) {
      chip.mmio().bank().write(*table, chip.mmio().bank().peek(*table) | 1);
    }
    // Part of the global table is valid.
    const bool wide =
        model.gen != spec::GenId::gen4 && model.gen != spec::GenId::gen4_5 && model.gen != spec::GenId::gen6;
    const unsigned entry_B = wide ? 8 : 4;
    for (uint64_t page = 0; page < 64; ++page) {
      chip.bar_write(0, model.gtt_offset + page * entry_B, entry_B, page % 60 << 12 | 1);
    }
    device.fresh = chip.snapshot();
    for (const mmio::RegisterSlot& slot : chip.mmio().bank().map().slots()) {
      const uint32_t at = slot.offset >= 0x180000 ? slot.offset - 0x180000 : slot.offset;
      const bool wanted = (at >= 0x60000 && at < 0x80000) || (at >= 0x4a000 && at < 0x4c000) ||
                          (at >= 0x6000 && at < 0x6060) || (at >= 0x3000 && at < 0x3400);
      if (wanted && slot.engine == nullptr) slots.push_back(&slot);
    }
  }

  // Programs a mode that runs, with plane A on it. Random timings seldom run.
  void start(uint32_t width, uint32_t height, uint32_t control, uint32_t surface) {
    mmio::RegisterBank& bank = device.chip->mmio().bank();
    const auto set = [&bank](std::string_view name, uint32_t value) {
      if (const mmio::RegisterSlot* slot = bank.map().find(name)) bank.write(*slot, value);
    };
    for (const char* name : {"HTOTAL", "HBLANK"}) set(name, (width + 159) << 16 | (width - 1));
    for (const char* name : {"VTOTAL", "VBLANK"}) set(name, (height + 44) << 16 | (height - 1));
    set("HSYNC", (width + 99) << 16 | (width + 19));
    set("VSYNC", (height + 11) << 16 | (height + 9));
    set("PIPESRC", (width - 1) << 16 | (height - 1));
    set("PIPECONF", 0x8000'0000);
    set("DSPSTRIDE", 4096);
    set("DSPCNTR", control);
    set("DSPSURF", surface);
    set("PLANE_STRIDE_1", 64);
    set("PLANE_SIZE_1", (height - 1) << 16 | (width - 1));
    set("PLANE_CTL_1", control);
    set("PLANE_SURF_1", surface);
  }
  // Enables a compressor on plane A.
  void compress(uint32_t more) {
    device::Device& chip = *device.chip;
    if (chip.display().compressor() == nullptr) return;
    const bool runs = chip.mmio().bank().map().find("FBC_LL_BASE") != nullptr;
    chip.bar_write(0, 0x3200, 4, runs ? kStolen + 0x1'0000 : 0x2'0000);
    chip.bar_write(0, 0x3204, 4, kStolen + 0x8000);
    chip.bar_write(0, 0x3208, 4, 0x8000'0000 | (runs ? 15u << 5 : 1u << 29) | more);
    chip.bar_write(0, 0x320c, 4, 1);
  }

  UsedDevice device;
  std::vector<const mmio::RegisterSlot*> slots;
};

// Input: one byte for the device, then operations of 8 bytes: kind, a byte, index of a register or an offset (16 bits),
// value.
inline void display(std::span<const uint8_t> data) {
  constexpr size_t kOperation = 8;
  constexpr uint64_t kSmall = 0x1'0000;   // pixels; frames up to this size are always taken
  constexpr uint64_t kLarge = 0x10'0000;  // a few frames up to this size are taken; tests/unit/display has the largest
  constexpr uint64_t kMaxFrames = 2;
  if (data.size() < 1 + kOperation) return;
  const auto models = spec::device_models();
  static std::map<size_t, std::unique_ptr<DisplayUnderTest>> used;
  std::unique_ptr<DisplayUnderTest>& mine = used[data[0] % models.size()];
  if (!mine || mine->device.runs == 0) {
    mine = std::make_unique<DisplayUnderTest>(models[data[0] % models.size()]);
  }
  device::Device& chip = mine->device.renew();
  uint64_t frames = 0;
  const auto take = [&](unsigned pipe, bool large) {
    const display::Extent size = chip.display().source_size(pipe);
    const uint64_t pixels = uint64_t{size.width} * size.height;
    if (pixels > kSmall && (!large || pixels > kLarge || frames++ >= kMaxFrames)) return;
    const device::DeviceState kept = chip.snapshot();
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
    switch (data[0] & 15) {
      case 0:  // a small screen
        mine->start(1 + (place & 0x7fu), 1 + (place >> 8 & 0x7fu), value | 0x8000'0000, uint32_t{data[1]} << 12);
        break;
      case 1:  // a screen for a compressor
        mine->start(640 + 8 * (place & 15u), 480 + 2 * (place >> 8 & 15u),
                    0x8000'0400 | 6u << 26 | (place >> 12 == 15 ? value & 0x3c10'8400 : 0), uint32_t{data[1]} << 12);
        mine->compress(value & 0x4fff'c3cf);
        break;
      case 2:
        mine->compress(value);
        break;
      case 10:
      case 11:
        chip.advance(value % 20'000'000);
        break;
      case 12:  // CPU writes, through fences
        chip.bar_write(2, uint64_t{place} << 4, 4, value);
        break;
      case 13:  // a report of an engine
        chip.display().on_target_write(GpuVa(uint64_t{place} << 12), value >> 16, value & 0xffff);
        break;
      case 14:
        chip.display().flip({.plane = place % 32u,
                             .async = (data[1] & 1) != 0,
                             .queued = (data[1] & 2) != 0,
                             .base = value,
                             .pitch = uint32_t{place} << 2,
                             .tiled = static_cast<uint8_t>(data[1] >> 4)});
        break;
      case 15:
        take(data[1] % 5, (data[1] & 0x80) != 0);
        break;
      default:
        chip.mmio().bank().write(*mine->slots[place % mine->slots.size()], value);
        break;
    }
  }
  for (unsigned pipe = 0; pipe < chip.display().pipes(); ++pipe) {
    take(pipe, false);
  }
}

}  // namespace halogen::fuzz
