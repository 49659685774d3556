// DpfcBench: GM45 with its compressor, and a decoder of compressed lines that is written only from their description
// (docs/frame-buffer-compression.md).
#pragma once

#include <array>

#include "unit/display/fbc_bench.h"

namespace halogen::display::fbc_test {

struct DpfcBench : CompressionBench {
  static constexpr uint32_t kOffset = 0x2'0000;
  enum Register : uint32_t {
    kBase = 0x3200,
    kControl = 0x3208,
    kRecompression = 0x320c,
    kStatus = 0x3210,
    kStatus2 = 0x3214,
    kFenceOffset = 0x3218,
    kSlbData = 0x321c,
    kDebug = 0x3220,
    kExtra = 0x3224,
  };
  static constexpr uint32_t kEnable = 1u << 31;
  static constexpr uint32_t kFenceEnable = 1u << 29;
  static constexpr uint32_t kNoCommandNuke = 1u << 27;
  static constexpr uint32_t kNoRegisterNuke = 1u << 26;
  static constexpr uint32_t kPersistent = 1u << 25;
  static constexpr uint32_t kKeepSlb = 1u << 15;
  static constexpr uint32_t kHalf = 1u << 6;
  static constexpr uint32_t kQuarter = 2u << 6;

  explicit DpfcBench(Screen shown = {}, std::string stepping = {})
      : CompressionBench("gm45", shown, std::move(stepping)) {
    write(kBase, kOffset);
    write(kFenceOffset, kLinesBefore);
  }
  uint32_t control(uint32_t flags) const { return kEnable | screen.plane << 30 | kFenceEnable | kFenceNumber | flags; }
  // Enables the compressor; every line that can be compressed is.
  void enable(uint32_t flags = 0) {
    write(kControl, control(flags));
    vblanks(2);
  }
  // Counters of the frame before the last vertical blank.
  uint32_t invalidated() { return read(kStatus) >> 16; }
  uint32_t fetched() { return read(kStatus) & 0xffff; }
  std::vector<uint32_t> slb() {
    write(kSlbData, 0);
    std::vector<uint32_t> lines;
    for (uint32_t line = 0; line < screen.lines; line += 2) {
      const uint32_t data = read(kSlbData);
      lines.push_back(data & 0xffff);
      lines.push_back(data >> 16);
    }
    return lines;
  }
  unsigned compressed_lines() {
    unsigned count = 0;
    for (const uint32_t data : slb()) {
      count += data != 0 ? 1u : 0u;
    }
    return count;
  }
  void flip_by_register(uint64_t to) {
    write_plane(control_bits(), static_cast<uint32_t>(to));
    surface = to;
  }
  void flip_by_command(uint64_t to) {
    device->display().flip(
        {.plane = screen.plane, .base = static_cast<uint32_t>(to), .pitch = screen.pitch_B, .tiled = 1});
    surface = to;
  }
};

struct SlowLine {
  std::vector<uint32_t> pixels;
  std::array<unsigned, 16> used{};  // uses of each operation
  bool ok = true;
};

inline SlowLine slow_decode(const std::vector<std::byte>& code, size_t width, unsigned pixel_bytes) {
  SlowLine line;
  size_t place = 0;
  const auto nibble = [&]() -> uint32_t {
    if (place / 2 >= code.size()) {
      line.ok = false;
      return 0;
    }
    const uint32_t byte = std::to_integer<uint32_t>(code[place / 2]);
    return (place++ % 2 == 0 ? byte : byte >> 4) & 15;
  };
  const auto number = [&](unsigned nibbles) {
    uint64_t value = 0;
    for (unsigned i = 0; i < nibbles; ++i) {
      value |= uint64_t{nibble()} << (4 * i);
    }
    return value;
  };
  std::vector<uint32_t> palette(16, 0);
  uint32_t last = 0;
  const unsigned widths[3] = {pixel_bytes == 4 ? 8u : 5u, pixel_bytes == 4 ? 8u : 6u, pixel_bytes == 4 ? 8u : 5u};
  while (line.pixels.size() < width && line.ok) {
    const uint32_t op = nibble();
    ++line.used[op];
    if (op == 0 || op == 1) {
      const uint64_t count = number(op + 1) + 1;
      line.pixels.insert(line.pixels.end(), count, last);
    } else if (op == 2) {
      const uint64_t groups = number(1) + 1;
      for (uint64_t group = 0; group < groups; ++group) {
        const uint32_t bits = nibble();
        for (unsigned i = 0; i < 4; ++i) {
          line.pixels.push_back(palette[bits >> i & 1]);
        }
      }
    } else if (op == 3) {
      line.pixels.push_back(palette[nibble()]);
    } else if (op >= 4 && op <= 9) {
      uint32_t pixel = 0;
      if (op == 9) {
        pixel = static_cast<uint32_t>(number(2 * pixel_bytes));
      } else {
        const unsigned bits = op - 2;
        uint64_t fields = number((3 * bits + 3) / 4);
        uint32_t rest = last;
        unsigned shift = 0;
        for (const unsigned field : widths) {
          int64_t difference = static_cast<int64_t>(fields % (1u << bits));
          difference -= difference >= 1 << (bits - 1) ? 1 << bits : 0;
          const int64_t sum = static_cast<int64_t>(rest % (1u << field)) + difference;
          pixel |= static_cast<uint32_t>(sum & ((1 << field) - 1)) << shift;
          fields >>= bits;
          rest >>= field;
          shift += field;
        }
        pixel |= shift < 32 ? rest << shift : 0;
      }
      palette.insert(palette.begin(), pixel);
      palette.pop_back();
      line.pixels.push_back(pixel);
    } else {
      line.ok = false;
    }
    if (!line.pixels.empty()) {
      last = line.pixels.back();
    }
  }
  line.ok = line.ok && line.pixels.size() >= width;
  line.pixels.resize(width);
  return line;
}

}  // namespace halogen::display::fbc_test
