// The machine around a device that plays a trace: memory that comes into being where it is touched, nobody who listens
// to interrupts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "device/host.h"

namespace halogen::trace {

class TraceHost final : public Host {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kMaxPages = size_t{1} << 20;  // 4 GiB; beyond nothing answers

  explicit TraceHost(EventSink* events = nullptr) : events_(events) {}

  bool read_memory(PhysAddr address, std::span<std::byte> out) override;
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override;
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override;
  void set_interrupt_line(bool /*asserted*/) override {}
  void send_message_interrupt(PhysAddr /*address*/, uint32_t /*data*/) override {}
  void on_event(const Event& event) override {
    if (events_ != nullptr) events_->on_event(event);
  }

 private:
  struct alignas(64) Page {
    std::array<std::byte, kPageBytes> bytes{};
  };

  EventSink* events_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace halogen::trace
