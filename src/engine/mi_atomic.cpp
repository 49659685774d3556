#include "engine/engine.h"

namespace halogen::engine {

void add_atomic_handlers(HandlerTable& /*table*/) {}

}  // namespace halogen::engine
