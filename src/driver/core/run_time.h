// The time during which this process ran. Hang detection counts it, so a busy host, a debugger or a suspended machine
// does not cause a hang.
#pragma once

#include <chrono>
#include <functional>

namespace halogen::driver {

// Returns a time that never decreases. Threads may call it at the same time.
using RunTime = std::function<std::chrono::nanoseconds()>;

// Counts the host's time, but never more than all threads of the process together have run.
RunTime run_time_of_process();

}  // namespace halogen::driver
