#include "engine/backend/backend_table.h"

#include "engine/submit/execlist.h"

namespace halogen::engine {

memory::TableKind table_of(Engine& engine) {
  const ExeclistSubmission* const execlists = engine.execlists();
  const bool process_ring = !engine.in_batch() && execlists != nullptr && execlists->enabled();
  return process_ring ? memory::TableKind::per_process : engine.fetched_from();
}

}  // namespace halogen::engine
