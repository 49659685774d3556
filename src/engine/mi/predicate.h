// Predication. MI_PREDICATE computes a bit that drawing commands and stores can depend on. The bit is kept in
// MI_PREDICATE_RESULT, which software can also write. MI_SET_PREDICATE turns some of the following commands into
// no-ops. DG1 PRM vol. 13, Predication (seed 000).
#pragma once

#include "engine/stream/command.h"

namespace halogen::engine {

// Returns the predicate bit. Commands with their predicate enable set are ignored while it is clear (ledger
// DG1-PRED-06).
bool predicate_result(const Engine& engine);

// Returns whether MI_SET_PREDICATE turns this command into a no-op.
bool skipped_by_predicate(Engine& engine, const Command& command);

Next predicate(Engine& engine, const Command& command);
Next set_predicate(Engine& engine, const Command& command);

}  // namespace halogen::engine
