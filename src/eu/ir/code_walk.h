// Finds the code that is reachable from an entry without jumps through registers.
#pragma once

#include <cstdint>
#include <map>

#include "eu/exec/executor.h"
#include "gen/eu_rules.h"

namespace halogen::eu {

inline constexpr uint32_t kCodeReach = 16u << 20;  // bytes before and after the entry that are searched

// Returns the reachable instructions by offset. A path ends at memory that cannot be read, at an illegal instruction
// and at kCodeReach. Instructions beyond are prepared when a thread executes them.
std::map<uint32_t, Instruction> reachable_code(const CodeSource& code, uint32_t entry, const EuRules& rules);

// Return the offsets of a branch's targets.
uint32_t near_target(const Instruction& in, uint32_t offset);                                               // JIP
uint32_t far_target(const Instruction& in, uint32_t offset, const CodeSource* code, const EuRules& rules);  // UIP

}  // namespace halogen::eu
