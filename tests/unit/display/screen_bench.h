// Screen: a whole device with a small screen of 64 by 48 pixels on each pipe, graphics memory backed page by page.
// Registers are accessed by name; the tests write their bits as numbers.
#pragma once

#include <fmt/format.h>

#include <string>

#include "unit/device/memory_bench.h"

namespace halogen::display::scanout_test {

using picture::Image;
using picture::Rgba;

constexpr uint32_t kWidth = 64;
constexpr uint32_t kHeight = 48;
constexpr uint32_t kEnable = 0x8000'0000;
constexpr uint64_t kFrameTime = 17'000'000;  // slightly more than one frame at 60 Hz
constexpr uint32_t kSurface = 0x0010'0000;   // address in the global table
constexpr uint64_t kBacking = 0x1000'0000;   // physical address of page 0

struct Screen : device::MemoryBench {
  explicit Screen(std::string_view name) : MemoryBench(name) {}
  explicit Screen(const spec::DeviceModel& chosen) : MemoryBench(chosen) {}

  const mmio::RegisterSlot* find(std::string_view name, unsigned index = 0) {
    return device->mmio().bank().map().find(name, {}, index);
  }
  void set(std::string_view name, unsigned index, uint32_t value) {
    const mmio::RegisterSlot* slot = find(name, index);
    ASSERT_NE(slot, nullptr) << name << " " << index;
    device->mmio().bank().write(*slot, value);
  }
  void set(std::string_view name, uint32_t value) { set(name, 0, value); }

  void set_pipe(std::string_view name, unsigned pipe, uint32_t value) {
    const std::string_view letter = pipe < 2 ? "" : pipe == 2 ? "_C" : "_D";
    set(std::string(name).append(letter), pipe < 2 ? pipe : 0, value);
  }
  void start(unsigned pipe = 0) {
    set_pipe("HTOTAL", pipe, 79u << 16 | (kWidth - 1));
    set_pipe("HBLANK", pipe, 79u << 16 | (kWidth - 1));
    set_pipe("HSYNC", pipe, 75u << 16 | 70);
    set_pipe("VTOTAL", pipe, 59u << 16 | (kHeight - 1));
    set_pipe("VBLANK", pipe, 59u << 16 | (kHeight - 1));
    set_pipe("VSYNC", pipe, 55u << 16 | 52);
    set_pipe("PIPESRC", pipe, (kWidth - 1) << 16 | (kHeight - 1));
    set_pipe("PIPECONF", pipe, kEnable);
    ASSERT_TRUE(device->display().pipe_running(pipe));
  }
  void frame() { device->advance(kFrameTime); }
  Image shown(unsigned pipe = 0) {
    auto image = device->take_frame(pipe);
    EXPECT_TRUE(image.has_value());
    return image ? *image : Image(kWidth, kHeight);
  }

  void back(uint64_t address, uint64_t bytes) {
    for (uint64_t page = address / 4096; page <= (address + bytes - 1) / 4096; ++page) {
      map(page, kBacking + page * 4096);
    }
  }
  template <class T>
  void put(uint64_t address, T value) {
    host.put<T>(kBacking + address, value);
  }
};

constexpr uint32_t mixed(uint32_t x, uint32_t y) {
  return (x * 0x0101'0305u + y * 0x0407'1109u + 0x0012'3456u) & 0x00ff'ffff;
}
constexpr Rgba rgb(uint32_t xrgb) {
  return {static_cast<uint8_t>(xrgb >> 16), static_cast<uint8_t>(xrgb >> 8), static_cast<uint8_t>(xrgb), 255};
}
constexpr uint32_t pair(uint32_t y, uint32_t x) {
  return y << 16 | x;
}

// The primary plane of a pipe, by its register offsets.
struct Primary {
  bool universal;
  uint32_t base;  // offset of the control register

  Primary(Screen& screen, unsigned pipe) {
    const display::PlaneModel* plane = screen.device->display().find_plane(pipe, 0);
    universal = plane->kind == display::PlaneKind::universal;
    base = plane->slots.control->offset;
  }
  uint32_t format() const { return universal ? 4u << 24 : 6u << 26; }  // XRGB8888
  uint32_t stride(uint32_t bytes, uint32_t tile = 64) const { return universal ? bytes / tile : bytes; }
};

}  // namespace halogen::display::scanout_test

namespace halogen::picture {
inline void PrintTo(const Rgba& c, std::ostream* out) {
  *out << "(" << int{c.red} << "," << int{c.green} << "," << int{c.blue} << "," << int{c.alpha} << ")";
}
}  // namespace halogen::picture
