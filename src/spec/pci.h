// Descriptions of PCI configuration space: its registers and the capability list of each device. The tables behind
// these types are generated from spec/pci (docs/spec-language.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "spec/descriptors.h"
#include "spec/device_model.h"
#include "spec/register_words.h"

namespace halogen::spec {

struct PciRegisterDesc : ItemDesc {
  uint8_t bytes;                                        // 1, 2 or 4
  uint8_t count;                                        // number of consecutive registers
  std::array<uint32_t, kDeviceCount> offset_of_device;  // of the first, from the start of the space; or kNoOffset
  std::array<uint32_t, kDeviceCount> writable_of_device;
  std::array<uint32_t, kDeviceCount> reset_of_device;  // includes the links of the capability list
  Rewrite rewrite;

  uint32_t offset(DeviceId device) const { return offset_of_device[static_cast<size_t>(device)]; }
  uint32_t writable(DeviceId device) const { return writable_of_device[static_cast<size_t>(device)]; }
  uint32_t reset_value(DeviceId device) const { return reset_of_device[static_cast<size_t>(device)]; }
};

struct PciCapability {
  std::string_view name;
  uint8_t id;
  uint8_t offset;
};

// A write to a register, as a bus carries it.
struct PciWrite {
  uint32_t offset;
  unsigned bytes;
  uint32_t value;
};

// Returns the write of a register that the device has: pci_write(model, hw::PCI_COMMAND{.memory_space = true}).
template <class Register>
PciWrite pci_write(const DeviceModel& model, const Register& value, unsigned index = 0) {
  const PciRegisterDesc& desc = Register::kDesc;
  PciWrite write{desc.offset(model.id) + index * desc.bytes, desc.bytes, 0};
  value.write(model.gen, &write.value);
  return write;
}

// Returns all registers, sorted by name.
std::span<const PciRegisterDesc* const> pci_registers();

// Returns the capabilities in the order of their links.
std::span<const PciCapability> pci_capabilities(DeviceId device);

}  // namespace halogen::spec
