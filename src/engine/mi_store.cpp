// Stores to memory: immediate data, status pages, copies, page table entries.
#include "engine/engine.h"
#include "hw/mi_memory.h"

namespace halogen::engine {
namespace {

using spec::CommandId;

Next store_data_imm(Engine& engine, const Command& command) {
  const auto store = command.as<hw::MI_STORE_DATA_IMM>(engine.gen());
  AddressSpace& memory = engine.data_space(store.use_global_gtt ? TableKind::global : engine.fetched_from());
  const size_t count = hw::MI_STORE_DATA_IMM::count_data(engine.gen(), command.dwords);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t value = hw::MI_STORE_DATA_IMM::unpack_data(engine.gen(), command.dwords, i).data_dword;
    if (!memory.store_value(store.address + i * sizeof(value), value)) {
      return engine.stopped_by_fault();
    }
  }
  return Next::advance();
}

}  // namespace

void add_store_handlers(HandlerTable& table) {
  table.add(CommandId::MI_STORE_DATA_IMM, store_data_imm);
}

}  // namespace halogen::engine
