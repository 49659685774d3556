#include "oa/signal_network.h"

namespace halogen::oa {

void add_write(NetworkState& state, NetworkWrite write) {
  if (state.begins) {
    state = {.hash = kNetworkHashStart, .words = 0, .begins = false};
  }
  state.hash = network_hash(state.hash, write);
  state.words += state.words != ~uint32_t{0} ? 1 : 0;
}

}  // namespace halogen::oa
