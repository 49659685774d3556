// Resets below the level of the function: GDRST (MMIO 941C on Gen6 and later, configuration space C0 on Gen4) and the
// RESET_CTL handshake of each engine (base + D0). What survives: wake requests, steering, fuses, page tables in memory,
// display, power management. Left out: the time a reset takes; it is over when the write returns.
#pragma once

#include <functional>

#include "mmio/mmio_space.h"

namespace halogen {

class ResetUnit final : public RegisterHandler {
 public:
  // Called for every engine that was reset, after its registers were.
  using EngineReset = std::function<void(const spec::EngineModel& engine)>;

  explicit ResetUnit(MmioSpace& mmio);
  void on_engine_reset(EngineReset callback) { callback_ = std::move(callback); }

  void reset_engine(const spec::EngineModel& engine);
  void reset_gt();
  // GDRST bits 3:2 of Gen4: 0 everything, 1 render, 3 media.
  void reset_gen4_domain(unsigned domain);

  uint32_t on_write(const RegisterWrite& write) override;

 private:
  uint32_t write_gdrst(const RegisterWrite& write);
  uint32_t write_reset_ctl(const RegisterWrite& write);
  void reset_ranges(std::span<const spec::OffsetRange> ranges);

  MmioSpace& mmio_;
  EngineReset callback_;
};

}  // namespace halogen
