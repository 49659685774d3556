// Text to instructions, in the language of docs/eu-assembly.md: what the printer writes, and what people write who know
// IGA's syntax. Labels, `.bytes` lines and comments are understood. A mistake is one sentence with its line.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "eu/isa/instruction.h"
#include "spec/generation_ids.h"

namespace halogen::eu {

// One instruction without labels.
Result<Instruction> assemble_line(spec::GenId gen, std::string_view line);

// A program, as bytes.
Result<std::vector<std::byte>> assemble(spec::GenId gen, std::string_view text);

}  // namespace halogen::eu
