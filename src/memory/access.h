// The kind of an access to graphics memory, and its result.
#pragma once

#include <cstdint>

namespace halogen::memory {

enum class Direction : uint8_t { read, write };

struct Access {
  Direction direction = Direction::read;
  bool instruction = false;  // a fetch of code: execute disable matters

  constexpr bool writes() const { return direction == Direction::write; }
};

inline constexpr Access kRead{};
inline constexpr Access kWrite{.direction = Direction::write};
inline constexpr Access kFetch{.instruction = true};

// The result travels from the translation to the engine that made the access. If several accesses of one piece of work
// fail, the greatest value is the result of the work. An engine that waits for a page repeats the work and raises the
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
