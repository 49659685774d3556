// Prints instructions in the language of docs/eu-assembly.md. assemble() accepts every line.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

// Prints one instruction, with branch targets as distances in bytes ("+48", "-16"). With `describe`, a comment explains
// the descriptor of a message.
std::string print(spec::GenId gen, const Instruction& instruction, bool describe = false);

// Comments below an instruction.
struct ListingOptions {
  bool rules = false;    // the rules that it breaks
  bool headers = false;  // the fields of the header of its message, with their registers
};

// Prints a program with labels, one line per instruction. Bytes that do not decode are a `.bytes` line with the reason.
std::string disassemble(spec::GenId gen, std::span<const std::byte> bytes, ListingOptions options = {});

}  // namespace halogen::eu
