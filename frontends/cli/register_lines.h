// A register as a line of text: offset, accesses, class, name. Lists of such lines are compared with
// tests/golden/i915-registers.
#pragma once

#include <fmt/format.h>

#include <string>

#include "mmio/register_answer.h"

namespace halogen::cli {

inline std::string register_line(uint32_t offset, bool read, bool written, const mmio::RegisterAnswer& answer) {
  return fmt::format("{:#08x} {}{} {:<9} {}", offset, read ? 'r' : '-', written ? 'w' : '-', name_of(answer.answer),
                     answer.name.empty() ? "-" : answer.name);
}

}  // namespace halogen::cli
