// BlitBench: BLT commands as the manual encodes them, on the ring that executes them, which is the render ring on Gen4
// and the copy engine's ring later. Addresses take one dword, or two from Gen8 on. The bench does not use the model's
// descriptions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "covers.h"
#include "support/engine_bench.h"

namespace halogen {

using Dwords = std::vector<uint32_t>;

inline constexpr uint32_t kDepth8 = 0, kDepth565 = 1, kDepth1555 = 2, kDepth32 = 3;
inline constexpr uint32_t kClip = 1u << 30, kMonoSourceTransparent = 1u << 29, kMonoPatternTransparent = 1u << 28;
inline constexpr uint32_t kSolid = 1u << 31;
inline constexpr uint32_t kTiled = 1u << 11, kSourceTiled = 1u << 15, kWriteAll = 3u << 20;

inline uint32_t pack_yx(int y, int x) {
  return static_cast<uint32_t>(y) << 16 | (static_cast<uint32_t>(x) & 0xffff);
}
inline uint32_t control(uint32_t depth, uint32_t rop, int pitch, uint32_t flags = 0) {
  return flags | depth << 24 | rop << 16 | (static_cast<uint32_t>(pitch) & 0xffff);
}
inline Dwords operator+(Dwords left, const Dwords& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

struct Box {
  int x1, y1, x2, y2;
};

struct BlitBench : EngineBench {
  explicit BlitBench(std::string_view name) : EngineBench(name), engine(std::string(is_gen4() ? "rcs0" : "bcs0")) {
    start_ring(engine, 8);
    host.log.clear();
  }

  bool wide() const { return entry_bytes() == 8; }
  Dwords at(uint64_t address) const {
    return wide() ? Dwords{static_cast<uint32_t>(address), static_cast<uint32_t>(address >> 32)}
                  : Dwords{static_cast<uint32_t>(address)};
  }
  // Returns a header with its length: opcode in bits 28:22, total length minus two in the low bits.
  static Dwords with_header(uint32_t opcode, uint32_t flags, Dwords rest) {
    Dwords all{2u << 29 | opcode << 22 | flags | static_cast<uint32_t>(rest.size() - 1)};
    return all + rest;
  }

  Dwords color(uint64_t base, uint32_t control_dword, Box box, uint32_t value, uint32_t flags = kWriteAll) const {
    return with_header(
        0x50, flags,
        Dwords{control_dword, pack_yx(box.y1, box.x1), pack_yx(box.y2, box.x2)} + at(base) + Dwords{value});
  }
  Dwords copy(uint64_t base, uint32_t control_dword, Box box, uint64_t source, int source_pitch, int sx, int sy,
              uint32_t flags = kWriteAll) const {
    return with_header(0x53, flags,
                       Dwords{control_dword, pack_yx(box.y1, box.x1), pack_yx(box.y2, box.x2)} + at(base) +
                           Dwords{pack_yx(sy, sx), static_cast<uint32_t>(source_pitch) & 0xffff} + at(source));
  }
  Dwords pattern(uint64_t base, uint32_t control_dword, Box box, uint64_t pattern_base, uint32_t seeds = 0,
                 uint32_t flags = kWriteAll) const {
    return with_header(
        0x51, flags | seeds,
        Dwords{control_dword, pack_yx(box.y1, box.x1), pack_yx(box.y2, box.x2)} + at(base) + at(pattern_base));
  }
  Dwords setup(uint64_t base, uint32_t control_dword, Box clip, uint32_t background, uint32_t foreground,
               uint64_t pattern_base = 0, uint32_t flags = kWriteAll) const {
    return with_header(0x01, flags,
                       Dwords{control_dword, pack_yx(clip.y1, clip.x1), pack_yx(clip.y2, clip.x2)} + at(base) +
                           Dwords{background, foreground} + at(pattern_base));
  }
  Dwords setup_mono(uint64_t base, uint32_t control_dword, Box clip, uint32_t background, uint32_t foreground,
                    uint32_t low, uint32_t high, uint32_t flags = kWriteAll) const {
    return with_header(0x11, flags,
                       Dwords{control_dword, pack_yx(clip.y1, clip.x1), pack_yx(clip.y2, clip.x2)} + at(base) +
                           Dwords{background, foreground, low, high});
  }
  static Dwords setup_clip(Box clip) {
    return with_header(0x03, 0, {pack_yx(clip.y1, clip.x1), pack_yx(clip.y2, clip.x2)});
  }
  static Dwords pixel(int x, int y, uint32_t flags = 0) { return with_header(0x24, flags, {pack_yx(y, x)}); }
  static Dwords scanlines(Box box, uint32_t flags = 0) {
    return with_header(0x25, flags, {pack_yx(box.y1, box.x1), pack_yx(box.y2, box.x2)});
  }
  Dwords text(Box box, uint64_t source, bool byte_packed = false) const {
    return with_header(0x26, byte_packed ? 1u << 16 : 0,
                       Dwords{pack_yx(box.y1, box.x1), pack_yx(box.y2, box.x2)} + at(source));
  }
  static Dwords text_immediate(Box box, const Dwords& data, bool byte_packed = false) {
    return with_header(0x31, byte_packed ? 1u << 16 : 0,
                       Dwords{pack_yx(box.y1, box.x1), pack_yx(box.y2, box.x2)} + data);
  }
  Dwords mono_copy(uint64_t base, uint32_t control_dword, Box box, uint64_t source, uint32_t background,
                   uint32_t foreground, unsigned start = 0, uint32_t flags = kWriteAll) const {
    return with_header(0x54, flags | start << 17,
                       Dwords{control_dword, pack_yx(box.y1, box.x1), pack_yx(box.y2, box.x2)} + at(base) + at(source) +
                           Dwords{background, foreground});
  }

  void run_commands(const Dwords& commands) {
    emit(engine, commands);
    submit(engine);
    EXPECT_TRUE(device->settle());
  }
  bool idle() { return reg(engine, kHead) % (ring_bytes()) == reg(engine, kTail); }
  uint64_t ring_bytes() const { return 8 * kPage; }

  // Returns a byte of memory at a global graphics address.
  uint8_t byte_at(uint64_t global) { return host.value_at<uint8_t>(host_address(global)); }
  void put_byte(uint64_t global, uint8_t value) { host.put<uint8_t>(host_address(global), value); }
  uint32_t pixel_at(uint64_t global, unsigned bytes) {
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) {
      value |= static_cast<uint32_t>(byte_at(global + i)) << (8 * i);
    }
    return value;
  }
  void fill(uint64_t global, size_t bytes, uint8_t value) {
    for (size_t i = 0; i < bytes; ++i) {
      put_byte(global + i, value);
    }
  }
  size_t events(EventKind kind) const { return host.log.count(kind); }

  std::string engine;
};

inline std::vector<std::string> every_chip() {
  std::vector<std::string> names;
  for (const spec::DeviceModel* model : device::every_model()) {
    names.emplace_back(model->name);
  }
  return names;
}

}  // namespace halogen
