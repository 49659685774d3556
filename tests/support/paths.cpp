#include "support/paths.h"

#include <cstdlib>

namespace halogen::test {

std::filesystem::path source_folder() {
  return HALOGEN_SOURCE_DIR;
}

std::filesystem::path binary_folder() {
  return HALOGEN_BINARY_DIR;
}

std::filesystem::path data_folder() {
  const char* folder = std::getenv("HALOGEN_DATA");
  return folder != nullptr ? std::filesystem::path(folder) : source_folder().parent_path() / "shared" / "data";
}

}  // namespace halogen::test
