#include "engine/engine.h"

namespace halogen::engine {

void add_flush_handlers(HandlerTable& /*table*/) {}

}  // namespace halogen::engine
