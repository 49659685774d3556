#include "gen/rows.h"

#include <string>

#include "base/check.h"
#include "spec/device_model.h"

namespace halogen {
namespace {

[[noreturn]] void stop(std::string_view table, std::string_view name) {
  check_failed("src/gen: " + std::string(table) + " has no row for " + std::string(name), __builtin_FILE(),
               __builtin_LINE(), __builtin_FUNCTION());
}

}  // namespace

void no_row(std::string_view table, spec::GenId gen) {
  stop(table, spec::name_of(gen));
}

void no_row(std::string_view table, spec::DeviceId device) {
  stop(table, spec::model(device).name);
}

}  // namespace halogen
