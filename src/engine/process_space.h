// The per-process address space of the mobile Gen4.5 part, which software enables together with run lists.
#pragma once

#include "hw/mode.h"
#include "mmio/mmio_space.h"
#include "mmio/register.h"
#include "spec/device_model.h"

namespace halogen::engine {

// Returns the register of an engine that enables the space, if the chip has run lists.
inline mmio::Register<hw::GFX_MODE> process_space_mode(mmio::MmioSpace& mmio, const spec::EngineModel& engine) {
  return mmio.generation().has(spec::Feature::run_lists) ? mmio::Register<hw::GFX_MODE>(mmio.bank(), engine.name)
                                                         : mmio::Register<hw::GFX_MODE>();
}

// Returns whether the space is enabled. A batch is then fetched through the table that its security selects (G45 PRM
// vol. 1b 1.5.1, seed 003). `mode` comes from the function above.
inline bool has_process_space(const spec::DeviceModel& model, const mmio::Register<hw::GFX_MODE>& mode) {
  return model.has(spec::Feature::run_lists) && mode.get().per_process_space_and_run_list_enable;
}

}  // namespace halogen::engine
