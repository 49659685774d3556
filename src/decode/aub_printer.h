// One line of text for each record of an AUB trace.
#pragma once

#include <string>
#include <string_view>

#include "decode/register_names.h"
#include "trace/aub_records.h"

namespace halogen::decode {

// Text from a file may go to a terminal: control characters are replaced, so that nothing in it can steer one.
std::string printable(std::string_view text);

std::string_view kind_of(const trace::aub::Record& record);

// What the record says, in printable text; `registers` may be null.
std::string describe(const trace::aub::Record& record, const RegisterNames* registers);

}  // namespace halogen::decode
