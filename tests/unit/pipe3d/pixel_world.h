// Mapped memory with a surface, for tests of the operations after the pixel shader.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "pipe3d/output/pixel_output.h"
#include "support/mapped_memory.h"

namespace halogen::pipe3d {

class PixelWorld {
 public:
  static constexpr uint64_t kMapped = 2 << 20;
  static constexpr uint64_t kVa = 0x0000'7654'0000'0000;

  memory::AddressSpace& space() { return memory_.space(); }
  std::byte* at(uint64_t address) { return memory_.bytes().data() + (address - kVa); }
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
      std::memcpy(at(kVa + i), &word, 4);
    }
  }
  void set_action(memory::FaultAction action) { memory_.set_action(action); }
  size_t faults() const { return memory_.faults(); }

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
  test::MappedMemory memory_{kMapped, kVa};
};

}  // namespace halogen::pipe3d
