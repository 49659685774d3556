#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace halogen {

void check_failed(std::string_view condition, std::string_view detail, std::source_location where) {
  std::fprintf(stderr, "halogen: internal error: %.*s failed at %s:%u (%s): %.*s\n",
               static_cast<int>(condition.size()), condition.data(), where.file_name(), where.line(),
               where.function_name(), static_cast<int>(detail.size()), detail.data());
  std::abort();
}

}  // namespace halogen
