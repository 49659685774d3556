// Resets below the level of the function: GDRST (MMIO 941C on Gen6 and later, configuration space C0 on Gen4) and the
// RESET_CTL handshake of each engine (base + D0). Wake requests, steering, fuses, page tables in memory, display and
// power management survive. A reset is complete when the write returns, unless a page request that waits for room in
// the queue blocks an engine; its GDRST bit then stays set until a read finds the request gone (ICL-GAM-12). Not
// modelled: the time a reset takes.
#pragma once

#include <functional>

#include "hw/pci_graphics.h"
#include "mmio/mmio_space.h"

namespace halogen::device {

class ResetUnit final : public mmio::RegisterHandler {
 public:
  // Calls to the other units that take part in a reset.
  struct Hooks {
    std::function<bool(const spec::EngineModel& engine)> engine;   // false: not complete yet
    std::function<void()> registers;                               // registers outside the engines' blocks were reset
    std::function<void()> gt;                                      // the whole GT was reset
    std::function<bool(const spec::EngineModel& engine)> ready{};  // the streamer is between two commands
    std::function<void(const spec::EngineModel& engine)> requested{};  // RESET_CTL was written
  };

  explicit ResetUnit(mmio::MmioSpace& mmio);
  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

  bool reset_engine(const spec::EngineModel& engine);  // false: not complete yet
  bool reset_gt();
  // Reports a fault that only a reset repairs: RESET_CTL shows it until software acknowledges it.
  void set_catastrophic(const spec::EngineModel& engine);
  // Executes a reset that GDRST in configuration space requests.
  void reset_gen4_domain(hw::PCI_GDRST::Domain domain);

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  uint32_t reset_domains(uint32_t bits);  // returns the bits of resets that are not complete
  uint32_t show_ready(const mmio::RegisterSlot& slot, uint32_t stored) const;
  uint32_t write_reset_ctl(const mmio::RegisterWrite& write);
  void reset_ranges(std::span<const spec::OffsetRange> ranges);

  mmio::MmioSpace& mmio_;
  Hooks hooks_;
};

}  // namespace halogen::device
