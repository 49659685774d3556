// Bench: a display without a device. It has the registers of one device, a listener that records its calls, and a mode
// with round numbers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/event.h"
#include "display/display.h"
#include "mmio/mmio_space.h"
#include "spec/device_model.h"

namespace halogen::display::display_test {

using spec::DeviceId;

struct Heard {
  std::string what;
  unsigned index;  // index of the pipe or plane
  uint64_t at;
  bool operator==(const Heard&) const = default;
};

inline void PrintTo(const Heard& heard, std::ostream* out) {
  *out << heard.what << " " << heard.index << " @" << heard.at;
}

class Recorder final : public display::DisplayListener {
 public:
  void on_vblank(unsigned pipe) override { hear("vblank", pipe); }
  void on_vsync(unsigned pipe) override { hear("vsync", pipe); }
  void on_hblank(unsigned pipe) override { hear("hblank", pipe); }
  void on_line_compare(unsigned pipe, bool inside) override { hear(inside ? "in" : "out", pipe); }
  void on_flip_pending(unsigned plane, bool pending) override { hear(pending ? "flip" : "flip done", plane); }
  void on_overlay_flip_pending(bool pending) override { hear(pending ? "overlay" : "overlay done", 0); }
  void on_overlay_fetch(const display::OverlayFlip& request, std::span<std::byte> /*into*/) override {
    hear("fetch", static_cast<unsigned>(request.address.value));
  }
  void on_pipe_event(unsigned pipe, bool asserted) override { hear(asserted ? "event" : "event gone", pipe); }

  std::vector<Heard> of(std::string_view what) const {
    std::vector<Heard> found;
    for (const Heard& one : heard) {
      if (one.what == what) {
        found.push_back(one);
      }
    }
    return found;
  }
  std::vector<std::string> order() const {
    std::vector<std::string> names;
    for (const Heard& one : heard) {
      names.push_back(one.what);
    }
    return names;
  }

  std::vector<Heard> heard;
  const display::Display* display = nullptr;
  std::function<void(const Heard&)> then;

 private:
  void hear(std::string what, unsigned index) {
    heard.push_back({std::move(what), index, display == nullptr ? 0 : display->now_ns()});
    if (then) {
      const Heard copy = heard.back();
      then(copy);
    }
  }
};

// Pixel and line counts as in a monitor's data sheet; the registers hold them minus one.
struct Mode {
  uint32_t h_active, h_sync_start, h_sync_end, h_total;
  uint32_t v_active, v_sync_start, v_sync_end, v_total;
};

// Eight hundred pixels and a thousand lines: a frame of 60 Hz takes 16 666 666.67 ns, a line 16 666.67 ns.
constexpr Mode kMode = {640, 656, 752, 800, 960, 970, 972, 1000};
constexpr uint64_t kSecond = 1'000'000'000;

struct Bench {
  explicit Bench(DeviceId id)
      : model(spec::model(id)),
        mmio(model, mmio::RegisterMap::for_device(model), mmio::SteeringConfig::for_device(id), events, "mmio"),
        display(model, mmio, recorder, events, "display") {
    recorder.display = &display;
  }

  const mmio::RegisterSlot& slot(std::string_view name, unsigned index = 0) const {
    const mmio::RegisterSlot* found = mmio.bank().map().find(name, {}, index);
    EXPECT_NE(found, nullptr) << name;
    return *found;
  }
  bool has(std::string_view name) const { return mmio.bank().map().find(name) != nullptr; }
  void write(std::string_view name, unsigned index, uint32_t value) { mmio.bank().write(slot(name, index), value); }
  uint32_t read(std::string_view name, unsigned index = 0) { return mmio.bank().read(slot(name, index)); }

  // Returns the name of a pipe's register: C and D have a suffix.
  static std::string suffixed(std::string_view name, unsigned pipe) {
    return std::string(name).append(pipe < 2 ? "" : pipe == 2 ? "_C" : "_D");
  }
  void pipe_write(std::string_view name, unsigned pipe, uint32_t value) {
    write(suffixed(name, pipe), pipe < 2 ? pipe : 0, value);
  }
  uint32_t pipe_read(std::string_view name, unsigned pipe) { return read(suffixed(name, pipe), pipe < 2 ? pipe : 0); }

  static uint32_t pair(uint32_t high, uint32_t low) { return (high - 1) << 16 | (low - 1); }
  void program(unsigned pipe, const Mode& mode) {
    pipe_write("HTOTAL", pipe, pair(mode.h_total, mode.h_active));
    pipe_write("HBLANK", pipe, pair(mode.h_total, mode.h_active));
    pipe_write("HSYNC", pipe, pair(mode.h_sync_end, mode.h_sync_start));
    pipe_write("VTOTAL", pipe, pair(mode.v_total, mode.v_active));
    pipe_write("VBLANK", pipe, pair(mode.v_total, mode.v_active));
    pipe_write("VSYNC", pipe, pair(mode.v_sync_end, mode.v_sync_start));
  }
  static constexpr uint32_t kEnable = 0x8000'0000;
  static constexpr uint32_t kState = 0x4000'0000;
  void enable(unsigned pipe, bool on = true) { pipe_write("PIPECONF", pipe, on ? kEnable : 0); }
  void run(unsigned pipe, const Mode& mode = kMode) {
    program(pipe, mode);
    enable(pipe);
  }
  // Returns the first nanosecond of a line in frame `frame` of kMode, at sixty frames per second.
  static uint64_t line_ns(uint64_t frame, uint64_t line, const Mode& mode = kMode) {
    const uint64_t lines = frame * mode.v_total + line;
    const uint64_t rate = 60u * mode.v_total;
    return lines / rate * kSecond + (lines % rate * kSecond + rate - 1) / rate;
  }

  const spec::DeviceModel& model;
  EventLog events;
  mmio::MmioSpace mmio;
  Recorder recorder;
  display::Display display;
};

inline const std::vector<DeviceId>& all_devices() {
  static const std::vector<DeviceId> kAll = [] {
    std::vector<DeviceId> ids;
    for (const spec::DeviceModel& model : spec::device_models()) {
      ids.push_back(model.id);
    }
    return ids;
  }();
  return kAll;
}

inline std::string device_name(const testing::TestParamInfo<DeviceId>& info) {
  return std::string(spec::model(info.param).name);
}

}  // namespace halogen::display::display_test
