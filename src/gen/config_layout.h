// PCI configuration space beyond the standard header, by chip: offsets of the capabilities and Intel's own registers.
// Sources: Linux i915 and intel-gtt register names, lspci listings of the parts.
// Left out: PCI Express extended capabilities.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "spec/descriptors.h"
#include "spec/device_model.h"

namespace halogen {

enum class CapabilityKind : uint8_t {
  vendor,              // 09h, fuse bits of no interest here
  power,               // 01h
  msi,                 // 05h, 32-bit address
  msi_64_maskable,     // 05h, 64-bit address, mask and pending bits
  advanced_features,   // 13h, function level reset
  express_integrated,  // 10h, root complex integrated endpoint, function level reset
  express_endpoint,    // 10h
};

struct CapabilityPlace {
  CapabilityKind kind;
  uint8_t offset;
};

// Where a register's value after reset comes from.
enum class ConfigSource : uint8_t { zero, ggc, stolen_base, stolen_base_high };

struct ConfigRegister {
  std::string_view name;  // the manual's
  uint8_t offset;
  uint8_t bytes;
  uint32_t writable;
  ConfigSource source;
};

enum class GgcFormat : uint8_t { gen4, gen6, chv, gen8 };

// How a reset by GDRST in configuration space ends: software clears bit 0, and bit 1 says until when the reset lasts;
// or bit 0 clears itself.
enum class ConfigReset : uint8_t { none, held, clears_itself };

struct ConfigLayout {
  spec::DeviceMask devices;
  uint16_t command_writable;
  uint16_t status;
  GgcFormat ggc;
  std::span<const CapabilityPlace> capabilities;  // in the order of the list
  std::span<const ConfigRegister> registers;
  ConfigReset reset;
};

const ConfigLayout& config_layout(const spec::DeviceModel& model);

// GMCH graphics control: stolen memory and size of the global table, as software reads them. Sizes that the format
// cannot express come out as the next smaller one.
uint16_t encode_ggc(GgcFormat format, uint64_t stolen_bytes, uint64_t gtt_bytes);

// GDRST of Gen4 in configuration space.
inline constexpr uint8_t kConfigGdrst = 0xc0;

}  // namespace halogen
