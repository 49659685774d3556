#include "base/exhaustion.h"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

namespace halogen {

int errno_of_exhaustion() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::length_error&) {
    return ENOMEM;
  } catch (const std::system_error& error) {
    const std::error_condition condition = error.code().default_error_condition();
    return condition.category() == std::generic_category() && condition.value() > 0 ? condition.value() : ENOMEM;
  }
}

}  // namespace halogen
