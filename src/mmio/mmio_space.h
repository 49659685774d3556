// The register part of the MMIO BAR. The order of an access: the VGA window, size rules, sleeping and missing
// endpoints, steering to copies, the register bank; for offsets without a register, null ranges and tables. Accesses
// come from the host or from a command streamer. DG1 PRM vol. 13, "MMIO" chapter (seed 000); earlier chips have fewer
// of these steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/fidelity.h"
#include "gen/generation.h"
#include "mmio/force_wake.h"
#include "mmio/register_bank.h"
#include "mmio/steering.h"
#include "mmio/vga.h"

namespace halogen::mmio {

// The state, as plain data.
struct MmioState {
  RegisterState registers;
  ForceWakeState wake;
  SteeringState steering;
  VgaState vga;
  bool operator==(const MmioState&) const = default;
};

// Receives wake events and switches the power of engines.
class PowerListener {
 public:
  virtual ~PowerListener() = default;
  virtual void on_wake_request() = 0;  // software wrote a request, so a domain may have woken or fallen asleep
  // Called at an access that wakes its target: to a shadow register, or by the streamer itself.
  virtual void on_sleeping_access(const spec::EngineModel& engine) = 0;
};

class MmioSpace {
 public:
  using Origin = SelectorOrigin;

  MmioSpace(const spec::DeviceModel& model, std::shared_ptr<const RegisterMap> map, SteeringConfig steering,
            EventSink& events, std::string path);
  MmioSpace(const MmioSpace&) = delete;
  MmioSpace& operator=(const MmioSpace&) = delete;

  // Accesses 1, 2, 4 or 8 bytes. An access that breaks the size rule is split into dwords, lowest first, with an Event.
  uint64_t read(uint64_t offset, unsigned bytes, Origin origin = Origin::host);
  void write(uint64_t offset, unsigned bytes, uint64_t value, Origin origin = Origin::host);

  // Accesses one dword at a multiple of four.
  uint32_t read_dword(uint32_t offset, Origin origin);
  void write_dword(uint32_t offset, uint32_t value, uint32_t lanes, Origin origin);

  void set_vga_inputs(const VgaInputs& inputs) { vga_inputs_ = inputs; }

  void set_power_listener(PowerListener& listener) { power_ = &listener; }
  void set_engines_sleep(bool some) { engines_sleep_ = some; }  // from now on accesses to engines are reported

  RegisterBank& bank() { return bank_; }
  const RegisterBank& bank() const { return bank_; }
  ForceWake& wake() { return wake_; }
  Steering& steering() { return steering_; }
  Vga& vga() { return vga_; }
  const VgaInputs& vga_inputs() const { return vga_inputs_; }
  const Generation& generation() const { return generation_; }

  void reset();  // as after power-on
  MmioState state() const;
  void restore(const MmioState& state);
  void report(FidelityReport& report) const;

 private:
  // Registers that the wake and steering tables and the VGA registers own. The slots of the bank forward to them.
  class TableRegisters final : public RegisterHandler {
   public:
    explicit TableRegisters(MmioSpace& space) : space_(space) {}
    uint32_t on_read(const RegisterSlot& slot, unsigned copy, uint32_t stored) override;
    uint32_t on_write(const RegisterWrite& write) override;

   private:
    MmioSpace& space_;
  };

  void tell_access(const RegisterSlot& slot) {
    if (engines_sleep_ && slot.engine != nullptr) [[unlikely]] {
      power_->on_sleeping_access(*slot.engine);
    }
  }
  void attach_tables();
  bool is_only_in_tables(uint32_t offset) const {
    return std::ranges::find(only_in_tables_, offset) != only_in_tables_.end();
  }
  bool table_read(uint32_t offset, uint32_t& value) const;
  bool table_write(uint32_t offset, uint32_t value);
  bool reachable(const RegisterSlot& slot, bool is_write, Origin origin) const;
  bool in_null_range(uint64_t offset) const;
  void check_rule(uint64_t offset, unsigned bytes, uint64_t value, bool is_write);
  void raise(EventKind kind, std::string_view item, uint64_t offset, uint64_t value, std::string_view detail);
  void unclaimed(uint32_t offset, uint32_t value, bool is_write);
  void terminated(const RegisterSlot& slot, uint32_t value, bool is_write);

  Generation generation_;
  AccessRule rule_;
  std::span<const spec::MmioRange> null_ranges_;
  RegisterBank bank_;
  ForceWake wake_;
  Steering steering_;
  Vga vga_;
  VgaInputs vga_inputs_;
  TableRegisters table_registers_;
  std::vector<uint32_t> only_in_tables_;  // offsets that no register description has
  PowerListener* power_ = nullptr;
  bool engines_sleep_ = false;
  EventSink& events_;
  std::string path_;
  std::map<uint32_t, uint64_t> unclaimed_;  // number of accesses, for the report
};

}  // namespace halogen::mmio
