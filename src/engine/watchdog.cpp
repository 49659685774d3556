#include "engine/watchdog.h"

#include "engine/engine.h"
#include "hw/predicate.h"
#include "spec/packing.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;
using Control = hw::PR_CTR_CTL;

constexpr uint64_t kSecond = 1'000'000'000;

}  // namespace

Watchdog::Watchdog(Engine& engine) : engine_(engine) {
  engine.registers().attach(RegisterId::PR_CTR_CTL, *this);
}

void Watchdog::pass(uint64_t now, bool context_valid) {
  WatchdogState& state = engine_.state().watchdog;
  const uint64_t elapsed = now > state.counted_to ? now - state.counted_to : 0;
  state.counted_to = now;
  Registers& registers = engine_.registers();
  const auto control = registers.get<Control>();
  if (!registers.has(RegisterId::PR_CTR) || !context_valid || control.control != Control::Control::enable) {
    return;
  }
  const bool clocks = control.count_select == Control::CountSelect::gpu_clocks;
  const uint64_t hz = clocks ? kGpuHz : engine_.generation().model().timestamp_hz;
  // Whole seconds apart, so that nothing overflows.
  const uint64_t scaled = elapsed % kSecond * hz + state.rest;
  const uint64_t ticks = elapsed / kSecond * hz + scaled / kSecond;
  state.rest = scaled % kSecond;
  const uint64_t threshold = registers.peek(RegisterId::PR_CTR_THRSH);
  uint64_t count = registers.peek(RegisterId::PR_CTR) + ticks;
  if (threshold != 0 && count >= threshold) {
    count %= threshold;
    engine_.services().interrupt(EngineCause::watchdog);
  }
  registers.poke(RegisterId::PR_CTR, static_cast<uint32_t>(count));
}

uint32_t Watchdog::on_write(const RegisterWrite& write) {
  const auto control = spec::unpack_register<Control>(engine_.gen(), write.next);
  if (control.control == Control::Control::disable) {
    engine_.registers().poke(RegisterId::PR_CTR, 0);
    engine_.state().watchdog.rest = 0;
  }
  return write.next;
}

}  // namespace halogen::engine
