#include "engine/registers.h"

namespace halogen::engine {

Registers::Registers(mmio::MmioSpace& mmio, const spec::EngineModel& engine)
    : mmio_(mmio), engine_(engine), gen_(mmio.generation().id()), places_(spec::registers().size()) {
  // The slots of a register stand together, by engine; an engine's own are one run.
  for (const mmio::RegisterSlot& slot : mmio.bank().map().slots()) {
    if (slot.engine != nullptr && slot.engine != &engine) {
      continue;
    }
    Place& place = places_[static_cast<size_t>(slot.desc->id)];
    if (place.first == nullptr) {
      place.first = &slot;
    }
    ++place.count;
  }
}

void Registers::attach(spec::RegisterId id, mmio::RegisterHandler& handler) {
  for (unsigned dword = 0; const mmio::RegisterSlot* const found = slot(id, dword); ++dword) {
    mmio_.bank().attach(*found, handler);
  }
}

}  // namespace halogen::engine
