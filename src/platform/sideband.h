// Cherryview's sideband: software writes address and data, then a request with the busy bit; the unit at the port
// answers in the data register and the bit clears. Units: the power unit (wells, frequencies, memory), the clock unit,
// and units that only store values (display PHYs, pads). Source: Linux i915 vlv_sideband.c, vlv_sideband_reg.h and its
// callers; the units themselves are not documented. Answers are immediate. Not modelled: access to registers of a gated
// unit, and the effect of frequencies on time. Fused frequencies are our choice.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/event.h"
#include "hw/pcode.h"
#include "hw/sideband.h"
#include "mmio/mmio_space.h"
#include "mmio/register.h"

namespace halogen::platform {

// The state, as plain data: written values by port and address. All other registers have their reset value.
struct SidebandState {
  std::map<std::pair<uint8_t, uint32_t>, uint32_t> registers;
  bool operator==(const SidebandState&) const = default;
};

class Sideband final : public mmio::RegisterHandler {
 public:
  static constexpr size_t kMaxRegisters = 4096;  // maximum number of registers that a guest can make the model store

  Sideband(const spec::DeviceModel& model, mmio::MmioSpace& mmio, EventSink& events, std::string path);

  uint32_t on_write(const mmio::RegisterWrite& write) override;

  // Returns the states of the power wells as the power unit's status register shows them.
  hw::PUNIT_PWRGT power_wells() const;

  void reset() { state_ = {}; }
  const SidebandState& state() const { return state_; }
  void restore(const SidebandState& state) { state_ = state; }

 private:
  uint32_t read(hw::SidebandPort port, uint32_t address) const;
  void write(hw::SidebandPort port, uint32_t address, uint32_t value);
  void keep(hw::SidebandPort port, uint32_t address, uint32_t value);
  void write_power_unit(hw::PunitRegister number, uint32_t value);
  void run(const hw::IOSF_DOORBELL_REQ& request);
  bool is_known(hw::SidebandPort port) const;
  template <class T>
  T unpack(uint32_t value) const;
  template <class T>
  uint32_t pack(const T& value) const;
  void refuse(const hw::IOSF_DOORBELL_REQ& request, std::string_view why);

  spec::GenId gen_;
  mmio::MmioSpace& mmio_;
  EventSink& events_;
  std::string path_;
  mmio::Register<hw::IOSF_DATA> data_;
  mmio::Register<hw::IOSF_ADDR> address_;
  SidebandState state_;
};

}  // namespace halogen::platform
