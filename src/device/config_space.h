// PCI configuration space: the type 0 header, BAR sizing, power management, MSI, function level reset and the
// graphics registers of gen/config_layout.h. Values are plain bytes, each with a mask of its writable bits.
// Left out: PCI Express extended space (reads zero), the expansion ROM, PME.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/strong.h"
#include "device/options.h"
#include "gen/config_layout.h"
#include "spec/device_model.h"

namespace halogen::device {

inline constexpr unsigned kConfigBytes = 256;

// State: plain data.
struct ConfigState {
  std::array<uint8_t, kConfigBytes> bytes{};
  bool operator==(const ConfigState&) const = default;
};

// Actions that a write requests from the device.
struct ConfigEffects {
  bool function_level_reset = false;  // also on leaving D3
  bool graphics_reset = false;        // GDRST of Gen4
  uint8_t reset_domain = 0;           // with graphics_reset: bits 3:2 of GDRST
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

  // Access 1, 2 or 4 bytes anywhere in 0..4095. Bytes are independent.
  uint32_t read(uint32_t offset, unsigned bytes) const;
  ConfigEffects write(uint32_t offset, unsigned bytes, uint32_t value);

  bool memory_enabled() const { return (state_.bytes[kCommand] & 2) != 0 && in_d0(); }
  bool io_enabled() const { return (state_.bytes[kCommand] & 1) != 0 && in_d0(); }
  bool bus_master() const { return (state_.bytes[kCommand] & 4) != 0 && in_d0(); }
  bool line_interrupt_enabled() const { return (state_.bytes[kCommand + 1] & 4) == 0; }
  bool in_d0() const;
  uint16_t ggc() const {
    return encode_ggc(layout_->ggc, stolen_bytes(*model_, options_), gtt_bytes(*model_, options_));
  }

  uint64_t bar_address(uint8_t index) const;
  std::optional<BarHit> decode_memory(uint64_t address) const;
  std::optional<BarHit> decode_io(uint16_t port) const;

  bool msi_enabled() const { return msi_ != 0 && (state_.bytes[msi_ + 2] & 1) != 0; }
  // Returns the target of a message. Nothing: masked; the pending bit is set.
  std::optional<MsiTarget> take_msi();
  // Returns the target of a pending message that is no longer masked.
  std::optional<MsiTarget> take_pending_msi();
  void set_interrupt_status(bool pending);

  void reset();  // power-on and function level reset: all but the values that firmware or straps set
  const ConfigState& state() const { return state_; }
  void restore(const ConfigState& state) { state_ = state; }

 private:
  static constexpr uint8_t kCommand = 0x04;
  static constexpr uint8_t kStatus = 0x06;
  static constexpr uint8_t kFirstBar = 0x10;

  void build();
  void build_bars();
  void build_capabilities();
  void put(unsigned offset, unsigned bytes, uint32_t value, uint32_t writable);
  void ask_for_graphics_reset(ConfigEffects& effects);
  uint32_t get(unsigned offset, unsigned bytes) const;
  bool msi_masked() const { return msi_wide_ && (state_.bytes[msi_ + 16] & 1) != 0; }

  const spec::DeviceModel* model_;
  const ConfigLayout* layout_;
  DeviceOptions options_;
  std::array<uint8_t, kConfigBytes> reset_value_{};
  std::array<uint8_t, kConfigBytes> writable_{};
  uint8_t power_ = 0;  // offsets of capabilities; 0: not present
  uint8_t msi_ = 0;
  bool msi_wide_ = false;  // 64-bit address, mask
  uint8_t features_ = 0;   // advanced features
  uint8_t express_ = 0;
  ConfigState state_;
};

}  // namespace halogen::device
