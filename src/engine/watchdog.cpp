#include "engine/watchdog.h"

#include <algorithm>

#include "engine/engine.h"
#include "engine/submit/execlist.h"
#include "hw/predicate.h"
#include "spec/packing.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;
using Control = hw::PR_CTR_CTL;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kCounts = uint64_t{1} << 32;  // number of values of the 32-bit counter

// Returns the number of ticks of a clock since time 0. Whole seconds are converted separately to avoid overflow.
uint64_t ticks_at(uint64_t nanoseconds, uint64_t hz) {
  return nanoseconds / kSecond * hz + nanoseconds % kSecond * hz / kSecond;
}

}  // namespace

Watchdog::Watchdog(Engine& engine) : engine_(engine) {
  for (const RegisterId id : {RegisterId::PR_CTR_CTL, RegisterId::PR_CTR_THRSH, RegisterId::PR_CTR}) {
    engine.registers().attach(id, *this);
  }
}

void Watchdog::settle() {
  WatchdogState& state = engine_.state().watchdog;
  const uint64_t from = state.counted_to;
  const uint64_t to = std::max({from, engine_.now(), engine_.services().time()});
  state.counted_to = to;
  mmio::Registers& registers = engine_.registers();
  if (to == from || !registers.has(RegisterId::PR_CTR) || !engine_.state().execlist.running ||
      !engine_.execlists()->enabled()) {
    return;
  }
  const auto control = registers.get<Control>();
  if (control.control != Control::Control::enable) {
    return;
  }
  const bool clocks = control.count_select == Control::CountSelect::gpu_clocks;
  const uint64_t hz = clocks ? kGpuHz : engine_.generation().model().timestamp_hz;
  count(ticks_at(to, hz) - ticks_at(from, hz));
}

void Watchdog::count(uint64_t ticks) {
  mmio::Registers& registers = engine_.registers();
  const uint64_t threshold = registers.peek(RegisterId::PR_CTR_THRSH);
  const uint64_t counted = registers.peek(RegisterId::PR_CTR);
  const uint64_t left = threshold > counted ? threshold - counted : threshold + kCounts - counted;
  uint64_t next = counted + ticks;
  if (ticks >= left) {
    next = (ticks - left) % (threshold == 0 ? kCounts : threshold);
    engine_.services().interrupt(EngineCause::watchdog);
  }
  registers.poke(RegisterId::PR_CTR, static_cast<uint32_t>(next));
}

uint32_t Watchdog::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  if (slot.desc->id != RegisterId::PR_CTR) {
    return stored;
  }
  settle();
  return engine_.registers().peek(RegisterId::PR_CTR);
}

uint32_t Watchdog::on_write(const mmio::RegisterWrite& write) {
  const RegisterId id = write.slot.desc->id;
  engine_.registers().poke(id, write.old_value);  // settle() counts under the old value
  settle();
  if (id == RegisterId::PR_CTR_CTL &&
      spec::unpack_register<Control>(engine_.gen(), write.next).control == Control::Control::disable) {
    engine_.registers().poke(RegisterId::PR_CTR, 0);
  }
  return id == RegisterId::PR_CTR ? engine_.registers().peek(id) : write.next;
}

}  // namespace halogen::engine
