#include "engine/mi/semaphores.h"

#include "engine/engine.h"

namespace halogen::engine {

using spec::RegisterId;

Semaphores::Semaphores(Engine& engine) : engine_(engine) {
  for (const RegisterId id : {RegisterId::RING_SYNC_0, RegisterId::RING_SYNC_1}) {
    engine.registers().attach(id, *this);
  }
}

uint32_t Semaphores::on_write(const mmio::RegisterWrite& write) {
  engine_.wake();
  return write.next;
}

}  // namespace halogen::engine
