// Semaphores and the conditional end of a batch. A wait compares memory (or a register) when the command is parsed, at
// intervals in polling mode, and when a signal arrives.
#include <algorithm>
#include <array>

#include "engine/engine.h"
#include "engine/mi/mi_access.h"
#include "engine/submit/submission.h"
#include "hw/mi_flow.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::EngineClass;
using spec::RegisterId;

constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kMailboxPoll = kMicrosecond;  // Gen4 and Gen6 have no register for the interval
constexpr uint64_t kNoPoll = 0;

// Compares memory with data. Both enumerations have the same relations in the same order. Empty: the relation does not
// exist.
template <class Relation>
std::optional<bool> holds(Relation relation, uint32_t memory, uint32_t data) {
  switch (static_cast<hw::SemaphoreCompare>(relation)) {
    case hw::SemaphoreCompare::SAD_GREATER_THAN_SDD:
      return memory > data;
    case hw::SemaphoreCompare::SAD_GREATER_THAN_OR_EQUAL_SDD:
      return memory >= data;
    case hw::SemaphoreCompare::SAD_LESS_THAN_SDD:
      return memory < data;
    case hw::SemaphoreCompare::SAD_LESS_THAN_OR_EQUAL_SDD:
      return memory <= data;
    case hw::SemaphoreCompare::SAD_EQUAL_SDD:
      return memory == data;
    case hw::SemaphoreCompare::SAD_NOT_EQUAL_SDD:
      return memory != data;
  }
  return std::nullopt;
}
static_assert(static_cast<int>(hw::CompareOperation::MAD_NOT_EQUAL_IDD) ==
              static_cast<int>(hw::SemaphoreCompare::SAD_NOT_EQUAL_SDD));

Next undefined(const Engine& engine, const Command& command, std::string_view what) {
  engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
               std::string(what));
  return Next::advance();
}

Next finish_wait(Engine& engine) {
  engine.state().semaphore.waiting.reset();
  return Next::advance();
}

// Handles a semaphore that is not signalled. The first failed comparison raises an interrupt, so that a scheduler can
// give the engine to other work.
Next wait_or_switch(Engine& engine, const Command& command, const UnmetWait& wait, std::optional<uint64_t> until) {
  SemaphoreState& state = engine.state().semaphore;
  if (engine.submission().switches_on_wait(wait)) {
    state.waiting.reset();
    return Next::hold();
  }
  if (state.waiting != command.place.address) {
    state.waiting = command.place.address;
    if (!wait.keeps_engine) {  // true for polling a register
      engine.services().interrupt(EngineCause::semaphore_wait);
    }
  }
  const Next next = engine.wait(WaitKind::semaphore, wait.detail, until);
  if (next.action != Next::Action::hold) {  // software has cancelled the wait
    state.waiting.reset();
  }
  return next;
}

Next semaphore_wait(Engine& engine, const Command& command) {
  using Wait = hw::MI_SEMAPHORE_WAIT;
  const auto wait = command.as<Wait>(engine.gen());
  uint32_t value = 0;
  if (wait.register_poll_mode) {
    value = read_register(engine, command, static_cast<uint32_t>(wait.semaphore_address.value));
  } else {
    const bool global = wait.memory_type == Wait::MemoryType::global_graphics_address;
    const auto target = graphics_target(engine, command, global, wait.semaphore_address);
    if (const memory::AccessResult result = target.load(engine, value); !ok(result)) {
      return engine.stopped_by_fault(result);
    }
  }
  const std::optional<bool> signalled = holds(wait.compare_operation, value, wait.semaphore_data_dword);
  if (!signalled) {
    return undefined(engine, command, "compare operation not defined; treated as signalled");
  }
  if (*signalled) {
    return finish_wait(engine);
  }
  const bool polls = wait.wait_mode == hw::SemaphoreWaitMode::POLLING_MODE || wait.register_poll_mode;
  std::optional<uint64_t> until;
  if (polls) {
    const uint64_t interval = engine.registers().get<hw::SEMA_WAIT_POLL>().interval_us;
    until = engine.now() + std::max<uint64_t>(interval, 1) * kMicrosecond;
  }
  return wait_or_switch(engine, command,
                        {.kind = WaitKind::semaphore,
                         .reason = LeaveReason::semaphore,
                         .detail = wait.wait_token_number,
                         .polls = polls,
                         .keeps_engine = wait.register_poll_mode},
                        until);
}

// Notifies the waiting engine. An earlier command has changed the memory.
Next semaphore_signal(Engine& engine, const Command& command) {
  using Target = hw::SemaphoreTargetEngine;
  const auto signal = command.as<hw::MI_SEMAPHORE_SIGNAL>(engine.gen());
  const auto send = [&](EngineClass engine_class, uint8_t instance) {
    engine.services().signal_semaphore({engine_class, instance, signal.target_context_id});
    return Next::advance();
  };
  switch (signal.target_engine_select) {
    case Target::RCS:
      return send(EngineClass::render, 0);
    case Target::BCS:
      return send(EngineClass::blit, 0);
    case Target::VCS0:
      return send(EngineClass::video, 0);
    case Target::VCS1:
      return send(EngineClass::video, 1);
    case Target::VCS2:
      return send(EngineClass::video, 2);
    case Target::VCS3:
      return send(EngineClass::video, 3);
    case Target::VCS4:
      return send(EngineClass::video, 4);
    case Target::VCS5:
      return send(EngineClass::video, 5);
    case Target::VCS6:
      return send(EngineClass::video, 6);
    case Target::VCS7:
      return send(EngineClass::video, 7);
    case Target::VECS:
      return send(EngineClass::vebox, 0);
    case Target::VECS1:
      return send(EngineClass::vebox, 1);
    case Target::VECS2:
      return send(EngineClass::vebox, 2);
    case Target::VECS3:
      return send(EngineClass::vebox, 3);
  }
  return undefined(engine, command, "target engine not defined");
}

// Returns the mailbox register: one of the streamer's own on Gen6, or any register by its offset.
uint32_t mailbox_register(Engine& engine, const hw::MI_SEMAPHORE_MBOX& mailbox) {
  using Select = hw::MI_SEMAPHORE_MBOX::RegisterSelect;
  RegisterId id{};
  switch (mailbox.register_select) {
    case Select::rvsync:
      id = RegisterId::RING_SYNC_0;
      break;
    case Select::rbsync:
      id = RegisterId::RING_SYNC_1;
      break;
    case Select::rvesync:  // the engine does not exist
    case Select::use_general_register_select:
      return static_cast<uint32_t>(mailbox.semaphore_address.value);
  }
  const mmio::RegisterSlot* slot = engine.registers().slot(id);
  return slot == nullptr ? 0 : slot->offset;
}

// Returns the polling interval of a wait. A wait on one of the streamer's own mailboxes is not polled, because a write
// to the mailbox wakes the streamer. Memory and other registers are polled.
uint64_t poll_interval(const hw::MI_SEMAPHORE_MBOX& mailbox) {
  using Select = hw::MI_SEMAPHORE_MBOX::RegisterSelect;
  const bool own = mailbox.compare_register &&
                   (mailbox.register_select == Select::rvsync || mailbox.register_select == Select::rbsync);
  return own ? kNoPoll : kMailboxPoll;
}

Next mailbox_wait(Engine& engine, const Command& command, const hw::MI_SEMAPHORE_MBOX& mailbox, uint32_t value) {
  const uint32_t data = mailbox.semaphore_data_dword;
  const bool strict = engine.generation().has(spec::Feature::mailbox_waits_for_greater);
  if (strict ? value > data : value >= data) {
    return finish_wait(engine);
  }
  const uint64_t interval = poll_interval(mailbox);
  const std::optional<uint64_t> until = interval == kNoPoll ? std::nullopt : std::optional(engine.now() + interval);
  return wait_or_switch(engine, command, {.kind = WaitKind::semaphore, .reason = LeaveReason::semaphore}, until);
}

Next semaphore_mbox(Engine& engine, const Command& command) {
  const auto mailbox = command.as<hw::MI_SEMAPHORE_MBOX>(engine.gen());
  if (!mailbox.compare_semaphore && !mailbox.update_semaphore) {
    return undefined(engine, command, "neither compare nor update selected");
  }
  const bool single_bit = engine.generation().has(spec::Feature::mailbox_holds_one_bit);
  const uint32_t max = mailbox.compare_semaphore ? 0 : 1;
  if (single_bit && mailbox.update_semaphore && mailbox.semaphore_data_dword > max) {
    undefined(engine, command, "update data out of range; written anyway");
  }
  if (mailbox.compare_register) {
    if (mailbox.compare_semaphore) {
      return mailbox_wait(engine, command, mailbox, engine.read_register(mailbox_register(engine, mailbox)));
    }
    if (!command.permit.restricted) {
      engine.write_register(static_cast<uint32_t>(mailbox.semaphore_address.value), mailbox.semaphore_data_dword);
    }
    return engine.was_reset() ? Next::hold() : Next::advance();
  }
  // The bit alone selects the table, regardless of the table that the command was fetched through.
  CommandAddress target = graphics_target(engine, command, mailbox.use_global_gtt, mailbox.semaphore_address);
  if (!mailbox.use_global_gtt) {
    target.space = &engine.data_space(memory::TableKind::per_process);
  }
  if (!mailbox.compare_semaphore) {
    return engine.after(target.store(engine, mailbox.semaphore_data_dword));
  }
  uint32_t value = 0;
  if (const memory::AccessResult result = target.load(engine, value); !ok(result)) {
    return engine.stopped_by_fault(result);
  }
  const Next next = mailbox_wait(engine, command, mailbox, value);
  const bool updates = next.action == Next::Action::advance && mailbox.update_semaphore;
  return updates ? engine.after(target.store(engine, mailbox.semaphore_data_dword)) : next;
}

// Ends the batch unless the relation holds. Before Gen12 the relation is always "greater" and all batch levels end.
Next conditional_batch_buffer_end(Engine& engine, const Command& command) {
  const auto end = command.as<hw::MI_CONDITIONAL_BATCH_BUFFER_END>(engine.gen());
  if (!engine.in_batch()) {
    return undefined(engine, command, "only valid in a batch buffer");
  }
  if (!end.compare_semaphore) {
    return Next::advance();  // no comparison requested
  }
  const auto target = graphics_target(engine, command, end.use_global_gtt, end.compare_address);
  uint32_t value = 0;
  if (end.compare_mask_mode) {
    std::array<uint32_t, 2> both{};  // the mask, then the data
    if (const memory::AccessResult result = target.load(engine, both); !ok(result)) {
      return engine.stopped_by_fault(result);
    }
    value = both[0] & both[1];
  } else if (const memory::AccessResult result = target.load(engine, value); !ok(result)) {
    return engine.stopped_by_fault(result);
  }
  const std::optional<bool> goes_on = holds(end.compare_operation, value, end.compare_data_dword);
  if (!goes_on) {
    return undefined(engine, command, "compare operation not defined; the batch continues");
  }
  if (*goes_on) {
    return Next::advance();
  }
  if (!end.end_current_batch_buffer_level) {
    StreamState stream = engine.stream().state();
    stream.depth = 1;
    engine.stream().restore(stream);
  }
  return Next::leave();
}

}  // namespace

void add_semaphore_handlers(HandlerTable& table) {
  table.add(CommandId::MI_SEMAPHORE_WAIT, semaphore_wait, {{RegisterId::SEMA_WAIT_POLL}});
  table.add(CommandId::MI_SEMAPHORE_SIGNAL, semaphore_signal);
  table.add(CommandId::MI_SEMAPHORE_MBOX, semaphore_mbox);
  table.add(CommandId::MI_CONDITIONAL_BATCH_BUFFER_END, conditional_batch_buffer_end);
}

}  // namespace halogen::engine
