// Compact instructions: a 64-bit form of some 128-bit instructions, through index tables. Gen4 has no compact
// instructions; Gen11 has them for one and two sources only. It does not matter whether the three-source tables of BDW
// differ from those of CHV: the bits in question are zero.
#pragma once

#include <cstdint>
#include <optional>

#include "eu/isa/bits128.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

// Returns the native form of a compact instruction, with the compact bit clear. No value: the opcode has no compact
// form.
std::optional<Bits128> expand(spec::GenId gen, uint64_t compact);

// Returns the compact form of a native instruction. No value: it has no compact form.
std::optional<uint64_t> compact(spec::GenId gen, const Bits128& native);

}  // namespace halogen::eu
