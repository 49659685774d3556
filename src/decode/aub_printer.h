// One line of text for each record of an AUB trace.
#pragma once

#include <string>
#include <string_view>

#include "decode/register_names.h"
#include "trace/aub_records.h"

namespace halogen::decode {

std::string_view kind_of(const trace::aub::Record& record);

// What the record says; `registers` may be null. Text from the file has its control characters replaced.
std::string describe(const trace::aub::Record& record, const RegisterNames* registers);

}  // namespace halogen::decode
