#include "mmio/registers.h"

namespace halogen::mmio {

Registers::Registers(MmioSpace& mmio, const spec::EngineModel& engine)
    : mmio_(mmio), engine_(engine), gen_(mmio.generation().id()), runs_(spec::registers().size()) {
  // The slots of a register are adjacent and ordered by engine, so those of one engine are one run.
  for (const RegisterSlot& slot : mmio.bank().map().slots()) {
    if (slot.engine != nullptr && slot.engine != &engine) {
      continue;
    }
    Run& run = runs_[static_cast<size_t>(slot.desc->id)];
    if (run.first == nullptr) {
      run.first = &slot;
    }
    ++run.count;
  }
}

void Registers::use(std::initializer_list<spec::RegisterId> ids) {
  for (const spec::RegisterId id : ids) {
    for (unsigned dword = 0; const RegisterSlot* const found = slot(id, dword); ++dword) {
      mmio_.bank().use(*found);
    }
  }
}

void Registers::attach(spec::RegisterId id, RegisterHandler& handler) {
  for (unsigned dword = 0; const RegisterSlot* const found = slot(id, dword); ++dword) {
    mmio_.bank().attach(*found, handler);
  }
}

}  // namespace halogen::mmio
