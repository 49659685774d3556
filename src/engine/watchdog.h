// The watchdog of a context: counts while a context runs, interrupts when the count reaches the threshold. Seed 000,
// watchdog timers. The counter is the register PR_CTR; control and threshold belong to the context.
// The frequency of GPU clocks is not modelled: kGpuHz stands for it.
#pragma once

#include <cstdint>

#include "engine/registers.h"

namespace halogen::engine {

class Engine;

class Watchdog final : public RegisterHandler {
 public:
  static constexpr uint64_t kGpuHz = 1'000'000'000;

  explicit Watchdog(Engine& engine);

  // Time has passed up to `now`; a context was valid in it, or not.
  void pass(uint64_t now, bool context_valid);

  uint32_t on_write(const RegisterWrite& write) override;

 private:
  Engine& engine_;
};

}  // namespace halogen::engine
