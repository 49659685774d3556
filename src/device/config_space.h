// PCI configuration space: the type 0 header, BAR sizing, power management, MSI, function level reset and Intel's own
// registers. Registers, capabilities, reset values and writable bits are in spec/pci. Values are plain bytes, with a
// mask of writable bits for each byte.
// Not modelled: PCI Express extended space (reads zero), the expansion ROM, PME.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/strong.h"
#include "device/options.h"
#include "gen/config_rules.h"
#include "hw/pci_graphics.h"
#include "spec/device_model.h"
#include "spec/pci.h"

namespace halogen::device {

inline constexpr unsigned kConfigBytes = 256;

// The state, as plain data.
struct ConfigState {
  std::array<uint8_t, kConfigBytes> bytes{};
  bool operator==(const ConfigState&) const = default;
};

// Actions that a write requests from the device.
struct ConfigEffects {
  bool function_level_reset = false;  // also on leaving D3
  bool graphics_reset = false;        // by GDRST
  hw::PCI_GDRST::Domain reset_domain{};
};

struct BarHit {
  uint8_t bar;
  uint64_t offset;
};

struct MsiTarget {
  PhysAddr address;
  uint16_t data;
};

class ConfigSpace {
 public:
  ConfigSpace(const spec::DeviceModel& model, const DeviceOptions& options);

  // Reads or writes 1, 2 or 4 bytes anywhere in 0..4095, byte by byte.
  uint32_t read(uint32_t offset, unsigned bytes) const;
  ConfigEffects write(uint32_t offset, unsigned bytes, uint32_t value);

  bool memory_enabled() const { return enables_.memory; }
  bool io_enabled() const { return enables_.io; }
  bool bus_master() const { return enables_.bus_master; }
  bool line_interrupt_enabled() const;
  bool in_d0() const;
  uint16_t ggc() const { return static_cast<uint16_t>(control().value); }

  // Returns the generated structure of a register: get<hw::PCI_ID>(). Zero: the device does not have the register.
  template <class R>
  R get(unsigned index = 0) const {
    const uint32_t word = has<R>() ? word_at(R::kDesc, index) : 0;
    return R::read(model_->gen, &word);
  }
  template <class R>
  bool has() const {
    return R::kDesc.offset(model_->id) != spec::kNoOffset;
  }

  uint64_t bar_address(uint8_t index) const;
  std::optional<BarHit> decode_memory(uint64_t address) const;
  std::optional<BarHit> decode_io(uint16_t port) const;

  bool msi_enabled() const;
  // Returns address and data of a message. No value: messages are off, or masked; then the pending bit is set.
  std::optional<MsiTarget> take_msi();
  // Returns a pending message if it is no longer masked, and clears the pending bit.
  std::optional<MsiTarget> take_pending_msi();
  void set_interrupt_status(bool pending);

  // Power-on and function level reset: restores all values except those of firmware and straps.
  void reset();
  const ConfigState& state() const { return state_; }
  void restore(const ConfigState& state);

 private:
  using Bytes = std::array<uint8_t, kConfigBytes>;

  // Copies of bits that every access to a BAR needs.
  struct Enables {
    bool memory = false;
    bool io = false;
    bool bus_master = false;
  };

  void build();
  void build_bars();
  void update_enables();
  spec::PciWrite control() const {
    return graphics_control(*model_, stolen_bytes(*model_, options_), gtt_bytes(*model_, options_));
  }
  void ask_for_graphics_reset(ConfigEffects& effects);
  bool msi_masked() const;

  uint32_t word_at(const spec::PciRegisterDesc& desc, unsigned index) const;
  static void put_bytes(Bytes& bytes, const spec::PciWrite& write);

  // Writes a register of the current or of the reset values, or a mask of writable bits. No effect: the device does not
  // have the register.
  template <class R>
  void put(Bytes& bytes, const R& value, unsigned index = 0) const {
    if (has<R>()) {
      put_bytes(bytes, spec::pci_write(*model_, value, index));
    }
  }

  const spec::DeviceModel* model_;
  DeviceOptions options_;
  Bytes reset_value_{};
  Bytes writable_{};
  ConfigState state_;
  Enables enables_;
};

}  // namespace halogen::device
