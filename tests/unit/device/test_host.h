// A device with a host that records its calls (support/test_host.h).
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "device/device.h"
#include "support/test_host.h"

namespace halogen::device {

// A device with memory and I/O decoding enabled.
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

  // Requests every domain of the device's wake table, as a driver does.
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

}  // namespace halogen::device
