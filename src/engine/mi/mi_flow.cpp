// Control flow of the stream: batch buffers, arbitration points, interrupts from the stream, power requests. G45 PRM
// vol. 1b 1.2 to 1.5, 2.2 to 2.4, 5.3.5 and 5.3.7 (seed 003); DG1 PRM vol. 13, command buffers (seed 000).
#include "hw/mi_flow.h"
#include "engine/engine.h"
#include "engine/submit/execlist.h"
#include "engine/submit/submission.h"
#include "hw/gtt.h"
#include "hw/mi_video.h"
#include "hw/mode.h"
#include "hw/predicate.h"
#include "hw/ring.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

constexpr uint64_t kPageBytes = 4096;
constexpr uint8_t kFirstBatch = 1;
constexpr uint8_t kSecondBatch = 2;
constexpr uint8_t kDeepestBatch = 3;  // with nesting, because a context image has room for three levels

Next noop(Engine& engine, const Command& command) {
  const auto noop = command.as<hw::MI_NOOP>(engine.gen());
  if (noop.identification_number_register_write_enable) {
    engine.registers().poke(RegisterId::NOPID, noop.identification_number);
  }
  return Next::advance();
}

// A batch buffer about to be started.
struct Batch {
  StreamSpace space = StreamSpace::ggtt;
  GpuVa address;
  GpuVa end = StreamLevel::kNoEnd;
  LevelState level;
  bool deeper = false;  // started by a batch as a call, not as a chain
};

void note_start(Engine& engine, GpuVa address) {
  engine.registers().poke(RegisterId::BB_START_ADDR, static_cast<uint32_t>(address.value));
  engine.registers().poke(RegisterId::BB_START_ADDR_UDW, static_cast<uint32_t>(address.value >> 32) & 0xffff);
}

// Starts a batch. A start in the ring is a call. A start in a batch is a call or a chain, which keeps the level.
// Without nesting there are two levels: in the second one a first-level start drops the second level, and a
// second-level start chains. With nesting there are three levels (Intel media driver, mhw_mi_hwcmd_g12_X.h).
Next start(Engine& engine, const Batch& batch) {
  const uint8_t depth = engine.stream().state().depth;
  const bool nests = engine.registers().get<hw::MI_MODE>().nested_batch_buffer_enable;
  const bool calls = depth == 0 || (batch.deeper && (nests || depth == kFirstBatch));
  if (calls && depth == kDeepestBatch) {
    return engine.hang("batch buffers nested more than three levels deep");
  }
  if (calls) {
    if (depth + 1u < StreamState::kMaxLevels) {
      engine.state().levels[depth + 1u] = batch.level;
    }
    if (depth == 0) {
      note_start(engine, batch.address);
    }
    return Next::call(batch.space, batch.address, batch.end);
  }
  if (!nests && !batch.deeper && depth >= kSecondBatch) {
    StreamState stream = engine.stream().state();
    stream.depth = kFirstBatch;
    engine.stream().restore(stream);
  }
  engine.level() = batch.level;
  if (engine.stream().state().depth == kFirstBatch) {
    note_start(engine, batch.address);
  }
  return Next::jump(batch.space, batch.address, batch.end);
}

// Gen4: the ring decides whether a batch is secure, and a chained batch inherits that. G45 PRM vol. 1b 1.5.1 (seed
// 003).
Batch secured_batch(Engine& engine, bool non_secure) {
  Batch batch;
  batch.level = engine.in_batch() ? engine.level() : LevelState{.privileged = !non_secure};
  return batch;
}

// With the per-process address space a non-secure batch is fetched through the per-process table; without it PGTBL_STR2
// selects the table. G45 PRM vol. 1b 1.5.1 and 4.6.1 (seed 003).
StreamSpace secured_space(Engine& engine, const Batch& batch) {
  const bool through_process = engine.per_process_space() ? !batch.level.privileged
                                                          : engine.registers().get<hw::PGTBL_STR2>().batch_buffer_ppgtt;
  return through_process ? StreamSpace::ppgtt : StreamSpace::ggtt;
}

Arbitration arbitration_of(Engine& engine, const Command& command, const hw::MI_BATCH_BUFFER_START& start) {
  using Control = hw::MI_BATCH_BUFFER_START::CommandArbitrationControl;
  if (engine.in_batch() && engine.level().arbitration == Arbitration::never) {
    return Arbitration::never;  // until control returns to the ring
  }
  switch (start.command_arbitration_control) {
    case Control::at_chain_points:
      return Arbitration::at_chain_points;
    case Control::between_commands:
      return Arbitration::between_commands;
    case Control::no_arbitration:
      return Arbitration::never;
  }
  engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
               "reserved arbitration control value");
  return Arbitration::at_chain_points;
}

// A bit says whether the batch is secure, another whether its address is physical.
Batch batch_by_security_bit(Engine& engine, const Command& command, const hw::MI_BATCH_BUFFER_START& start) {
  using Start = hw::MI_BATCH_BUFFER_START;
  Batch batch = secured_batch(engine, start.buffer_security_indicator == Start::BufferSecurityIndicator::non_secure);
  batch.space = secured_space(engine, batch);
  batch.level.arbitration = arbitration_of(engine, command, start);
  batch.address = start.batch_buffer_start_address;
  if (start.memory_space_select == Start::MemorySpaceSelect::physical_memory) {
    batch.space = StreamSpace::physical;
    batch.address = GpuVa{batch.address.value | uint64_t{start.batch_buffer_start_address_extension} << 32};
    batch.end = GpuVa{(batch.address.value / kPageBytes + 1) * kPageBytes};
  } else if (start.batch_buffer_start_address_extension != 0) {
    engine.raise(EventKind::reserved_bits, command.desc.name, command.place.address.value, command.dwords[1],
                 "address extension set for a graphics address");
  }
  return batch;
}

// The address space determines the privilege, and a batch without privilege cannot start a privileged one.
Batch batch_by_space(Engine& engine, const hw::MI_BATCH_BUFFER_START& start) {
  Batch batch;
  const bool kept_low = engine.in_batch() && !engine.level().privileged && engine.privilege().checks();
  const bool per_process =
      start.address_space_indicator == hw::MI_BATCH_BUFFER_START::AddressSpaceIndicator::ppgtt || kept_low;
  batch.space = per_process ? StreamSpace::ppgtt : StreamSpace::ggtt;
  batch.address = start.batch_buffer_start_address;
  if (start.add_offset_enable) {
    batch.address += engine.registers().get<hw::BB_OFFSET>().offset;
  }
  batch.address = canonical(batch.address);
  batch.deeper = start.second_level_batch_buffer;
  batch.level = {.privileged = !per_process, .second_level = batch.deeper};
  return batch;
}

Next batch_buffer_start(Engine& engine, const Command& command) {
  const auto command_fields = command.as<hw::MI_BATCH_BUFFER_START>(engine.gen());
  if (command_fields.predication_enable && !engine.registers().get<hw::MI_PREDICATE_RESULT_1>().predicate_result) {
    return Next::advance();
  }
  const Batch batch = engine.generation().has(spec::Feature::batch_security_bit)
                          ? batch_by_security_bit(engine, command, command_fields)
                          : batch_by_space(engine, command_fields);
  // With run lists a chain is an arbitration point.
  if (engine.per_process_space() && engine.in_batch() && engine.level().arbitration != Arbitration::never &&
      engine.submission().wants_switch()) {
    engine.submission().leave();
    return Next::hold();
  }
  return start(engine, batch);
}

// Starts a batch of the video streamer of Gen4.5, which has no physical addresses and no arbitration control.
Next batch_buffer_start_vce(Engine& engine, const Command& command) {
  const auto fields = command.as<hw::MI_BATCH_BUFFER_START_VCE>(engine.gen());
  const bool non_secure =
      fields.buffer_security_indicator == hw::MI_BATCH_BUFFER_START_VCE::BufferSecurityIndicator::non_secure;
  Batch batch = secured_batch(engine, non_secure);
  batch.space = batch.level.privileged ? StreamSpace::ggtt : StreamSpace::ppgtt;
  batch.address = fields.batch_buffer_start_address;
  return start(engine, batch);
}

Next batch_buffer_end(Engine& engine, const Command& command) {
  const auto end = command.as<hw::MI_BATCH_BUFFER_END>(engine.gen());
  EngineState& state = engine.state();
  if (end.end_context && state.execlist.running) {
    state.ring.end_context = true;
    return Next::stop();
  }
  if (!engine.in_batch()) {
    engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
                 "only valid in a batch buffer");
    return Next::advance();
  }
  if (!state.arbitration && state.arbitration_off_in_batch && engine.stream().state().depth == kFirstBatch) {
    state.arbitration_off_in_batch = false;
    engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
                 "batch ended with arbitration disabled");
  }
  engine.fetch().read_ahead(engine.stream().level().space, command.place.address);
  return Next::leave();
}

// Checks for pending work: on rings the updated head pointer or the next context of a run list, with execlists a
// pending submission.
Next arb_check(Engine& engine, const Command& command) {
  const auto check = command.as<hw::MI_ARB_CHECK>(engine.gen());
  if ((check.mask_bits & 1) != 0) {
    engine.state().preparser = !check.pre_fetch_disable;
  }
  if (engine.execlists() != nullptr && engine.execlists()->enabled()) {
    return engine.submission().wants_switch() ? Next::stop() : Next::advance();
  }
  if (engine.in_batch()) {
    if (!engine.generation().has(spec::Feature::ring_only_commands)) {
      return Next::advance();
    }
    engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
                 "only valid in a ring buffer");
    return Next::advance();
  }
  if (engine.per_process_space()) {
    return engine.submission().wants_switch() ? Next::stop() : Next::advance();
  }
  if (engine.ring().take_updated_head()) {
    ++engine.state().commands;
    return Next::hold();  // the stream continues at the new head
  }
  return Next::advance();
}

// On Gen4.5 the command has an effect only while run lists are enabled (ledger G45-1.3-04).
Next arb_on_off(Engine& engine, const Command& command) {
  const auto order = command.as<hw::MI_ARB_ON_OFF>(engine.gen());
  if (engine.generation().has(spec::Feature::arbitration_by_run_lists) && !engine.per_process_space()) {
    return Next::advance();
  }
  engine.state().arbitration = order.arbitration_enable;
  engine.state().lite_restores = !order.arbitration_enable && order.allow_lite_restore;
  engine.state().arbitration_off_in_batch = !order.arbitration_enable && engine.in_batch();
  return Next::advance();
}

Next report_head(Engine& engine, const Command& command) {
  const bool misplaced = engine.in_batch() && engine.generation().has(spec::Feature::ring_only_commands);
  if (misplaced) {
    engine.raise(EventKind::undefined_behaviour, command.desc.name, command.place.address.value, command.dwords[0],
                 "only valid in a ring buffer");
  }
  const uint64_t ahead = engine.in_batch() ? 0 : command.dwords.size_bytes();
  return engine.after(engine.ring().report_head(ahead));
}

Next user_interrupt(Engine& engine, const Command& /*command*/) {
  engine.services().interrupt(EngineCause::user);
  return Next::advance();
}

Next suspend_flush(Engine& engine, const Command& command) {
  engine.modes().suspend_flush(command.as<hw::MI_SUSPEND_FLUSH>(engine.gen()).suspend_flush);
  return Next::advance();
}

// The power domains of a running engine are awake, so the command does not wait.
Next force_wakeup(Engine& engine, const Command& command) {
  engine.approximate(command.desc, "power wells of busy engines always on");
  return Next::advance();
}

}  // namespace

void add_flow_handlers(HandlerTable& table) {
  table.add(CommandId::MI_NOOP, noop, {{RegisterId::NOPID}});
  table.add(CommandId::MI_BATCH_BUFFER_START, batch_buffer_start,
            {{RegisterId::BB_START_ADDR},
             {RegisterId::BB_START_ADDR_UDW},
             {RegisterId::PGTBL_STR2, "buffer_security_indicator"},
             {RegisterId::BB_OFFSET, "add_offset_enable"},
             {RegisterId::MI_PREDICATE_RESULT_1, "predication_enable"}});
  table.add(CommandId::MI_BATCH_BUFFER_START_VCE, batch_buffer_start_vce,
            {{RegisterId::BB_START_ADDR}, {RegisterId::BB_START_ADDR_UDW}});
  table.add(CommandId::MI_BATCH_BUFFER_END, batch_buffer_end);
  table.add(CommandId::MI_ARB_CHECK, arb_check);
  table.add(CommandId::MI_ARB_ON_OFF, arb_on_off);
  table.add(CommandId::MI_REPORT_HEAD, report_head);
  table.add(CommandId::MI_USER_INTERRUPT, user_interrupt);
  table.add(CommandId::MI_SUSPEND_FLUSH, suspend_flush);
  table.add(CommandId::MI_FORCE_WAKEUP, force_wakeup);
}

}  // namespace halogen::engine
