// Encodes instructions of all generations with the tables of spec/eu. An instruction that the generation cannot encode
// is an error. The validator, not the encoder, checks the restrictions of hardware.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "eu/isa/bits128.h"
#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

// Encodes the native form, 16 bytes. The instruction's `size` matters only if a jump is relative to the next
// instruction.
Result<Bits128> encode(spec::GenId gen, const Instruction& instruction);

// Encodes a program. An instruction of size 8 is compacted; it is an error if it has no compact form.
Result<std::vector<std::byte>> encode(spec::GenId gen, std::span<const Instruction> program);

}  // namespace halogen::eu
