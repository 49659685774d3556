// Registers in the notation of instructions: r10.2<8;8,1>:f means eight floats from the third element of r10 on.
// Supports general registers and accumulators (read in the type of their last write).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eu/isa/instruction.h"
#include "eu/thread.h"

namespace halogen::debugger {

struct RegisterRegion {
  bool accumulator = false;
  uint8_t reg = 0;
  uint8_t sub = 0;  // in elements
  eu::Region region{.vertical = 8, .width = 8, .horizontal = 1};
  eu::Type type = eu::Type::ud;

  friend bool operator==(const RegisterRegion&, const RegisterRegion&) = default;
};

// Default region: consecutive elements; default type: ud.
Result<RegisterRegion> parse_region(std::string_view text);
std::string print_region(const RegisterRegion& region);

// Returns the bits of the first `count` elements.
Result<std::vector<uint64_t>> read_region(const eu::Thread& thread, const RegisterRegion& region, unsigned count);

// Formats one element. Infinities and NaN are strings, because JSON lacks them.
std::string value_text(eu::Type type, uint64_t bits);
std::string value_json(eu::Type type, uint64_t bits);

}  // namespace halogen::debugger
