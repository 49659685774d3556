// Instructions as people read them, in the language of docs/eu-assembly.md. assemble() understands every line.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

// Branch targets as distances in bytes, "+48" and "-16". With `describe` a comment says what a message asks for.
std::string print(spec::GenId gen, const Instruction& instruction, bool describe = false);

// A whole program with labels, one line an instruction. What does not decode is a `.bytes` line with the reason. With
// `rules` a comment below an instruction names those that it breaks.
std::string disassemble(spec::GenId gen, std::span<const std::byte> bytes, bool rules = false);

}  // namespace halogen::eu
