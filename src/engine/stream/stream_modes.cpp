#include "engine/stream/stream_modes.h"

#include "engine/engine.h"
#include "hw/fuse.h"
#include "hw/header_bits.h"
#include "hw/mode.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

}  // namespace

StreamModes::StreamModes(Engine& engine) : engine_(engine) {
  engine.registers().attach(RegisterId::MI_MODE, *this);
  engine.registers().attach(RegisterId::INSTPM, *this);
  engine.registers().use({RegisterId::RESET_CTL});
}

// MI_MODE does not stop a ring inside a long command. A reset request does.
bool StreamModes::stopped() const {
  return (engine_.registers().get<hw::MI_MODE>().stop_rings && !engine_.in_command()) ||
         engine_.registers().get<hw::RESET_CTL>().request_reset;
}

void StreamModes::suspend_flush(bool suspend) {
  auto mode = engine_.registers().get<hw::MI_MODE>();
  mode.suspend_flush = suspend;
  engine_.registers().set(mode);
  sync_flush_if_asked();
}

bool StreamModes::skips(const Command& command) const {
  const uint32_t header = command.dwords[0];
  if (hw::ClientHeader::kClient.of(header) != hw::ClientHeader::render) {
    return false;
  }
  const auto mode = engine_.registers().get<hw::INSTPM>();
  const uint32_t pipeline = hw::RenderHeader::kPipeline.of(header);
  if (pipeline == hw::RenderHeader::media) {
    return mode.media_instruction_disable;
  }
  const bool primitive =
      pipeline == hw::RenderHeader::draw && hw::RenderHeader::kOpcode.of(header) == hw::RenderHeader::primitive;
  return primitive ? mode.rendering_instruction_disable_3d : mode.state_instruction_disable_3d;
}

// MI_MODE reports a streamer that is stopped between commands as idle.
uint32_t StreamModes::on_read(const mmio::RegisterSlot& slot, unsigned /*copy*/, uint32_t stored) {
  if (slot.desc->id != RegisterId::MI_MODE) {
    return stored;
  }
  auto mode = engine_.registers().from_raw<hw::MI_MODE>(stored);
  mode.rings_idle = !engine_.busy() || (stopped() && engine_.state().activity != Activity::hung);
  return engine_.registers().raw(mode);
}

uint32_t StreamModes::on_write(const mmio::RegisterWrite& write) {
  const RegisterId id = write.slot.desc->id;
  engine_.registers().poke(id, write.next);
  sync_flush_if_asked();
  engine_.wake();
  return engine_.registers().peek(id);
}

// A register write arrives between two commands or while the parser is idle, so the flush is done at once.
void StreamModes::sync_flush_if_asked() {
  mmio::Registers& registers = engine_.registers();
  auto mode = registers.get<hw::INSTPM>();
  if (!mode.sync_flush_enable || registers.get<hw::MI_MODE>().suspend_flush ||
      engine_.state().activity == Activity::hung) {
    return;
  }
  engine_.back_end().flush();
  engine_.services().flush_translations();
  mode.sync_flush_enable = false;
  registers.set(mode);
  bool& status = engine_.state().ring.sync_status;
  status = !status;
  engine_.services().set_interrupt_level(EngineCause::sync_status, status);
}

}  // namespace halogen::engine
