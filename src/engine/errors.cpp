#include "engine/errors.h"

#include "engine/engine.h"

namespace halogen::engine {

Errors::Errors(Engine& engine) : engine_(engine) {}

void Errors::raise(ErrorKind /*kind*/) {
  update();
}

void Errors::reset() {}

void Errors::update() {}

uint32_t Errors::on_read(const RegisterSlot& /*slot*/, unsigned /*copy*/, uint32_t stored) {
  return stored;
}

uint32_t Errors::on_write(const RegisterWrite& write) {
  return write.next;
}

}  // namespace halogen::engine
