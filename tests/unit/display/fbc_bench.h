// CompressionBench: a mobile device with a compressible screen. Registers, the global table and fences are programmed
// as a driver does. Reference formulas are written here, independent of the model.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "display/fbc/compression.h"
#include "unit/device/memory_bench.h"

namespace halogen::display::fbc_test {

struct Screen {
  uint32_t width = 640;
  uint32_t lines = 480;
  uint32_t pitch_B = 4096;
  uint32_t format = 6;  // DSPCNTR: 4 is 5:5:5, 5 is 5:6:5, 6 is x:8:8:8
  uint32_t x = 0;
  uint32_t y = 0;
  unsigned plane = 0;
  unsigned bytes() const { return format == 6 || format == 14 || format == 10 ? 4 : 2; }
};

struct CompressionBench : device::MemoryBench {
  static constexpr uint64_t kStolen = 0x7800'0000;
  static constexpr uint64_t kFence = 0x10'0000;     // graphics address of the fenced region
  static constexpr uint32_t kLinesBefore = 16;      // lines of the region before the surface
  static constexpr uint64_t kBuffers = 0x100'0000;  // physical address of the region
  static constexpr uint32_t kRegionPages = 0x2000;  // 32 MB
  static constexpr unsigned kFenceNumber = 5;
  static constexpr uint32_t kFrameLinesAfter = 45;  // vertical blank
  static constexpr uint32_t kPlaneEnable = 0x8000'0000;
  static constexpr uint32_t kTiled = 1u << 10;

  explicit CompressionBench(std::string_view device_name, Screen shown = {}, std::string stepping = {})
      : MemoryBench(device_name, {.stepping = std::move(stepping), .stolen_base = kStolen}), screen(shown) {
    for (uint32_t page = 0; page < kRegionPages; ++page) {
      map((kFence >> 12) + page, kBuffers + uint64_t{page} * 4096);
    }
    set_fence(kFenceNumber, kFence, (kFence >> 12) + kRegionPages - 1, screen.pitch_B, false);
    surface = kFence + uint64_t{kLinesBefore} * screen.pitch_B;
    set_mode();
    write_plane(control_bits(), static_cast<uint32_t>(surface));
    next_vblank();
  }

  uint32_t pipe_base() const { return screen.plane * 0x1000; }
  void set_mode() {
    const auto pair = [](uint32_t total, uint32_t active) { return (total - 1) << 16 | (active - 1); };
    const uint32_t at = pipe_base();
    write(0x60000 + at, pair(screen.width + 160, screen.width));
    write(0x60004 + at, pair(screen.width + 160, screen.width));
    write(0x60008 + at, pair(screen.width + 100, screen.width + 20));
    write(0x6000c + at, pair(screen.lines + kFrameLinesAfter, screen.lines));
    write(0x60010 + at, pair(screen.lines + kFrameLinesAfter, screen.lines));
    write(0x60014 + at, pair(screen.lines + 12, screen.lines + 10));
    write(0x6001c + at, (screen.width - 1) << 16 | (screen.lines - 1));
    write(0x70008 + at, 0x8000'0000);
  }
  uint32_t control_bits() const { return kPlaneEnable | screen.format << 26 | screen.plane << 24 | kTiled; }
  // The surface write arms the other registers.
  void write_plane(uint32_t control, uint32_t address) {
    const uint32_t at = pipe_base();
    write(0x70180 + at, control);
    write(0x70188 + at, screen.pitch_B);
    write(0x701a4 + at, screen.y << 16 | screen.x);
    write(0x7019c + at, address);
  }

  // Advances to the exact time of the next vertical blank.
  void next_vblank() {
    const uint64_t next = device->display().next_vblank(screen.plane).value();
    device->advance(next - device->clock().nanoseconds);
  }
  void vblanks(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      next_vblank();
    }
  }
  static constexpr uint64_t kQuarterFrame = 4'000'000;

  // Returns the address of a pixel on the screen; `base` is a graphics address.
  uint64_t pixel_offset(uint32_t column, uint32_t line) const {
    return device::x_tiled(uint64_t{screen.x + column} * screen.bytes(), screen.y + line, screen.pitch_B);
  }
  uint64_t physical_of(uint64_t graphics) const { return graphics - kFence + kBuffers; }
  // Writes memory without any notification.
  void poke(uint32_t column, uint32_t line, uint32_t value) {
    const uint64_t at = physical_of(surface) + pixel_offset(column, line);
    if (screen.bytes() == 4) {
      host.put<uint32_t>(at, value);
    } else {
      host.put<uint16_t>(at, static_cast<uint16_t>(value));
    }
  }
  uint32_t peek(uint32_t column, uint32_t line) {
    const uint64_t at = physical_of(surface) + pixel_offset(column, line);
    return screen.bytes() == 4 ? host.value_at<uint32_t>(at) : host.value_at<uint16_t>(at);
  }
  // Writes as the CPU does, through the fence: its addresses are linear.
  void cpu_write(uint32_t column, uint32_t line, uint32_t value) {
    const uint64_t y = kLinesBefore + screen.y + line;
    const uint64_t at = kFence + y * screen.pitch_B + uint64_t{screen.x + column} * screen.bytes();
    device->bar_write(2, at, screen.bytes(), value);
  }
  // Writes as an engine does, in lines of the screen.
  void engine_write(uint64_t base, uint32_t line, uint32_t count) {
    device->display().on_target_write(GpuVa(base), screen.y + line, count);
  }

  // Returns a line of the screen from the surface, as dwords or widened words.
  std::vector<uint32_t> pixels(uint32_t line) {
    std::vector<uint32_t> all;
    for (uint32_t column = 0; column < screen.width; ++column) {
      all.push_back(peek(column, line));
    }
    return all;
  }
  void fill_line(uint32_t line, uint32_t value) {
    for (uint32_t column = 0; column < screen.width; ++column) {
      poke(column, line, value);
    }
  }
  // Fills a line so that no two adjacent pixels are equal.
  void fill_noise(uint32_t line, uint32_t seed) {
    std::mt19937 random(seed);
    uint32_t last = 0;
    for (uint32_t column = 0; column < screen.width; ++column) {
      uint32_t value = static_cast<uint32_t>(random()) & (screen.bytes() == 4 ? 0xff'ffff : 0x7fff);
      value = value == last ? value ^ 1 : value;
      poke(column, line, value);
      last = value;
    }
  }
  // Fills lines with at most this many colour changes.
  void fill_desktop(uint32_t seed, uint32_t changes = 40) {
    std::mt19937 random(seed);
    for (uint32_t line = 0; line < screen.lines; ++line) {
      const uint32_t runs = 1 + static_cast<uint32_t>(random()) % changes;
      uint32_t value = static_cast<uint32_t>(random());
      for (uint32_t column = 0; column < screen.width; ++column) {
        if (random() % screen.width < runs) {
          value = static_cast<uint32_t>(random());
        }
        poke(column, line, value);
      }
    }
  }

  std::vector<std::byte> stolen(uint64_t address, size_t bytes) {
    std::vector<std::byte> data(bytes);
    EXPECT_TRUE(device->memory().map().physical().read(memory::MemorySpace::system, PhysAddr(address), data));
    return data;
  }
  display::FrameCompressor& compressor() { return *device->display().compressor(); }
  // Returns a line as scan-out gets it from the compressor. Empty: it comes from the surface.
  std::vector<uint32_t> compressed_line(uint32_t line) {
    std::vector<std::byte> bytes(size_t{screen.width} * screen.bytes());
    if (!compressor().read_line(screen.plane, line, bytes)) {
      return {};
    }
    std::vector<uint32_t> all;
    for (uint32_t column = 0; column < screen.width; ++column) {
      uint32_t value = 0;
      std::memcpy(&value, bytes.data() + size_t{column} * screen.bytes(), screen.bytes());
      all.push_back(value);
    }
    return all;
  }

  Screen screen;
  uint64_t surface = 0;
};

// GM965.
struct FbcBench : CompressionBench {
  static constexpr uint64_t kBuffer = kStolen + 0x1'0000;
  static constexpr uint64_t kLengths = kStolen + 0x8000;
  enum Register : uint32_t {
    kCfbBase = 0x3200,
    kLlBase = 0x3204,
    kControl = 0x3208,
    kCommand = 0x320c,
    kStatus = 0x3210,
    kControl2 = 0x3214,
    kFenceOffset = 0x3218,
    kModifications = 0x3220,
    kTag = 0x3300,
  };
  static constexpr uint32_t kEnable = 0x8000'0000;
  static constexpr uint32_t kPeriodic = 0x4000'0000;
  static constexpr uint32_t kStopOnModification = 1u << 15;
  static constexpr uint32_t kUncompressible = 1u << 14;
  static constexpr uint32_t kCompressing = 0x8000'0000;
  static constexpr uint32_t kCompressed = 0x4000'0000;
  static constexpr uint32_t kModified = 0x2000'0000;

  explicit FbcBench(Screen shown = {}) : CompressionBench("gm965", shown) {
    write(kCfbBase, static_cast<uint32_t>(kBuffer));
    write(kLlBase, static_cast<uint32_t>(kLengths));
    write(kControl2, 2 | screen.plane);
    write(kFenceOffset, kLinesBefore);
  }
  // Returns an enabling value of FBC_CONTROL.
  uint32_t control(uint32_t stride_B, uint32_t flags = 0) const {
    return kEnable | flags | (stride_B / 64 - 1) << 5 | kFenceNumber;
  }
  void enable(uint32_t stride_B = 1024, uint32_t flags = 0) {
    stride = stride_B;
    write(kControl, control(stride_B, flags));
  }
  void request() { write(kCommand, 1); }
  // Runs one whole pass: the request, its vertical blank and enough time.
  void pass() {
    request();
    next_vblank();
    device->advance(kQuarterFrame);
  }
  uint32_t status() { return read(kStatus); }
  uint32_t tag(unsigned index) { return read(kTag + index / 16 * 4) >> (index % 16 * 2) & 3; }
  unsigned odd() const { return screen.y & 1; }
  // Returns the tag of a line of the screen.
  uint32_t tag_of_line(uint32_t line) { return tag((line + odd()) / 2); }
  unsigned tags() const { return (screen.lines + odd() + 1) / 2; }
  unsigned count_tags(uint32_t value) {
    unsigned count = 0;
    for (unsigned i = 0; i < tags(); ++i) {
      count += tag(i) == value ? 1u : 0u;
    }
    return count;
  }

  uint32_t stride = 1024;
};

// Tag values.
constexpr uint32_t kTagModified = 0;
constexpr uint32_t kTagUncompressed = 1;
constexpr uint32_t kTagUncompressible = 2;
constexpr uint32_t kTagCompressed = 3;

// The reference encoder: one pixel at a time, as the manual describes it.
inline std::vector<uint32_t> slow_runs(const std::vector<uint32_t>& pixels, uint32_t format) {
  const uint32_t mask = format == 6 ? 0xff'ffff : format == 5 ? 0xffff : 0x7fff;
  const uint32_t longest = format == 6 ? 256 : 2048;
  const unsigned shift = format == 6 ? 24u : 16u;
  std::vector<uint32_t> colours;
  std::vector<uint32_t> lengths;
  for (const uint32_t pixel : pixels) {
    if (!colours.empty() && colours.back() == (pixel & mask) && lengths.back() < longest) {
      ++lengths.back();
    } else {
      colours.push_back(pixel & mask);
      lengths.push_back(1);
    }
  }
  std::vector<uint32_t> runs;
  for (size_t i = 0; i < colours.size(); ++i) {
    runs.push_back(colours[i] | (lengths[i] - 1) << shift);
  }
  return runs;
}

}  // namespace halogen::display::fbc_test
