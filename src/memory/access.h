// How an access to graphics memory ended.
#pragma once

#include <cstdint>

namespace halogen::memory {

// The result travels from the translation to the engine that made the access. If several accesses of one piece of work
// fail, the greatest value is the result of the work: an engine that waits for a page repeats the work and meets the
// other faults again.
enum class [[nodiscard]] AccessResult : uint8_t{
    ok,              // done; after a skipped fault a read gave zeros and a write was dropped
    stopped,         // did not happen; the client repeats it
    hung,            // did not happen; the engine hangs until it is reset
    waits_for_page,  // did not happen; the engine repeats it after the page response
};

constexpr bool ok(AccessResult result) {
  return result == AccessResult::ok;
}

}  // namespace halogen::memory
