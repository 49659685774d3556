// Connects a frame buffer compressor to memory. Its buffers are stolen memory by physical address, its source is the
// memory that the display reads, and it receives CPU writes through fences.
#pragma once

#include "device/aperture.h"
#include "device/firmware.h"
#include "device/memory_unit.h"
#include "display/display.h"

namespace halogen::device {

class CompressionPort final : public display::CompressionMemory, public ApertureWatcher {
 public:
  // Connects both sides, if the display has a compressor.
  CompressionPort(display::Display& display, MemoryUnit& memory, const MemoryLayout& layout)
      : display_(display), memory_(memory), layout_(layout) {
    if (display.compressor() != nullptr) {
      display.compressor()->connect(this);
      memory.aperture().set_watcher(this);
    }
  }
  CompressionPort(const CompressionPort&) = delete;
  CompressionPort& operator=(const CompressionPort&) = delete;

  PhysAddr stolen_base() const override { return PhysAddr(layout_.dsm_base); }
  uint64_t stolen_bytes() const override { return layout_.dsm_bytes; }
  bool read(PhysAddr address, std::span<std::byte> into) override { return memory_.read_physical(address, into); }
  bool write(PhysAddr address, std::span<const std::byte> from) override {
    return memory_.write_physical(address, from);
  }
  void read_surface(unsigned plane, GgttOffset address, std::span<std::byte> into) override {
    memory::AddressSpace& space =
        memory_.external_space(plane == 0 ? memory::Stream::display_a : memory::Stream::display_b);
    static_cast<void>(space.read(GpuVa(address.value), into));  // faults of the display are skipped
  }

  void on_fence_write(unsigned fence, uint64_t first_line, uint64_t last_line) override {
    display_.compressor()->on_fence_write(fence, first_line, last_line);
  }

 private:
  display::Display& display_;
  MemoryUnit& memory_;
  const MemoryLayout& layout_;
};

}  // namespace halogen::device
