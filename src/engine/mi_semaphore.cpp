#include "engine/engine.h"

namespace halogen::engine {

void add_semaphore_handlers(HandlerTable& /*table*/) {}

}  // namespace halogen::engine
