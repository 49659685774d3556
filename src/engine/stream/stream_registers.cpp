#include "engine/stream/stream_registers.h"

#include "base/bits.h"
#include "engine/engine.h"
#include "hw/hwsp.h"
#include "hw/instdone.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

constexpr uint32_t kWrapCounts = 2048;
constexpr uint8_t kFirstBatch = 1;
constexpr uint8_t kSecondBatch = 2;
constexpr uint8_t kFirstOnStack = 2;

// The model's own format of a level on the stack: address 31:2 and a valid bit; address 47:32 and the address space.
constexpr uint32_t kStackValid = 1;
constexpr uint32_t kStackPpgtt = 1u << 16;

uint32_t low(GpuVa address) {
  return static_cast<uint32_t>(address.value);
}
uint32_t high(GpuVa address) {
  return static_cast<uint32_t>(address.value >> 32) & 0xffff;
}
GpuVa join(uint64_t low, uint32_t high) {
  return canonical(GpuVa{low | uint64_t{high} << 32});
}
StreamSpace space_of(bool ppgtt) {
  return ppgtt ? StreamSpace::ppgtt : StreamSpace::ggtt;
}

// Writes the registers of one batch level: head, upper part of the head, and state.
template <class Address, class State>
void publish_batch(mmio::Registers& registers, RegisterId upper, const StreamState& stream, uint8_t depth) {
  auto batch = registers.get<Address>();
  batch.valid = stream.depth >= depth;
  if (batch.valid) {
    const StreamLevel& level = stream.levels[depth];
    batch.head_pointer = low(level.address);
    registers.poke(upper, high(level.address));
    auto attributes = registers.get<State>();
    attributes.address_space = static_cast<typename State::AddressSpace>(level.space == StreamSpace::ppgtt);
    registers.set(attributes);
  }
  registers.set(batch);
}

}  // namespace

StreamRegisters::StreamRegisters(Engine& engine) : engine_(engine) {
  for (const RegisterId id :
       {RegisterId::ACTHD, RegisterId::ACTHD_UDW, RegisterId::DMA_FADD, RegisterId::DMA_FADD_UDW, RegisterId::BB_ADDR,
        RegisterId::BB_ADDR_UDW, RegisterId::BB_STATE, RegisterId::SBB_ADDR, RegisterId::SBB_ADDR_UDW,
        RegisterId::SBB_STATE, RegisterId::IPEHR, RegisterId::INSTDONE_1, RegisterId::INSTDONE_2,
        RegisterId::BCS_INSTDONE, RegisterId::VCS_INSTDONE, RegisterId::VECS_INSTDONE}) {
    engine.registers().attach(id, *this);
  }
}

uint32_t StreamRegisters::ring_head(uint64_t ahead) const {
  StreamLevel ring = engine_.stream().state().levels[0];
  ring.address += ahead;
  if (ring.address >= ring.wrap_at) {
    ring.address = ring.wrap_to + (ring.address - ring.wrap_at);
    ++ring.wraps;
  }
  const EngineState& state = engine_.state();
  hw::RING_HEAD head;
  head.head_offset = static_cast<uint32_t>(ring.address - ring.wrap_to);
  head.wrap_count = static_cast<uint16_t>((state.ring.first_wraps + ring.wraps) % kWrapCounts);
  head.wait_for_condition = state.wait.holds_stream();
  return engine_.registers().raw(head);
}

// Writes RING_HEAD from the stream. During a restore the register belongs to the context that is being loaded.
void StreamRegisters::publish_head() {
  if (engine_.ring().enabled() && !engine_.state().execlist.restoring()) {
    engine_.registers().poke(RegisterId::RING_HEAD, ring_head(0));
  }
}

void StreamRegisters::publish() {
  mmio::Registers& registers = engine_.registers();
  publish_head();
  const GpuVa active = engine_.stream().level().address;
  registers.poke(RegisterId::ACTHD, low(active));
  registers.poke(RegisterId::ACTHD_UDW, high(active));
  registers.poke(RegisterId::DMA_FADD, low(active));
  registers.poke(RegisterId::DMA_FADD_UDW, high(active));
  registers.poke(RegisterId::IPEHR, engine_.state().header);
  if (!engine_.state().execlist.restoring()) {  // otherwise they belong to the context being loaded
    publish_batches();
    publish_stack();
  }
}

void StreamRegisters::publish_batches() {
  mmio::Registers& registers = engine_.registers();
  const StreamState& stream = engine_.stream().state();
  publish_batch<hw::BB_ADDR, hw::BB_STATE>(registers, RegisterId::BB_ADDR_UDW, stream, kFirstBatch);
  publish_batch<hw::SBB_ADDR, hw::SBB_STATE>(registers, RegisterId::SBB_ADDR_UDW, stream, kSecondBatch);
}

void StreamRegisters::publish_stack() {
  const StreamState& stream = engine_.stream().state();
  auto& stack = engine_.state().ring.stack;
  stack.fill(0);
  for (size_t number = 0; number < stack.size() / 2 && kFirstOnStack + number <= stream.depth; ++number) {
    const StreamLevel& level = stream.levels[kFirstOnStack + number];
    stack[2 * number] = low(level.address) | kStackValid;
    stack[2 * number + 1] = high(level.address) | (level.space == StreamSpace::ppgtt ? kStackPpgtt : 0);
  }
}

void StreamRegisters::adopt() {
  mmio::Registers& registers = engine_.registers();
  engine_.ring().adopt();
  StreamState stream = engine_.stream().state();
  stream.depth = 0;
  const auto enter = [&](GpuVa address, bool ppgtt) {
    ++stream.depth;
    stream.levels[stream.depth] = {.space = space_of(ppgtt), .address = address};
    engine_.state().levels[stream.depth] = {.privileged = !ppgtt, .second_level = stream.depth >= kSecondBatch};
  };
  const auto batch = registers.get<hw::BB_ADDR>();
  if (registers.has(RegisterId::BB_STATE) && batch.valid) {
    enter(join(batch.head_pointer, registers.get<hw::BB_ADDR_UDW>().head_pointer_upper),
          registers.get<hw::BB_STATE>().address_space == hw::BB_STATE::AddressSpace::ppgtt);
    // An image holds the registers of the second batch, or the stack, which includes that batch.
    const auto second = registers.get<hw::SBB_ADDR>();
    const auto& stack = engine_.state().ring.stack;
    if (second.valid && (stack[0] & kStackValid) == 0) {
      enter(join(second.head_pointer, registers.get<hw::SBB_ADDR_UDW>().head_pointer_upper),
            registers.get<hw::SBB_STATE>().address_space == hw::SBB_STATE::AddressSpace::ppgtt);
    }
    for (size_t at = 0; at < stack.size() && (stack[at] & kStackValid) != 0; at += 2) {
      enter(join(stack[at] & ~uint32_t{3}, stack[at + 1] & 0xffff), (stack[at + 1] & kStackPpgtt) != 0);
    }
  }
  engine_.stream().restore(stream);
}

void StreamRegisters::record_preemption() {
  publish();
  mmio::Registers& registers = engine_.registers();
  const StreamState& stream = engine_.stream().state();
  registers.poke(RegisterId::RING_HEAD_PREEMPT, ring_head(0));
  if (stream.depth >= kFirstBatch) {
    registers.poke(RegisterId::BB_PREEMPT_ADDR, low(stream.levels[kFirstBatch].address));
    registers.poke(RegisterId::BB_PREEMPT_ADDR_UDW, high(stream.levels[kFirstBatch].address));
  }
  if (stream.depth >= kSecondBatch) {
    registers.poke(RegisterId::SBB_PREEMPT_ADDR, low(stream.levels[kSecondBatch].address));
    registers.poke(RegisterId::SBB_PREEMPT_ADDR_UDW, high(stream.levels[kSecondBatch].address));
  }
}

uint32_t StreamRegisters::stack_dword(unsigned number) const {
  const auto& stack = engine_.state().ring.stack;
  return number < stack.size() ? stack[number] : 0;
}

void StreamRegisters::set_stack_dword(unsigned number, uint32_t value) {
  auto& stack = engine_.state().ring.stack;
  if (number < stack.size()) {
    stack[number] = value;
  }
}

// Returns INSTDONE with the bits of the streamer and its ring. Units behind the streamer are always done, because they
// finish before it continues.
uint32_t StreamRegisters::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  const bool enabled = engine_.ring().enabled();
  const auto changed = [&]<class Register>(Register done, auto&& change) {
    change(done);
    return engine_.registers().raw(done);
  };
  switch (slot.desc->id) {
    case RegisterId::INSTDONE_1:
      return changed(engine_.registers().from_raw<hw::INSTDONE_1>(stored), [&](hw::INSTDONE_1& done) {
        done.command_parser &= !engine_.busy();
        done.cs_done &= !engine_.busy();
        done.ring_0 = enabled;
        done.prb0_ring_enable = enabled;
      });
    case RegisterId::INSTDONE_2:
      return changed(engine_.registers().from_raw<hw::INSTDONE_2>(stored), [&](hw::INSTDONE_2& done) {
        done.cs &= !engine_.busy();
        done.cs_done &= !engine_.busy();
      });
    case RegisterId::BCS_INSTDONE:
      return changed(engine_.registers().from_raw<hw::BCS_INSTDONE>(stored), [&](hw::BCS_INSTDONE& done) {
        done.bcs_done &= !engine_.busy();
        done.ring_enable = enabled;
      });
    case RegisterId::VCS_INSTDONE:
      return changed(engine_.registers().from_raw<hw::VCS_INSTDONE>(stored), [&](hw::VCS_INSTDONE& done) {
        done.vcs_done &= !engine_.busy();
        done.ring_enable = enabled;
      });
    case RegisterId::VECS_INSTDONE:
      return changed(engine_.registers().from_raw<hw::VECS_INSTDONE>(stored), [&](hw::VECS_INSTDONE& done) {
        done.vecs_done &= !engine_.busy();
        done.ring_enable = enabled;
      });
    default:
      publish();
      return engine_.registers().mmio().bank().peek(slot);
  }
}

}  // namespace halogen::engine
