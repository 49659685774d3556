// Our own bugs: print where and what, and stop, in release builds too. Never for anything a guest or a file can cause.
#pragma once

#include <source_location>
#include <string_view>

namespace halogen {

[[noreturn]] void check_failed(std::string_view condition, std::string_view detail, std::source_location where);

constexpr void check(bool condition, std::string_view detail = {},
                     std::source_location where = std::source_location::current()) {
  if (!condition) [[unlikely]] {
    check_failed("check", detail, where);
  }
}

}  // namespace halogen
