// The conditions of MI_WAIT_FOR_EVENT, derived from the names of the command's bits in the description, so that a chip
// with other bits needs no code. G45 PRM vol. 1b 1.21 and 5.3.7.3 (seed 003).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace halogen::engine {

enum class WaitConditionKind : uint8_t {
  vertical_blank,    // until the next vertical blank begins
  horizontal_blank,  // until the next horizontal blank begins
  scan_line,         // while the refresh is inside the window
  flip_pending,      // while a flip of the plane is pending
  overlay_flip,      // while a flip of the overlay is pending
  compression,       // while the frame buffer compressor is busy
  condition_code,    // while the bit of EXCC is set
};

struct WaitCondition {
  WaitConditionKind kind{};
  unsigned number = 0;  // pipe, or plane select of MI_DISPLAY_FLIP; unused if a field holds the number

  bool operator==(const WaitCondition&) const = default;
};

// Returns the condition of a bit. Empty: the name is not that of a wait bit.
std::optional<WaitCondition> wait_condition_of(std::string_view field_name);

}  // namespace halogen::engine
