// What a command leaves in the registers BR00 to BR26 (seed 003 8.10): the last command, seen through the registers'
// layout. Working registers keep the values that they were loaded with; what the engine counts in them while it draws
// cannot be seen.
#pragma once

#include "blit/blit_commands.h"
#include "blit/blit_job.h"
#include "blit/blit_state.h"

namespace halogen::blit {

// `job` is null for setup commands.
void record(const BlitCommand& command, const BlitJob* job, BlitState& state);

}  // namespace halogen::blit
