// Converts regions, align16 swizzles, indirect addresses and register numbers to byte offsets. No other file interprets
// how an operand names its elements.
#pragma once

#include <vector>

#include "eu/ir/lowered.h"
#include "gen/eu_rules.h"

namespace halogen::eu::ir {

// The elements of one operand before they become an Access.
struct Elements {
  File file = File::none;
  int32_t limit = 0;  // bytes of the file that exist on this generation
  int32_t size = 4;   // bytes of an element
  bool indirect = false;
  unsigned count = 0;                       // lanes
  std::array<int32_t, kMaxLanes> offset{};  // in the file; indirect: from the address
  std::array<uint8_t, kMaxLanes> word{};
};

// Returns the elements of an operand that is not immediate, for `count` lanes.
Elements elements_of(const Instruction& in, const Operand& operand, const EuRules& rules, bool is_destination,
                     unsigned count);
// Returns the simplest access for the elements. Adds the table that it needs, if any, to `tables`.
Access access_of(const Elements& elements, std::vector<LaneTable>& tables);

// Returns the bits of an immediate's element for a lane. Vectors are expanded, integers are extended to 64 bits.
uint64_t immediate_element(const Instruction& in, const Operand& operand, unsigned lane);

// Returns the type of an operand's elements: a vector immediate expands to words or floats.
constexpr Type element_type(const Operand& operand) {
  if (operand.file != eu::File::immediate) {
    return operand.type;
  }
  switch (operand.type) {
    case Type::v:
      return Type::w;
    case Type::uv:
      return Type::uw;
    case Type::vf:
      return Type::f;
    default:
      return operand.type;
  }
}

}  // namespace halogen::eu::ir
