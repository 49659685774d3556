// Writes JSON text. Rooms that read JSON use a library.
#pragma once

#include <string>
#include <string_view>

namespace halogen {

// Returns a quoted JSON string. Bytes that are not valid UTF-8 become U+FFFD, because names in files are untrusted.
std::string json_quote(std::string_view text);

}  // namespace halogen
