#include "engine/errors.h"

#include "engine/engine.h"
#include "hw/hwsp.h"

namespace halogen::engine {
namespace {

using spec::RegisterId;

}  // namespace

Errors::Errors(Engine& engine) : engine_(engine) {
  engine.registers().attach(RegisterId::EIR, *this);
  engine.registers().attach(RegisterId::EMR, *this);
  engine.registers().use({RegisterId::ESR, RegisterId::IPEIR});
}

void Errors::raise(ErrorKind kind) {
  mmio::Registers& registers = engine_.registers();
  auto status = registers.get<hw::ESR>();
  switch (kind) {
    case ErrorKind::instruction:
      status.instruction_error = true;
      break;
    case ErrorKind::command_privilege:
      status.command_privilege_violation = true;
      break;
    case ErrorKind::memory_privilege:
      status.memory_privilege_violation = true;
      break;
    case ErrorKind::page_table:
      status.page_table_error = true;
      break;
    case ErrorKind::memory_refresh:
      status.memory_refresh_error = true;
      break;
  }
  registers.set(status);  // a chip without the bit does not show the error
  if (kind != ErrorKind::page_table) {
    auto origin = registers.get<hw::IPEIR>();
    origin.batch = engine_.in_batch() ? hw::IPEIR::Batch::batch_buffer : hw::IPEIR::Batch::ring;
    registers.set(origin);
  }
  update();
}

void Errors::reset() {
  engine_.services().set_interrupt_level(EngineCause::master_error, false);
}

// EIR latches the bits of ESR that EMR does not mask. A bit that is masked later stays in EIR, but no longer asserts
// the master error.
void Errors::update() {
  mmio::Registers& registers = engine_.registers();
  const uint32_t seen = ~registers.peek(RegisterId::EMR);
  const uint32_t identity = registers.peek(RegisterId::EIR) | (registers.peek(RegisterId::ESR) & seen);
  registers.poke(RegisterId::EIR, identity);
  engine_.services().set_interrupt_level(EngineCause::master_error, (identity & seen) != 0);
}

// Returns the errors that only a reset clears.
uint32_t Errors::unrecoverable() const {
  hw::EIR bits;
  bits.instruction_error = true;
  bits.page_table_error = true;
  return engine_.registers().raw(bits);
}

uint32_t Errors::on_read(const mmio::RegisterSlot& /*slot*/, unsigned /*copy*/, uint32_t stored) {
  return stored;
}

uint32_t Errors::on_write(const mmio::RegisterWrite& write) {
  mmio::Registers& registers = engine_.registers();
  const RegisterId id = write.slot.desc->id;
  uint32_t next = write.next;
  if (id == RegisterId::EIR) {
    const uint32_t cleared = write.value & write.addressed & ~unrecoverable();
    registers.poke(RegisterId::ESR, registers.peek(RegisterId::ESR) & ~cleared);
    next = write.old_value & ~cleared;
  }
  registers.poke(id, next);
  update();
  return registers.peek(id);
}

}  // namespace halogen::engine
