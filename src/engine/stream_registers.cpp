#include "engine/stream_registers.h"

#include "base/bits.h"
#include "engine/engine.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

constexpr uint32_t kWrapCounts = 2048;

uint32_t low(GpuVa address) {
  return static_cast<uint32_t>(address.value);
}
uint32_t high(GpuVa address) {
  return static_cast<uint32_t>(address.value >> 32);
}

}  // namespace

StreamRegisters::StreamRegisters(Engine& engine) : engine_(engine) {
  for (const RegisterId id : {RegisterId::ACTHD, RegisterId::ACTHD_UDW, RegisterId::DMA_FADD, RegisterId::DMA_FADD_UDW,
                              RegisterId::BB_ADDR, RegisterId::BB_ADDR_UDW, RegisterId::BB_STATE, RegisterId::SBB_ADDR,
                              RegisterId::SBB_ADDR_UDW, RegisterId::SBB_STATE, RegisterId::IPEHR}) {
    engine.registers().attach(id, *this);
  }
}

void StreamRegisters::publish() {
  const StreamState& stream = engine_.stream().state();
  Registers& registers = engine_.registers();
  const StreamLevel& ring = stream.levels[0];
  auto head = registers.get<hw::RING_HEAD>();
  if (ring.address >= ring.wrap_to && ring.wrap_at != StreamLevel::kNoEnd) {
    head.head_offset = static_cast<uint32_t>(ring.address - ring.wrap_to);
    head.wrap_count = static_cast<uint16_t>((engine_.state().ring.first_wraps + ring.wraps) % kWrapCounts);
    registers.set(head);
  }
  const GpuVa active = stream.levels[stream.depth].address;
  registers.poke(RegisterId::ACTHD, low(active));
  registers.poke(RegisterId::ACTHD_UDW, high(active));
  registers.poke(RegisterId::DMA_FADD, low(active));
  registers.poke(RegisterId::DMA_FADD_UDW, high(active));
  registers.poke(RegisterId::IPEHR, engine_.state().header);
}

void StreamRegisters::adopt() {
  engine_.ring().adopt();
}

uint32_t StreamRegisters::on_read(const RegisterSlot& slot, unsigned /*copy*/, uint32_t /*stored*/) {
  publish();
  return engine_.registers().mmio().bank().peek(slot);
}

}  // namespace halogen::engine
