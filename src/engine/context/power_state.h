// Power of an engine, as plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace halogen::engine {

// The forms of the power context image in the manual.
enum class PowerForm : uint8_t { none, no_display, display, full };

struct PowerState {
  PowerForm off = PowerForm::none;  // other values: power is off and this image was saved
  std::vector<uint32_t> image{};

  bool operator==(const PowerState&) const = default;
};

}  // namespace halogen::engine
