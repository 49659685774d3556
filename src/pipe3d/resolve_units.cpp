// Gen4: unit states in memory. Not yet.
#include "pipe3d/resolve_parts.h"

namespace halogen::pipe3d {

void resolve_units(Resolver& /*from*/, PipelineState& /*state*/) {}

}  // namespace halogen::pipe3d
