// Which table the memory of a back end is reached through.
#pragma once

#include "engine/engine.h"

namespace halogen::engine {

// Batches through the table that they were fetched through, a context's ring as its process.
memory::TableKind table_of(Engine& engine);

}  // namespace halogen::engine
