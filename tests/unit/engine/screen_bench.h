// ScreenBench: running pipes, with modes and clocks programmed as a driver does. Expected times are computed from the
// registers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flow_bench.h"

namespace halogen {

// Pixel and line counts as in a monitor's data sheet; the registers hold them minus one.
struct ScreenMode {
  uint32_t h_active = 640, h_sync_start = 656, h_sync_end = 752, h_total = 768;
  uint32_t v_active = 80, v_sync_start = 84, v_sync_end = 86, v_total = 100;
};

struct ScreenBench : FlowBench {
  static constexpr uint32_t kEnable = 0x8000'0000, kTiled = 1u << 10;
  static constexpr uint32_t kIsr = 0x20ac, kIir = 0x20a4, kImr = 0x20a8, kIer = 0x20a0;

  explicit ScreenBench(std::string_view name) : FlowBench(name) { start_ring("rcs0"); }

  // Register offsets of Gen4, for pipes A and B.
  static uint32_t timing(unsigned pipe, uint32_t offset) { return 0x60000 + 0x1000 * pipe + offset; }
  static uint32_t plane(unsigned number, uint32_t offset) { return 0x70000 + 0x1000 * number + offset; }
  static uint32_t status(unsigned pipe) { return 0x70024 + 0x1000 * pipe; }

  // 96 MHz * (5 * 14 + 10) / 5, divided by 2 and by 10: 76.8 MHz.
  void start_clock(unsigned pipe) {
    write(pipe == 0 ? 0x6040 : 0x6048, 3u << 16 | 12u << 8 | 8u);
    write(pipe == 0 ? 0x6014 : 0x6018, 1u << 31 | 1u << 26 | 0b10u << 16);
  }
  static constexpr uint64_t kHertz = 76'800'000;

  void start_pipe(unsigned pipe, const ScreenMode& mode = {}) {
    const auto pair = [](uint32_t high, uint32_t low) { return (high - 1) << 16 | (low - 1); };
    start_clock(pipe);
    write(timing(pipe, 0x00), pair(mode.h_total, mode.h_active));
    write(timing(pipe, 0x04), pair(mode.h_total, mode.h_active));
    write(timing(pipe, 0x08), pair(mode.h_sync_end, mode.h_sync_start));
    write(timing(pipe, 0x0c), pair(mode.v_total, mode.v_active));
    write(timing(pipe, 0x10), pair(mode.v_total, mode.v_active));
    write(timing(pipe, 0x14), pair(mode.v_sync_end, mode.v_sync_start));
    write(plane(pipe, 0x08), kEnable);
    modes[pipe] = mode;
    started[pipe] = now();
  }
  void stop_pipe(unsigned pipe) { write(plane(pipe, 0x08), 0); }

  uint64_t now() const { return device->clock().nanoseconds; }
  void advance_to(uint64_t time) {
    ASSERT_GE(time, now());
    device->advance(time - now());
  }
  // Returns the time of a pixel, counted from the start: the sync before the first line.
  uint64_t time_of(unsigned pipe, uint64_t pixels) const {
    return started[pipe] + (pixels * 1'000'000'000 + kHertz - 1) / kHertz;
  }
  uint64_t line_at(unsigned pipe, uint64_t frame, uint64_t line) const {
    const ScreenMode& mode = modes[pipe];
    return time_of(pipe, (frame * mode.v_total + line) * mode.h_total);
  }
  uint64_t vblank_at(unsigned pipe, uint64_t frame) const { return line_at(pipe, frame, modes[pipe].v_active); }

  // Shows a tiled surface on a plane of a pipe.
  void show(unsigned number, unsigned pipe, uint32_t surface, uint32_t stride = 4096) {
    write(plane(number, 0x180), kEnable | pipe << 24 | kTiled);
    write(plane(number, 0x188), stride);
    write(plane(number, 0x19c), surface);
  }
  const display::PlaneImage& image(unsigned number) const { return *device->display().active_image(number); }

  // Submits commands and a store after them; `done` tells whether the store was executed.
  void go(const Dwords& dwords) {
    if (data == 0) {
      data = allocate(1);
    }
    emit("rcs0", join({dwords, {kNoop}, store(data, ++stamp)}));
    submit("rcs0");
  }
  bool done() { return data != 0 && peek(data) == stamp; }
  // Expects the stream to continue at `time`: not before, and within three commands afterwards.
  void expect_done_at(uint64_t time) {
    EXPECT_FALSE(done()) << "too early, at " << now();
    ASSERT_GE(time, now());
    device->advance(time - now());
    EXPECT_FALSE(done()) << "not before " << time;
    device->advance(kThreeCommands);
    EXPECT_TRUE(done()) << "at " << time;
  }
  void expect_done_at_once() {
    device->advance(kSoon);
    EXPECT_TRUE(done());
  }
  static constexpr uint64_t kThreeCommands = 30, kSoon = 400;

  static Dwords wait(uint32_t bits) { return {kWaitForEvent | bits}; }
  // Bits of the wait command, G45 PRM vol. 1b 1.21 (seed 003).
  static constexpr uint32_t kWindowA = 1u << 1, kFlipA = 1u << 2, kVblankA = 1u << 3, kCompression = 1u << 4,
                            kWindowB = 1u << 5, kFlipB = 1u << 6, kVblankB = 1u << 7, kHblankA = 1u << 13,
                            kHblankB = 1u << 14, kOverlay = 1u << 16, kStartVblankA = 1u << 17,
                            kStartVblankB = 1u << 18;
  static uint32_t code(uint32_t number) { return number << 9; }

  static Dwords lines(bool inclusive, unsigned pipe, uint32_t first, uint32_t last) {
    return {(inclusive ? 0x12u : 0x13u) << 23 | pipe << 20, first << 16 | last};
  }
  static Dwords flip(unsigned number, uint32_t base, uint32_t pitch = 4096, bool tiled = true) {
    return {0x14u << 23 | number << 20 | 1, pitch, base | (tiled ? 1u : 0u), kNoop};
  }
  static Dwords async_flip(unsigned number, uint32_t base, uint32_t pitch = 4096, bool tiled = true) {
    Dwords command = flip(number, base, pitch, tiled);
    command[0] |= 1u << 22;
    return command;
  }

  ScreenMode modes[2];
  uint64_t started[2] = {};
  uint64_t data = 0;
  uint32_t stamp = 0;
};

}  // namespace halogen
