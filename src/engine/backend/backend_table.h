// The page table that a back end's memory accesses use.
#pragma once

#include "engine/engine.h"

namespace halogen::engine {

// Returns the table that the work of the running command uses. Commands of a batch use the table that the batch was
// fetched through. The ring of a logical context is fetched through the global table, but its work uses the per-process
// table: Linux i915 relies on this to clear and copy local memory (intel_migrate.c).
memory::TableKind table_of(Engine& engine);

}  // namespace halogen::engine
