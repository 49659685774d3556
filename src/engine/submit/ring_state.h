#pragma once

#include <array>
#include <cstdint>

namespace halogen::engine {

struct RingState {
  // Levels from the second on as a context image holds them: two dwords each, address and attributes.
  static constexpr size_t kStackDwords = 6;

  uint64_t reported = 0;     // automatic reports: number of borders that the head had passed at the last look
  uint32_t first_wraps = 0;  // wrap count of the register when the level was made
  bool cancel_wait = false;  // software ended the wait: the waiting command counts as done
  bool sync_status = false;  // toggles with each sync flush
  bool leaving = false;      // run lists: a wait lets the next context in
  bool end_context = false;  // the batch asked for the end of its context
  std::array<uint32_t, kStackDwords> stack{};

  bool operator==(const RingState&) const = default;
};

}  // namespace halogen::engine
