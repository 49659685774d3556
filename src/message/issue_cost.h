// The time that instructions take in the pipes of an EU, for flexible EU events. Hardware's issue times are not
// published. The rule of the model, which the fidelity of the counters calls approximate:
//
// - An instruction takes a clock for each 16 bytes of its widest operand, at least one: SIMD8 of floats takes two
// clocks, SIMD16 four, half floats half as many, doubles twice as many. Lanes that masks disable take the same time.
// - Extended math runs in FPU1, all other instructions that compute or branch in FPU0. Waits and NOP take no pipe.
// - A SEND takes a clock of its pipe for each two registers of its message, at least one. Its length is that in the
//   instruction: one whose descriptor is in a register takes one clock.
// - Instructions do not overlap. Instructions that a thread reaches only through a register are not counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eu/exec/executor.h"
#include "oa/work_counts.h"

namespace halogen::message {

struct IssueCost {
  uint32_t clocks = 0;  // zero: no pipe
  oa::Pipe pipe{};
  oa::InstructionKind kind{};
};
IssueCost issue_cost(const eu::Instruction& in);

// Returns the costs of a kernel's instructions, in the order of their offsets.
std::vector<IssueCost> issue_costs(const eu::Kernel& kernel);

// Adds instructions that were executed `now[i] - before[i]` times. `before` may be empty: all zero.
void add_activity(std::span<const IssueCost> costs, std::span<const uint64_t> now, std::span<const uint64_t> before,
                  oa::StageActivity& into);

}  // namespace halogen::message
