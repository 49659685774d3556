// Writing JSON text. Reading is left to a library, in the rooms that need it.
#pragma once

#include <string>
#include <string_view>

namespace halogen {

// The text as a JSON string with its quotes. Bytes that are not valid UTF-8 become U+FFFD: names in files are hostile.
std::string json_quote(std::string_view text);

}  // namespace halogen
