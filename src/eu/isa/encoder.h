// Instruction to bits, for all generations, over the tables of spec/eu. What the generation cannot say is an error with
// a sentence; whether the hardware allows what is said is the validator's business.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "eu/isa/bits128.h"
#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

// The native form, 16 bytes. `size` of the instruction matters only where a jump counts from the next instruction.
Result<Bits128> encode(spec::GenId gen, const Instruction& instruction);

// A program: an instruction of size 8 takes its compact form, and it is an error when it has none.
Result<std::vector<std::byte>> encode(spec::GenId gen, std::span<const Instruction> program);

}  // namespace halogen::eu
