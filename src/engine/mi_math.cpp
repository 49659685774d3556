#include "engine/engine.h"

namespace halogen::engine {

void add_math_handlers(HandlerTable& /*table*/) {}

}  // namespace halogen::engine
