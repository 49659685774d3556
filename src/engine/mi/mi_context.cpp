// Logical contexts before execlists, and the list of probed pages of the mobile Gen4.5 part. G45 PRM vol. 1b 1.13, 1.15
// and 5.8 (seed 003).
#include "engine/context/legacy_context.h"
#include "engine/engine.h"
#include "engine/submit/submission.h"
#include "hw/context.h"
#include "hw/mi_flow.h"
#include "hw/mi_memory.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

ContextAddress address_of(const Engine& engine, const hw::CCID& id) {
  if (!engine.generation().has(spec::Feature::ccid_holds_space)) {
    return {false, id.context_address.value};
  }
  const uint64_t high = id.context_address_extension;
  return {!id.graphics_memory, id.context_address.value | (id.graphics_memory ? 0 : high << 32)};
}

// CCID keeps the command's dword without its force-restore and restore-inhibit bits.
hw::CCID id_of(const hw::MI_SET_CONTEXT& command) {
  hw::CCID id;
  id.context_address = GgttOffset{command.logical_context_address.value};
  id.context_address_extension = command.logical_context_address_extension;
  id.graphics_memory = command.memory_space_select == hw::MI_SET_CONTEXT::MemorySpaceSelect::global_graphics_memory;
  id.extended_state_save_enable = command.extended_state_save_enable;
  id.extended_state_restore_enable = command.extended_state_restore_enable;
  id.valid = true;
  return id;
}

// Reports a missing MI_NOOP after the command, which G45 PRM vol. 1b 1.15 (seed 003) requires.
void expect_noop(Engine& engine, const Command& command) {
  const StreamLevel& level = engine.stream().level();
  GpuVa next = command.place.address + command.dwords.size_bytes();
  if (next >= level.wrap_at) {
    next = level.wrap_to + (next - level.wrap_at);
  }
  if (next == level.end) {
    return;
  }
  const auto header = engine.data_space(memory::TableKind::global, memory::Stream::ring).load_value<uint32_t>(next);
  if (!spec::desc(CommandId::MI_NOOP).match_of_gen[static_cast<size_t>(engine.gen())].matches(header)) {
    engine.raise(EventKind::undefined_behaviour, "MI_SET_CONTEXT", next.value, header, "not followed by an MI_NOOP");
  }
}

Next set_context(Engine& engine, const Command& command) {
  const auto set = command.as<hw::MI_SET_CONTEXT>(engine.gen());
  if (engine.in_batch()) {
    engine.raise(EventKind::undefined_behaviour, "MI_SET_CONTEXT", command.place.address.value, command.dwords[0],
                 "only valid in a ring buffer");
    return Next::advance();
  }
  if (set.force_restore && set.restore_inhibit) {
    engine.raise(EventKind::undefined_behaviour, "MI_SET_CONTEXT", command.place.address.value, command.dwords[1],
                 "force restore and restore inhibit both set");
  }
  expect_noop(engine, command);
  mmio::Registers& registers = engine.registers();
  const auto current = registers.get<hw::CCID>();
  const hw::CCID next = id_of(set);
  const bool other = !current.valid || address_of(engine, current) != address_of(engine, next);
  if (other || set.force_restore) {
    engine.back_end().flush();
    engine.services().flush_translations();
    memory::AccessResult result = memory::AccessResult::ok;
    if (current.valid) {
      result = save_context(engine, address_of(engine, current), false);
    }
    if (ok(result) && !set.restore_inhibit) {
      result = restore_context(engine, address_of(engine, next), false);
    }
    if (!ok(result)) {
      return engine.stopped_by_fault(result);
    }
  }
  registers.set(next);
  return Next::advance();
}

void set_slot(Engine& engine, unsigned slot, bool valid) {
  const unsigned dword = slot / kProbesOfRegister;
  const uint32_t bit = 1u << slot % kProbesOfRegister;
  const uint32_t old = engine.registers().peek(RegisterId::PROBE_SLOT_VALID, dword);
  engine.registers().poke(RegisterId::PROBE_SLOT_VALID, valid ? old | bit : old & ~bit, dword);
}

// Probes every page, also after a fault.
Next probe(Engine& engine, const Command& command) {
  bool faulted = false;
  for (size_t i = 0; i < hw::MI_PROBE::count_probes(engine.gen(), command.dwords); ++i) {
    const auto each = hw::MI_PROBE::unpack_probes(engine.gen(), command.dwords, i);
    faulted |= !probe_page(engine, GpuVa{each.surface_page_base_address.value});
    set_slot(engine, each.slot_number, true);
    const memory::AccessResult result =
        store_probe(engine, each.slot_number, static_cast<uint32_t>(each.surface_page_base_address.value));
    if (!ok(result)) {
      return engine.stopped_by_fault(result);
    }
  }
  if (!faulted) {
    return Next::advance();
  }
  if (!engine.state().arbitration) {
    return engine.hang("probe faulted while context switches are disabled");
  }
  return Next::stop();  // the context leaves if another one is pending
}

Next unprobe(Engine& engine, const Command& command) {
  set_slot(engine, command.as<hw::MI_UNPROBE>(engine.gen()).slot_number, false);
  return Next::advance();
}

}  // namespace

void add_context_handlers(HandlerTable& table) {
  table.add(CommandId::MI_SET_CONTEXT, set_context, {{RegisterId::CCID}, {RegisterId::CXT_SIZE}});
  table.add(CommandId::MI_PROBE, probe, {{RegisterId::PROBE_SLOT_VALID}});
  table.add(CommandId::MI_UNPROBE, unprobe, {{RegisterId::PROBE_SLOT_VALID}});
}

}  // namespace halogen::engine
