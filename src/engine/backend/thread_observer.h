// Attaches an observer to the threads of an engine. The observer must live until it is detached (null), which none of
// its own calls may do.
#pragma once

namespace halogen::compute {
class Observer;
}

namespace halogen::engine {

class Engine;

void observe_threads(Engine& engine, compute::Observer* observer);

}  // namespace halogen::engine
