// Power of an engine, as plain data.
#pragma once

#include <cstdint>
#include <vector>

namespace halogen::engine {

// Which of the three images of the seed an engine saves.
enum class PowerForm : uint8_t { none, no_display, display, full };

struct PowerState {
  PowerForm off = PowerForm::none;  // else: power is off, and this was saved
  std::vector<uint32_t> image{};

  bool operator==(const PowerState&) const = default;
};

}  // namespace halogen::engine
