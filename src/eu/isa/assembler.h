// Assembles text in the language of docs/eu-assembly.md: the printer's output and IGA's syntax, with labels, `.bytes`
// lines and comments. An error names the line.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

// Assembles one instruction without labels.
Result<Instruction> assemble_line(spec::GenId gen, std::string_view line);

// Assembles a program to bytes.
Result<std::vector<std::byte>> assemble(spec::GenId gen, std::string_view text);

}  // namespace halogen::eu
