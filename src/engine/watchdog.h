// The watchdog of a context. It counts while a context is in the engine and raises an interrupt when the count equals
// the threshold. DG1 PRM vol. 13, watchdog timers (seed 000). The counter is the register PR_CTR; control and threshold
// belong to the context.
//
// The counter is settled before a value that it depends on changes, and when it is read, so it is exact inside a slice.
// A context counts from the first step of its restore to the last step of its save. The threshold is compared only when
// the counter counts; a threshold below the count matches after the counter has wrapped, and a threshold of zero
// matches when it wraps. The frequency of GPU clocks is not modelled; kGpuHz is used instead.
#pragma once

#include <cstdint>

#include "mmio/registers.h"

namespace halogen::engine {

class Engine;

class Watchdog final : public mmio::RegisterHandler {
 public:
  static constexpr uint64_t kGpuHz = 1'000'000'000;

  explicit Watchdog(Engine& engine);

  // Counts the time since the last call, under the settings that were in force.
  void settle();

  uint32_t on_read(const mmio::RegisterSlot& slot, unsigned copy, uint32_t stored) override;
  uint32_t on_write(const mmio::RegisterWrite& write) override;

 private:
  void count(uint64_t ticks);

  Engine& engine_;
};

}  // namespace halogen::engine
