#include "engine/engine.h"

namespace halogen::engine {

void add_context_handlers(HandlerTable& /*table*/) {}

}  // namespace halogen::engine
