#include "gen/rows.h"

#include <string>

#include "base/check.h"
#include "spec/device_model.h"

namespace halogen {

void no_row(std::string_view table, spec::GenId gen) {
  check_failed("src/gen: " + std::string(table) + " has no row for " + std::string(spec::name_of(gen)) +
                   "; add one with the generation's device",
               __builtin_FILE(), __builtin_LINE(), __builtin_FUNCTION());
}

}  // namespace halogen
