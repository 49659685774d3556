// Compact instructions: 64 bits that stand for some of the 128-bit ones, through index tables. Gen4 has none, Gen11
// only for one and two sources. Whether BDW differs from CHV in three-source tables does not matter: the bits are zero
// there.
#pragma once

#include <cstdint>
#include <optional>

#include "eu/isa/bits128.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

// The native instruction that a compact one stands for; nothing when the opcode has no compact form there. The compact
// bit is clear in the result.
std::optional<Bits128> expand(spec::GenId gen, uint64_t compact);

// The compact form of a native instruction, if it has one.
std::optional<uint64_t> compact(spec::GenId gen, const Bits128& native);

}  // namespace halogen::eu
