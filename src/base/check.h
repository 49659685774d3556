// Checks for our own bugs: print location and detail, and abort, in release builds too. Errors in external input are
// not checked here.
#pragma once

#include <string_view>

namespace halogen {

[[noreturn]] void check_failed(std::string_view detail, const char* file, int line, const char* function);

// The defaults name the caller. (std::source_location would, but clang 14 does not support it.)
constexpr void check(bool condition, std::string_view detail = {}, const char* file = __builtin_FILE(),
                     int line = __builtin_LINE(), const char* function = __builtin_FUNCTION()) {
  if (!condition) [[unlikely]] {
    check_failed(detail, file, line, function);
  }
}

}  // namespace halogen
