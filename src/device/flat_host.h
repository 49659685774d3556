// The smallest host: one piece of memory from address 0 on. Interrupts are ignored and Events are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device/host.h"

namespace halogen::device {

class FlatHost : public Host {
 public:
  explicit FlatHost(uint64_t bytes) : memory_(bytes) {}
  bool read_memory(PhysAddr address, std::span<std::byte> out) override {
    const std::span<std::byte> from = map_memory(address, out.size());
    if (!from.empty()) {
      std::memcpy(out.data(), from.data(), out.size());
    }
    return !from.empty();
  }
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override {
    const std::span<std::byte> to = map_memory(address, data.size());
    if (!to.empty()) {
      std::memcpy(to.data(), data.data(), data.size());
    }
    return !to.empty();
  }
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override {
    if (address.value >= memory_.size() || bytes > memory_.size() - address.value) {
      return {};
    }
    return std::span(memory_).subspan(address.value, bytes);
  }
  void set_interrupt_line(bool /*asserted*/) override {}
  void send_message_interrupt(PhysAddr /*address*/, uint32_t /*data*/) override {}
  void on_event(const Event& /*event*/) override { ++events; }

  template <class T>
  void put(uint64_t address, T value) {
    write_memory(PhysAddr{address}, std::as_bytes(std::span(&value, 1)));
  }
  template <class T>
  T get(uint64_t address) {
    T value{};
    read_memory(PhysAddr{address}, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  uint64_t events = 0;

 private:
  std::vector<std::byte> memory_;
};

}  // namespace halogen::device
