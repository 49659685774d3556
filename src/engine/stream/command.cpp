#include "engine/stream/command.h"

namespace halogen::engine {

HandlerTable::HandlerTable() : handlers_(spec::commands().size(), nullptr) {
  add_flow_handlers(*this);
  add_store_handlers(*this);
  add_register_handlers(*this);
  add_math_handlers(*this);
  add_atomic_handlers(*this);
  add_semaphore_handlers(*this);
  add_display_handlers(*this);
  add_flush_handlers(*this);
  add_context_handlers(*this);
}

const HandlerTable& HandlerTable::instance() {
  static const HandlerTable table;
  return table;
}

}  // namespace halogen::engine
