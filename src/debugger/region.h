// Registers as instructions name them: r10.2<8;8,1>:f is eight floats from the third of r10 on. General registers and
// accumulators (as they read in their last type).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eu/exec/thread.h"
#include "eu/isa/instruction.h"

namespace halogen::debugger {

struct RegisterRegion {
  bool accumulator = false;
  uint8_t reg = 0;
  uint8_t sub = 0;  // in elements
  eu::Region region{.vertical = 8, .width = 8, .horizontal = 1};
  eu::Type type = eu::Type::ud;

  friend bool operator==(const RegisterRegion&, const RegisterRegion&) = default;
};

// Without a region its elements follow each other; without a type it is ud.
Result<RegisterRegion> parse_region(std::string_view text);
std::string print_region(const RegisterRegion& region);

// The bits of the first elements.
Result<std::vector<uint64_t>> read_region(const eu::Thread& thread, const RegisterRegion& region, unsigned count);

// One element; JSON has no infinities: there they are strings.
std::string value_text(eu::Type type, uint64_t bits);
std::string value_json(eu::Type type, uint64_t bits);

}  // namespace halogen::debugger
