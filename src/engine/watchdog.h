// The watchdog of a context: counts while a context is in the engine, interrupts when the count equals the threshold.
// Seed 000, watchdog timers. The counter is the register PR_CTR; control and threshold belong to the context.
//
// Time is counted up to a moment when something that counting depends on is about to change, or somebody looks: so the
// counter is exact within a slice too. The context counts from the first step of its restore to the last of its save.
// It is compared when it counts: a threshold below the count is met after the counter has wrapped, and a threshold of
// zero when it wraps.
// The frequency of GPU clocks is not modelled: kGpuHz stands for it.
#pragma once

#include <cstdint>

#include "mmio/registers.h"

namespace halogen::engine {

class Engine;

class Watchdog final : public mmio::RegisterHandler {
 public:
  static constexpr uint64_t kGpuHz = 1'000'000'000;

  explicit Watchdog(Engine& engine);

  // Counts the time that has passed, as things were in it.
  void settle();

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  void count(uint64_t ticks);

  Engine& engine_;
};

}  // namespace halogen::engine
