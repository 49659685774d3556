// Flushes: MI_FLUSH of the first rings, MI_FLUSH_DW and PIPE_CONTROL, with their post-sync writes. G45 PRM vol.
// 1b 1.7, 2.5, 5.3.10 and 5.3.11 (seed 003); DG1 PRM vol. 13, posted and non-posted writes (seed 000). Back ends finish
// before the streamer continues and do not cache memory, so a flush has nothing to wait for. Its remaining effects are
// on translations, counters, the post-sync write and the interrupt.
#include <array>

#include "engine/engine.h"
#include "hw/common.h"
#include "hw/mi_memory.h"
#include "hw/mode.h"

namespace halogen::engine {
namespace {

using spec::CommandId;
using spec::RegisterId;

// Statistics that a flush can reset: all but PS_DEPTH_COUNT and TIMESTAMP. G45 PRM vol. 1b 1.7 (seed 003).
constexpr std::array kStatistics{
    RegisterId::IA_VERTICES_COUNT,   RegisterId::IA_PRIMITIVES_COUNT,       RegisterId::VS_INVOCATION_COUNT,
    RegisterId::HS_INVOCATION_COUNT, RegisterId::DS_INVOCATION_COUNT,       RegisterId::GS_INVOCATION_COUNT,
    RegisterId::GS_PRIMITIVES_COUNT, RegisterId::CL_INVOCATION_COUNT,       RegisterId::CL_PRIMITIVES_COUNT,
    RegisterId::PS_INVOCATION_COUNT, RegisterId::SO_NUM_PRIMS_WRITTEN_GEN6, RegisterId::SO_PRIM_STORAGE_NEEDED_GEN6,
};

void reset_statistics(Engine& engine) {
  for (const RegisterId id : kStatistics) {
    for (unsigned dword = 0; engine.registers().has(id) && engine.registers().slot(id, dword) != nullptr; ++dword) {
      engine.registers().poke(id, 0, dword);
    }
  }
}

uint64_t read_counter(Engine& engine, RegisterId id) {
  std::array<uint32_t, 2> halves{};
  for (unsigned dword = 0; dword < halves.size(); ++dword) {
    if (const mmio::RegisterSlot* const slot = engine.registers().slot(id, dword)) {
      halves[dword] = engine.read_register(static_cast<uint32_t>(slot->offset));
    }
  }
  return halves[0] | uint64_t{halves[1]} << 32;
}

// The post-sync operation: the write after a flush.
struct PostSync {
  hw::PostSyncOperation operation{};
  bool global = false;
  bool index = false;        // the address is an offset in the status page
  bool to_register = false;  // the address is a register
  bool qword = true;         // size of immediate data; counters are always qwords
  GpuVa address;
  uint64_t data = 0;
};

uint64_t value_of(Engine& engine, const PostSync& sync) {
  switch (sync.operation) {
    case hw::PostSyncOperation::WRITE_PS_DEPTH_COUNT:
      return read_counter(engine, RegisterId::PS_DEPTH_COUNT);
    case hw::PostSyncOperation::WRITE_TIMESTAMP:
      return read_counter(engine, RegisterId::TIMESTAMP);
    case hw::PostSyncOperation::NO_WRITE:
    case hw::PostSyncOperation::WRITE_IMMEDIATE_DATA:
      break;
  }
  return sync.data;
}

// Returns whether the write is allowed. A batch without privilege may write to its own memory and to listed registers.
bool allowed(Engine& engine, const Command& command, const PostSync& sync) {
  if (sync.to_register) {
    return engine.privilege().allows(command, static_cast<uint32_t>(sync.address.value), mmio::RegisterAccess::write);
  }
  if (command.permit.drop_post_sync) {
    engine.privilege().violation();
    return false;
  }
  return true;
}

memory::AccessResult write_index(Engine& engine, const PostSync& sync, uint64_t value, bool whole) {
  StatusPage& page = engine.status_page();
  const auto dword = static_cast<unsigned>(sync.address.value / sizeof(uint32_t));
  const bool process = page.reports_to_process() && !sync.global;
  if (whole) {
    return process ? page.write_process64(dword, value) : page.write64(dword, value);
  }
  const auto half = static_cast<uint32_t>(value);
  return process ? page.write_process(dword, half) : page.write(dword, half);
}

// Performs the post-sync write.
memory::AccessResult write(Engine& engine, const Command& command, const PostSync& sync) {
  if (sync.to_register) {
    if (allowed(engine, command, sync)) {
      engine.write_register(static_cast<uint32_t>(sync.address.value), static_cast<uint32_t>(sync.data));
    }
    return memory::AccessResult::ok;
  }
  if (sync.operation == hw::PostSyncOperation::NO_WRITE || !allowed(engine, command, sync)) {
    return memory::AccessResult::ok;
  }
  const bool whole = sync.qword || sync.operation != hw::PostSyncOperation::WRITE_IMMEDIATE_DATA;
  const uint64_t value = value_of(engine, sync);
  if (sync.index) {
    return write_index(engine, sync, value, whole);
  }
  memory::AddressSpace& space = engine.data_space(
      sync.global ? memory::TableKind::global : memory::TableKind::per_process, memory::Stream::post_sync);
  return whole ? space.store_value<uint64_t>(sync.address, value)
               : space.store_value<uint32_t>(sync.address, static_cast<uint32_t>(value));
}

void flush_all(Engine& engine) {
  engine.back_end().flush();
  engine.services().flush_translations();
}

Next flush(Engine& engine, const Command& command) {
  flush_all(engine);
  if (command.as<hw::MI_FLUSH>(engine.gen()).global_snapshot_count_reset) {
    reset_statistics(engine);
  }
  return Next::advance();
}

Next flush_vce(Engine& engine, const Command& /*command*/) {
  flush_all(engine);
  return Next::advance();
}

Next flush_dw(Engine& engine, const Command& command) {
  const auto fields = command.as<hw::MI_FLUSH_DW>(engine.gen());
  const auto& length = command.desc.length_of_gen[static_cast<size_t>(engine.gen())];
  engine.back_end().flush();
  if (fields.tlb_invalidate) {
    engine.services().flush_translations();
  }
  const PostSync sync{.operation = fields.post_sync_operation,
                      .global = fields.destination_address_type == hw::MI_FLUSH_DW::DestinationAddressType::ggtt,
                      .index = fields.store_data_index,
                      .qword = command.dwords.size() == length.max,
                      .address = canonical(fields.address),
                      .data = fields.immediate_data};
  if (const memory::AccessResult result = write(engine, command, sync); !ok(result)) {
    return engine.stopped_by_fault(result);
  }
  if (fields.notify_enable) {
    engine.services().interrupt(EngineCause::notify);
  }
  return Next::advance();
}

// Stalls are not observable, because all earlier work is already done.
Next pipe_control(Engine& engine, const Command& command) {
  const auto fields = command.as<hw::PIPE_CONTROL>(engine.gen());
  const auto& length = command.desc.length_of_gen[static_cast<size_t>(engine.gen())];
  engine.back_end().flush();
  if (fields.tlb_invalidate) {
    engine.services().flush_translations();
  }
  const PostSync sync{.operation = fields.post_sync_operation,
                      .global = fields.destination_address_type == hw::DestinationAddressType::GGTT,
                      .index = fields.store_data_index,
                      .to_register = fields.lri_post_sync_operation,
                      .qword = command.dwords.size() == length.max,
                      .address = canonical(fields.address),
                      .data = fields.immediate_data};
  if (const memory::AccessResult result = write(engine, command, sync); !ok(result)) {
    return engine.stopped_by_fault(result);
  }
  if (engine.was_reset()) {
    return Next::hold();  // the register write has reset this engine
  }
  if (fields.global_snapshot_count_reset) {
    reset_statistics(engine);
  }
  if (fields.notify_enable) {
    engine.services().interrupt(EngineCause::notify);
  }
  return Next::advance();
}

}  // namespace

void add_flush_handlers(HandlerTable& table) {
  table.add(CommandId::MI_FLUSH, flush);
  for (const RegisterId id : kStatistics) {
    table.add_registers(CommandId::MI_FLUSH, {{id, "global_snapshot_count_reset"}});
  }
  table.add(CommandId::MI_FLUSH_VCE, flush_vce);
  table.add(CommandId::MI_FLUSH_DW, flush_dw);
  table.add(CommandId::PIPE_CONTROL, pipe_control);
}

}  // namespace halogen::engine
