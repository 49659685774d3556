// Virtual time of draws and dispatches, and its division among the stages for performance counters. An instruction, a
// vertex and a pixel shader invocation take one nanosecond each. The number of execution units has no effect.
#pragma once

#include <cstdint>

#include "compute/dispatcher.h"
#include "oa/work_counts.h"
#include "pipe3d/pipeline.h"

namespace halogen::engine {

// Return the time of a part, in nanoseconds.
uint64_t time_of(const pipe3d::Outcome& outcome);
uint64_t time_of(const compute::Outcome& outcome);

// Add the threads that a part started, and the share of its time in which each stage ran. The shares add up to
// time_of(). On the first chips, clip threads take time of the geometry stage and set-up threads take time of the pixel
// stage. These threads are not counted as threads of that stage.
void add_stages(const pipe3d::Outcome& outcome, const oa::CountsWanted& wanted, oa::WorkCounts& counts);
void add_stages(const compute::Outcome& outcome, const oa::CountsWanted& wanted, oa::WorkCounts& counts);

}  // namespace halogen::engine
