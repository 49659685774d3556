// A host that records everything: memory in a map of pages, interrupts and Events in lists.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/event.h"
#include "device/device.h"
#include "device/host.h"

namespace halogen {

class TestHost final : public device::Host {
 public:
  TestHost() = default;
  ~TestHost() override;
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  static constexpr uint64_t kPageBytes = 4096;
  struct alignas(kPageBytes) Page : std::array<std::byte, kPageBytes> {};

  bool read_memory(PhysAddr address, std::span<std::byte> out) override;
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override;
  // Pages are created below `top`; above there is no memory.
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override;
  // Takes pages away from the device. They become holes, and a late access of the device ends the program with SIGSEGV.
  void take_back(device::Device& device, uint64_t first, uint64_t bytes);
  template <class T>
  T value_at(uint64_t address) {
    T value{};
    EXPECT_TRUE(read_memory(PhysAddr(address), std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }
  template <class T>
  void put(uint64_t address, T value) {
    EXPECT_TRUE(write_memory(PhysAddr(address), std::as_bytes(std::span(&value, 1))));
  }

  void set_interrupt_line(bool asserted) override { line.push_back(asserted); }
  void send_message_interrupt(PhysAddr address, uint32_t data) override { messages.emplace_back(address.value, data); }
  void on_event(const Event& event) override {
    log.on_event(event);
    if (on_each_event) on_each_event(event);
  }

  uint64_t top = uint64_t{1} << 32;
  std::map<uint64_t, std::unique_ptr<Page>> pages;
  std::vector<bool> line;
  std::vector<std::pair<uint64_t, uint32_t>> messages;
  EventLog log;
  std::function<void(const Event&)> on_each_event;  // for tests that act in the middle of a command

 private:
  struct Recent {
    uint64_t number = ~uint64_t{0};
    Page* page = nullptr;
  };

  Page* page_of(uint64_t address);

  std::array<Recent, 256> recent_{};                      // pages are freed only by take_back()
  std::map<uint64_t, std::unique_ptr<Page>> taken_back_;  // protected; null: was never touched
};

}  // namespace halogen
