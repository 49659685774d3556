// Where the stream goes: batch buffers, arbitration points, interrupts from the stream.
#include "hw/mi_flow.h"
#include "engine/engine.h"
#include "hw/mi_video.h"

namespace halogen::engine {
namespace {

using spec::CommandId;

Next noop(Engine& engine, const Command& command) {
  const auto noop = command.as<hw::MI_NOOP>(engine.gen());
  if (noop.identification_number_register_write_enable) {
    engine.registers().poke(spec::RegisterId::NOPID, noop.identification_number);
  }
  return Next::advance();
}

Next batch_buffer_start(Engine& engine, const Command& command) {
  const auto start = command.as<hw::MI_BATCH_BUFFER_START>(engine.gen());
  const bool per_process = start.address_space_indicator == hw::MI_BATCH_BUFFER_START::AddressSpaceIndicator::ppgtt;
  const StreamSpace space = per_process ? StreamSpace::ppgtt : StreamSpace::ggtt;
  const uint8_t depth = engine.stream().state().depth;
  if (!engine.in_batch()) {
    engine.state().levels[depth + 1u] = {.privileged = !per_process};
    return Next::call(space, start.batch_buffer_start_address);
  }
  return Next::jump(space, start.batch_buffer_start_address);
}

Next batch_buffer_end(Engine& engine, const Command& /*command*/) {
  return engine.in_batch() ? Next::leave() : Next::advance();
}

Next user_interrupt(Engine& engine, const Command& /*command*/) {
  engine.services().interrupt(EngineCause::user);
  return Next::advance();
}

}  // namespace

void add_flow_handlers(HandlerTable& table) {
  table.add(CommandId::MI_NOOP, noop);
  table.add(CommandId::MI_BATCH_BUFFER_START, batch_buffer_start);
  table.add(CommandId::MI_BATCH_BUFFER_END, batch_buffer_end);
  table.add(CommandId::MI_USER_INTERRUPT, user_interrupt);
}

}  // namespace halogen::engine
