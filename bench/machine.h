// A machine around a device for the benchmarks: one piece of memory, no log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device/device.h"

namespace halogen::bench {

class FlatHost final : public device::Host {
 public:
  explicit FlatHost(uint64_t bytes) : memory_(bytes) {}
  bool read_memory(PhysAddr address, std::span<std::byte> out) override {
    const std::span<std::byte> from = map_memory(address, out.size());
    if (!from.empty()) std::memcpy(out.data(), from.data(), out.size());
    return !from.empty();
  }
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override {
    const std::span<std::byte> to = map_memory(address, data.size());
    if (!to.empty()) std::memcpy(to.data(), data.data(), data.size());
    return !to.empty();
  }
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override {
    if (address.value >= memory_.size() || bytes > memory_.size() - address.value) return {};
    return std::span(memory_).subspan(address.value, bytes);
  }
  void set_interrupt_line(bool) override {}
  void send_message_interrupt(PhysAddr, uint32_t) override {}
  void on_event(const Event&) override { ++events; }

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

}  // namespace halogen::bench
