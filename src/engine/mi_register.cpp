// Register accesses from the stream.
#include "hw/mi_register.h"
#include "engine/engine.h"

namespace halogen::engine {
namespace {

using spec::CommandId;

Next load_register_imm(Engine& engine, const Command& command) {
  const auto load = command.as<hw::MI_LOAD_REGISTER_IMM>(engine.gen());
  uint32_t lanes = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    if (((load.byte_write_disables >> byte) & 1) == 0) {
      lanes |= byte_lanes(byte, 1);
    }
  }
  const size_t count = hw::MI_LOAD_REGISTER_IMM::count_pairs(engine.gen(), command.dwords);
  const uint32_t base = load.add_cs_mmio_start_offset ? engine.model().mmio_base : 0;
  for (size_t i = 0; i < count; ++i) {
    const auto pair = hw::MI_LOAD_REGISTER_IMM::unpack_pairs(engine.gen(), command.dwords, i);
    engine.write_register(base + pair.register_offset, pair.data_dword, lanes);
  }
  return Next::advance();
}

}  // namespace

void add_register_handlers(HandlerTable& table) {
  table.add(CommandId::MI_LOAD_REGISTER_IMM, load_register_imm);
}

}  // namespace halogen::engine
