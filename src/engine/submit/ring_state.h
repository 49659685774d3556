#pragma once

#include <array>
#include <cstdint>

namespace halogen::engine {

struct RingState {
  // Batch levels from the second on in the format of a context image: two dwords each, address and attributes.
  static constexpr size_t kStackDwords = 6;

  uint64_t reported = 0;     // automatic reports: borders passed at the last check
  uint32_t first_wraps = 0;  // wrap count of the register when the level was set
  bool cancel_wait = false;  // software ended the wait, so the waiting command counts as done
  bool sync_status = false;  // toggles with each sync flush
  bool leaving = false;      // run lists: the next context is loaded because of a wait
  bool end_context = false;  // the batch requested the end of its context
  std::array<uint32_t, kStackDwords> stack{};

  bool operator==(const RingState&) const = default;
};

}  // namespace halogen::engine
