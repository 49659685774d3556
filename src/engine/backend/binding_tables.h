// Where a context's binding tables lie, for draws and dispatches alike.
#pragma once

#include "engine/engine.h"
#include "message/environment.h"

namespace halogen::engine {

// In the pool if there is one, else behind the surface base; GT_MODE says how pointers count.
message::BindingTables binding_tables_of(const Engine& engine);

}  // namespace halogen::engine
