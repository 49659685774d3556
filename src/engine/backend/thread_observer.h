// Looking at the threads of an engine while they run. The observer lives until it is taken away (null), which none of
// its own calls may do.
#pragma once

namespace halogen::compute {
class Observer;
}

namespace halogen::engine {

class Engine;

void observe_threads(Engine& engine, compute::Observer* observer);

}  // namespace halogen::engine
