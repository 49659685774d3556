#pragma once

#include <cstdint>

namespace halogen::engine {

struct RingState {
  uint32_t reported_head = 0;  // head offset of the last automatic report
  uint32_t first_wraps = 0;    // wrap count of the register when the level was made

  bool operator==(const RingState&) const = default;
};

}  // namespace halogen::engine
