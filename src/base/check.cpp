#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace halogen {

void check_failed(std::string_view detail, const char* file, int line, const char* function) {
  std::fprintf(stderr, "halogen: internal error at %s:%d (%s): %.*s\n", file, line, function,
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

}  // namespace halogen
