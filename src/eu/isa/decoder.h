// Decodes instructions of all generations with the tables of spec/eu. Any bits are accepted: bits without a meaning
// give a fault with a reason. Reserved bits and fields that an operation does not use are ignored.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

enum class DecodeFault : uint8_t {
  none,
  truncated,           // fewer bytes than the instruction needs
  unknown_opcode,      //
  not_compactable,     // the compact bit on a generation or an operation without compact form
  reserved_exec_size,  //
  reserved_file,       // reserved, or not allowed for this operand
  reserved_type,       //
  reserved_region,     // a reserved stride or width, or one that needs an indirect operand
  reserved_predicate,  //
  reserved_condition,  //
  reserved_function,   // of math or sync
};

std::string_view name_of(DecodeFault fault);

struct Decoded {
  Instruction instruction;  // with a fault: fields decoded so far; the size is valid unless truncated
  DecodeFault fault = DecodeFault::none;

  [[nodiscard]] bool ok() const { return fault == DecodeFault::none; }
};

// Decodes the instruction at the start of the bytes. Bytes after it are ignored.
Decoded decode(spec::GenId gen, std::span<const std::byte> bytes);

}  // namespace halogen::eu
