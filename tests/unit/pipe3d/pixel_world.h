// A piece of mapped memory with a surface in it, for tests of what is behind the pixel shader.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "memory/address_space.h"
#include "memory/page_format.h"
#include "memory/physical_memory.h"
#include "memory/tlb.h"
#include "pipe3d/pixel_output.h"
#include "spec/device_model.h"

namespace halogen::pipe3d {

class PixelWorld : private FaultHandler {
 public:
  static constexpr uint64_t kBytes = 4 << 20;
  static constexpr uint64_t kTables = 3 << 20;
  static constexpr uint64_t kMapped = 2 << 20;
  static constexpr uint64_t kVa = 0x0000'7654'0000'0000;

  PixelWorld() : bytes_(kBytes) {
    memory_.add({MemorySpace::system, MemoryKind::ram, 0, kBytes, &frames_});
    WalkContext context;
    context.format = formats_.find(WalkMode::legacy48);
    context.roots[0] = kTables;
    const uint64_t indices[] = {kVa >> 39 & 511, kVa >> 30 & 511, kVa >> 21 & 511};
    for (uint64_t level = 0; level < 3; ++level) {
      entry(kTables + level * 4096 + indices[level] * 8) = (kTables + (level + 1) * 4096) | 3;
    }
    for (uint64_t page = 0; page < kMapped / 4096; ++page) {
      entry(kTables + 3 * 4096 + page * 8) = page * 4096 | 3;
    }
    space_.load(context);
  }

  AddressSpace& space() { return space_; }
  std::byte* at(uint64_t address) { return bytes_.data() + (address - kVa); }
  template <class T>
  T value(uint64_t address) {
    T read{};
    std::memcpy(&read, at(address), sizeof read);
    return read;
  }
  void scramble(uint32_t seed) {
    std::mt19937 random(seed);
    for (uint64_t i = 0; i < kMapped; i += 4) {
      const auto word = static_cast<uint32_t>(random());
      std::memcpy(bytes_.data() + i, &word, 4);
    }
  }
  void set_action(FaultAction action) { action_ = action; }
  size_t faults() const { return faults_; }

  message::Surface target(hw::SurfaceFormat format, uint32_t width, uint32_t height) const {
    message::Surface surface;
    surface.kind = message::Surface::Kind::image;
    surface.type = hw::SurfaceType::SURFTYPE_2D;
    surface.format = &surface::texel_format(format);
    surface.format_id = format;
    surface.base = kVa;
    surface.width = width;
    surface.height = height;
    surface.depth = 1;
    surface.layout.pattern = &surface::kTileY;
    surface.layout.pitch_B = (width * surface.format->bytes() + 127) / 128 * 128;
    surface.layout.layer_rows = (height + 31) / 32 * 32;
    return surface;
  }

 private:
  FaultAction on_fault(const Fault& /*fault*/) override {
    ++faults_;
    return action_;
  }
  uint64_t& entry(uint64_t at) { return *reinterpret_cast<uint64_t*>(bytes_.data() + at); }

  std::vector<std::byte> bytes_;
  FlatFrames frames_{bytes_};
  PhysicalMemory memory_;
  PageFormats formats_{*spec::find_device("dg1"), 39};
  Tlb tlb_{64};
  FaultAction action_ = FaultAction::stop;
  size_t faults_ = 0;
  AddressSpace space_{memory_, tlb_, 1, *this};
};

}  // namespace halogen::pipe3d
