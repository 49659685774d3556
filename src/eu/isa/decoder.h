// Bits to Instruction, for all generations: one decoder over the tables of spec/eu. Any bits are welcome: what means
// nothing is a fault with a reason. Reserved bits are not looked at, nor are fields that an operation does not use.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

enum class DecodeFault : uint8_t {
  none,
  truncated,           // fewer bytes than the instruction has
  unknown_opcode,      //
  not_compactable,     // the compact bit on a generation or an operation without compact form
  reserved_exec_size,  //
  reserved_file,       // no such register file there
  reserved_type,       //
  reserved_region,     // a stride or width code that means nothing, or one that needs an indirect operand
  reserved_predicate,  //
  reserved_condition,  //
  reserved_function,   // of math or sync
};

std::string_view name_of(DecodeFault fault);

struct Decoded {
  Instruction instruction;  // with a fault: its size is right unless truncated, the rest is what could be read
  DecodeFault fault = DecodeFault::none;

  [[nodiscard]] bool ok() const { return fault == DecodeFault::none; }
};

// Decodes the instruction at the start of the bytes; what follows it does not matter.
Decoded decode(spec::GenId gen, std::span<const std::byte> bytes);

}  // namespace halogen::eu
