// The addresses of a context's binding tables and state, for draws and dispatches.
#pragma once

#include "engine/engine.h"
#include "message/environment.h"

namespace halogen::engine {

// Returns the pool if one is enabled, else the surface base. GT_MODE selects the format of pointers.
message::BindingTables binding_tables_of(const Engine& engine);

// Returns the context's base addresses, with the auxiliary table that a register names.
message::StateBases bases_of(Engine& engine);

}  // namespace halogen::engine
