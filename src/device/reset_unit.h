// Resets below the level of the function: GDRST (MMIO 941C on Gen6 and later, configuration space C0 on Gen4) and the
// RESET_CTL handshake of each engine (base + D0). What survives: wake requests, steering, fuses, page tables in memory,
// display, power management. A reset is over when the write returns, unless a page request that waits for room holds an
// engine up: then its GDRST bit stays set until a read finds the request gone (ICL-GAM-12). Left out: other time.
#pragma once

#include <functional>

#include "mmio/mmio_space.h"

namespace halogen::device {

class ResetUnit final : public mmio::RegisterHandler {
 public:
  // Called for every engine that was reset, after its registers were.
  using EngineReset = std::function<void(const spec::EngineModel& engine)>;

  // What the device does besides.
  struct Hooks {
    std::function<bool(const spec::EngineModel& engine)> engine;       // false: not over yet
    std::function<void()> registers;                                   // registers outside the engines' own were reset
    std::function<void()> gt;                                          // everything was
    std::function<bool(const spec::EngineModel& engine)> ready{};      // the streamer stands between two commands
    std::function<void(const spec::EngineModel& engine)> requested{};  // RESET_CTL was written
  };

  explicit ResetUnit(mmio::MmioSpace& mmio);
  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }
  void on_engine_reset(EngineReset callback) { callback_ = std::move(callback); }

  bool reset_engine(const spec::EngineModel& engine);  // false: not over yet
  bool reset_gt();
  // A fault that only a reset repairs: RESET_CTL shows it until software acknowledges it.
  void set_catastrophic(const spec::EngineModel& engine);
  // GDRST bits 3:2 of Gen4: 0 everything, 1 render, 3 media.
  void reset_gen4_domain(unsigned domain);

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  uint32_t reset_domains(uint32_t bits);  // those that are not over
  uint32_t show_ready(const mmio::RegisterSlot& slot, uint32_t stored) const;
  uint32_t write_reset_ctl(const mmio::RegisterWrite& write);
  void reset_ranges(std::span<const spec::OffsetRange> ranges);

  mmio::MmioSpace& mmio_;
  EngineReset callback_;
  Hooks hooks_;
};

}  // namespace halogen::device
