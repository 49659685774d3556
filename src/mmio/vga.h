// VGA registers: I/O ports 3B0-3DF and the same offsets from the MMIO base. DG1 PRM vol. 13, "VGA and Extended VGA
// Register Map" (seed 000). Models the index registers, the attribute controller's flip-flop, the palette's state
// machine and the monochrome/colour alias. Not modelled: the VGA picture (text, planes, fonts) and the timing of ST01.
#pragma once

#include <array>
#include <cstdint>

namespace halogen::mmio {

inline constexpr uint32_t kVgaFirstPort = 0x3b0;
inline constexpr uint32_t kVgaLastPort = 0x3df;

// Display state that the status registers show.
struct VgaInputs {
  bool vertical_retrace = false;
  bool display_enabled = true;  // false: in horizontal or vertical blanking
  bool interrupt_pending = false;
  bool sense = false;  // monitor sense comparator
};

// The state, as plain data.
struct VgaState {
  enum class DacMode : uint8_t { write = 0, read = 3 };  // as DACSTATE shows it

  uint8_t crx = 0, srx = 0, grx = 0, arx = 0, xrx = 0;
  bool attribute_data_next = false;  // the flip-flop. False: 3C0 takes an index
  uint8_t msr = 0, fcr = 0;
  std::array<uint8_t, 0x20> sequencer{};
  std::array<uint8_t, 0x20> graphics{};
  std::array<uint8_t, 0x20> attribute{};
  std::array<uint8_t, 0x40> crtc{};
  uint8_t dac_mask = 0xff;
  DacMode dac_mode = DacMode::write;
  uint8_t dac_index = 0;      // entry that 3C9 accesses
  uint8_t dac_component = 0;  // 0 red, 1 green, 2 blue
  std::array<uint8_t, 2> dac_latch{};
  std::array<std::array<uint8_t, 3>, 256> palette{};
  bool operator==(const VgaState&) const = default;
};

class Vga {
 public:
  static constexpr bool contains(uint32_t offset) { return offset >= kVgaFirstPort && offset <= kVgaLastPort; }

  // Access a port. `offset` is an I/O port or the same offset from the MMIO base; `bytes` is 1, 2 or 4. An access of
  // several bytes is split into byte accesses, lowest first. Bytes beyond the range read zero and are not written.
  uint32_t read(uint32_t offset, unsigned bytes, const VgaInputs& inputs = {});
  void write(uint32_t offset, unsigned bytes, uint32_t value);

  uint8_t read_port(uint32_t port, const VgaInputs& inputs = {});
  void write_port(uint32_t port, uint8_t value);

  void reset() { state_ = {}; }
  const VgaState& state() const { return state_; }
  VgaState& state() { return state_; }

 private:
  bool alias_active(uint32_t port) const;

  VgaState state_;
};

}  // namespace halogen::mmio
