// The network that routes signals of all units to the 16 lanes of the custom events and counters. It is not documented:
// drivers write lists of words whose meaning is not published. The model knows some lists as a whole
// (gen/observation_rules.h); with any other list all lanes are zero.
#pragma once

#include <cstdint>

#include "gen/observation_rules.h"

namespace halogen::oa {

struct NetworkState {
  uint64_t hash = kNetworkHashStart;  // of the words since the list began
  uint32_t words = 0;
  bool begins = true;  // the next word begins a new list
  bool operator==(const NetworkState&) const = default;
};

// Continues the list. A write to a register that enables the network ends it.
void add_write(NetworkState& state, NetworkWrite write);
inline void end_list(NetworkState& state) {
  state.begins = true;
}

}  // namespace halogen::oa
