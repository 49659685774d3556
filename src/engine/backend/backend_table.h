// The page table that a back end's memory accesses use.
#pragma once

#include "engine/engine.h"

namespace halogen::engine {

// Returns the table that the running command's work uses. The commands of a batch use the table that the batch
// was fetched through. The ring of a logical context is fetched through the global table but works as its process:
// Linux i915 clears and copies local memory so (intel_migrate.c).
memory::TableKind table_of(Engine& engine);

}  // namespace halogen::engine
