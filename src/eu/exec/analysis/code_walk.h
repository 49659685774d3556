// Code that can be reached from an entry without a register's help.
#pragma once

#include <cstdint>
#include <map>

#include "eu/exec/executor.h"
#include "gen/eu_rules.h"

namespace halogen::eu {

inline constexpr uint32_t kCodeReach = 16u << 20;  // bytes on each side of the entry that are followed

// By offset. Stops at what cannot be read, at what means nothing, and at a bound; what lies behind is found when a
// thread gets there.
std::map<uint32_t, Instruction> reachable_code(const CodeSource& code, uint32_t entry, const EuRules& rules);

// Where a branch's targets lie.
uint32_t near_target(const Instruction& in, uint32_t offset);                                               // JIP
uint32_t far_target(const Instruction& in, uint32_t offset, const CodeSource* code, const EuRules& rules);  // UIP

}  // namespace halogen::eu
