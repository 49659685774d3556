// Operands as specialised routines reach them: bytes from the thread's first one, which is that of the registers.
#pragma once

#include <cstddef>

#include "eu/exec/prepared.h"

namespace halogen::eu {

// False: only the general path can.
bool place_source(const Instruction& in, const Operand& operand, FastOperand& out);
bool place_destination(const Instruction& in, FastOperand& out);

inline bool lies_in_accumulator(const FastOperand& operand) {
  return operand.offset >= offsetof(Thread, accumulator);
}
// A float in an accumulator ends what an integer kept above its element there.
void forget_extensions(Thread& thread, const FastOperand& to, uint32_t mask);

}  // namespace halogen::eu
