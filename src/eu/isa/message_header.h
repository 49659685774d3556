// The header of a message by its description in spec/payloads, and where a send takes it from.
#pragma once

#include <string>

#include "eu/isa/instruction.h"
#include "spec/payload.h"

namespace halogen::eu {

// Returns the description of the header of a message. Null: the message has no header, or the header has no
// description.
const spec::MessageHeaderDesc* message_header(spec::GenId gen, uint8_t function, uint32_t descriptor);

// Returns the header of a send with the registers of its fields: "SAMPLER_HEADER: r5.2[3:0] r_offset, ...". Empty: the
// message has no described header, or only registers say which message it is or where it starts.
std::string describe_header(spec::GenId gen, const Instruction& instruction);

}  // namespace halogen::eu
