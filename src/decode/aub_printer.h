// One line of text for each record of an AUB trace.
#pragma once

#include <string>
#include <string_view>

#include "decode/register_names.h"
#include "trace/aub_records.h"

namespace halogen::decode {

// Replaces control characters in text from a file, because a terminal may interpret them.
std::string printable(std::string_view text);

std::string_view kind_of(const trace::aub::Record& record);

// Describes the record in printable text; `registers` may be null.
std::string describe(const trace::aub::Record& record, const RegisterNames* registers);

}  // namespace halogen::decode
