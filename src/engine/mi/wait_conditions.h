// What MI_WAIT_FOR_EVENT can wait for, read out of the names that the description gives the command's bits, so that a
// chip with other bits needs no code. Seed 003 1.21 and 5.3.7.3.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace halogen::engine {

enum class WaitConditionKind : uint8_t {
  vertical_blank,    // the next one begins
  horizontal_blank,  // likewise
  scan_line,         // while the refresh is in the window
  flip_pending,      // while a flip of the plane is pending
  overlay_flip,      // likewise
  compression,       // while the frame buffer compressor works
  condition_code,    // while the bit of EXCC is set
};

struct WaitCondition {
  WaitConditionKind kind{};
  unsigned number = 0;  // pipe, or plane as MI_DISPLAY_FLIP selects it; not with a field that holds it

  bool operator==(const WaitCondition&) const = default;
};

// Nothing for a name that is no wait.
std::optional<WaitCondition> wait_condition_of(std::string_view field_name);

}  // namespace halogen::engine
