// Gen6: 3DSTATE_SF and 3DSTATE_WM hold what later generations have split. Not yet.
#include "pipe3d/resolve_parts.h"

namespace halogen::pipe3d {

void resolve_combined(Resolver& /*from*/, PipelineState& /*state*/) {}

}  // namespace halogen::pipe3d
