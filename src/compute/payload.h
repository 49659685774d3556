// The initial state of a thread: r0, constants, channels.
#pragma once

#include <array>
#include <cstdint>

#include "compute/compute_state.h"

namespace halogen::compute {

// Initialises thread `number` of the group at `group` in slot `slot`. Returns its channel mask.
uint32_t fill_thread(const Settings& settings, const Job& job, const std::array<uint32_t, 3>& group, uint32_t slot,
                     uint32_t number, eu::Thread& thread);

// Sets the control registers of a thread and starts it. `slot` becomes its name for other threads (bits 15:0 of sr0.0).
void start_thread(const Settings& settings, const KernelState& kernel_state, uint32_t slot, uint32_t mask,
                  eu::Thread& thread);

}  // namespace halogen::compute
