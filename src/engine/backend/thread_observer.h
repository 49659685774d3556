// Attaches an observer to the threads of an engine. The observer must live until it is detached (null). It must not
// detach itself in one of its calls.
#pragma once

namespace halogen::compute {
class Observer;
}

namespace halogen::engine {

class Engine;

void observe_threads(Engine& engine, compute::Observer* observer);

}  // namespace halogen::engine
