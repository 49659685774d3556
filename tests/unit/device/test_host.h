// A host that remembers: memory in a map of pages, interrupts and Events in lists.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/event.h"
#include "device/device.h"

namespace halogen {

class TestHost final : public Host {
 public:
  static constexpr uint64_t kPageBytes = 4096;
  using Page = std::array<std::byte, kPageBytes>;

  bool read_memory(PhysAddr address, std::span<std::byte> out) override {
    for (size_t i = 0; i < out.size(); ++i) {
      const std::span<std::byte> byte = map_memory(PhysAddr(address.value + i), 1);
      if (byte.empty()) {
        return false;
      }
      out[i] = byte[0];
    }
    return true;
  }
  bool write_memory(PhysAddr address, std::span<const std::byte> data) override {
    for (size_t i = 0; i < data.size(); ++i) {
      const std::span<std::byte> byte = map_memory(PhysAddr(address.value + i), 1);
      if (byte.empty()) {
        return false;
      }
      byte[0] = data[i];
    }
    return true;
  }
  // Pages come into being below `top`; above there is nothing.
  std::span<std::byte> map_memory(PhysAddr address, uint64_t bytes) override {
    const uint64_t inside = address.value % kPageBytes;
    if (address.value >= top || bytes > kPageBytes - inside) {
      return {};
    }
    std::unique_ptr<Page>& page = pages[address.value / kPageBytes];
    if (!page) {
      page = std::make_unique<Page>();
    }
    return std::span(*page).subspan(inside, bytes);
  }
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
  void on_event(const Event& event) override { log.on_event(event); }

  uint64_t top = uint64_t{1} << 32;
  std::map<uint64_t, std::unique_ptr<Page>> pages;
  std::vector<bool> line;
  std::vector<std::pair<uint64_t, uint32_t>> messages;
  EventLog log;
};

// A device with memory and I/O decoding on.
struct Bench {
  explicit Bench(std::string_view name, DeviceOptions options = {}) : Bench(*spec::find_device(name), options) {}
  explicit Bench(const spec::DeviceModel& model, DeviceOptions options = {}) {
    auto created = Device::create(model, host, std::move(options));
    EXPECT_TRUE(created.ok()) << (created.ok() ? "" : created.message());
    device = std::move(created).value();
    enable();
  }
  void enable() { device->config_write(4, 2, 7); }

  uint32_t read(uint32_t offset) { return static_cast<uint32_t>(device->bar_read(0, offset, 4)); }
  void write(uint32_t offset, uint32_t value) { device->bar_write(0, offset, 4, value); }
  size_t events(EventKind kind) const { return host.log.count(kind); }
  size_t events() const { return host.log.events().size(); }

  // As a driver does: request every domain of the device's wake table.
  void wake_all() {
    if (const spec::WakeTable* table = device->mmio().wake().config().wake()) {
      for (const spec::WakePort& port : table->ports) {
        write(port.request, port.access == spec::Access::masked ? 0x0001'0001 : 1);
      }
    }
  }

  TestHost host;
  std::unique_ptr<Device> device;
};

inline std::vector<const spec::DeviceModel*> every_model() {
  std::vector<const spec::DeviceModel*> models;
  for (const spec::DeviceModel& model : spec::device_models()) {
    models.push_back(&model);
  }
  return models;
}

inline std::string model_name(const ::testing::TestParamInfo<const spec::DeviceModel*>& info) {
  return std::string(info.param->name);
}

}  // namespace halogen
