// Predication. MI_PREDICATE computes a bit that drawing commands and stores may depend on. The bit is kept in
// MI_PREDICATE_RESULT, where software can also write it. MI_SET_PREDICATE makes no-operations of some of the commands
// that follow. Seed 000, Predication.
#pragma once

#include "engine/stream/command.h"

namespace halogen::engine {

// The bit that commands with a predicate enable ask for. They are ignored while it is clear (ledger DG1-PRED-06).
bool predicate_result(const Engine& engine);

// While MI_SET_PREDICATE is in force: is this command a no-operation?
bool skipped_by_predicate(Engine& engine, const Command& command);

Next predicate(Engine& engine, const Command& command);
Next set_predicate(Engine& engine, const Command& command);

}  // namespace halogen::engine
