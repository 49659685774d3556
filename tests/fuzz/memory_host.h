// The host of a fuzzed device: a little memory at address 0, and unmapped addresses above. Interrupts are dropped,
// Events are formatted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device/device.h"

namespace halogen::fuzz {

class MemoryHost final : public device::Host {
 public:
  explicit MemoryHost(size_t bytes = 1 << 18) : memory_(bytes) {}

  bool read_memory(PhysAddr address, std::span<std::byte> out) override {
    if (!holds(address, out.size())) return false;
    std::memcpy(out.data(), memory_.data() + address.value, out.size());
    return true;
  }
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override {
    if (!holds(address, data.size())) return false;
    std::memcpy(memory_.data() + address.value, data.data(), data.size());
    return true;
  }
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override {
    return holds(address, bytes) ? std::span(memory_).subspan(address.value, bytes) : std::span<std::byte>{};
  }
  void set_interrupt_line(bool) override {}
  void send_message_interrupt(PhysAddr, uint32_t) override {}
  void on_event(const Event& event) override { text_bytes_ += event.to_string().size(); }

  std::span<std::byte> memory() { return memory_; }
  void clear() { std::memset(memory_.data(), 0, memory_.size()); }

 private:
  bool holds(PhysAddr address, uint64_t bytes) const {
    return address.value <= memory_.size() && bytes <= memory_.size() - address.value;
  }
  std::vector<std::byte> memory_;
  size_t text_bytes_ = 0;
};

}  // namespace halogen::fuzz
