// What a thread finds when it starts: r0, constants, channels. Gen8 to Gen12.
#pragma once

#include <array>
#include <cstdint>

#include "compute/compute_state.h"

namespace halogen::compute {

// Thread `number` of the group at `group`, which has got the slot `slot`. Gives its channels.
uint32_t fill_thread(const Settings& settings, const Job& job, const std::array<uint32_t, 3>& group, uint32_t slot,
                     uint32_t number, eu::Thread& thread);

}  // namespace halogen::compute
