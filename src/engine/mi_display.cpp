#include "engine/engine.h"

namespace halogen::engine {

void add_display_handlers(HandlerTable& /*table*/) {}

}  // namespace halogen::engine
