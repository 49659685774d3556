// Folders of the project and the build, for tests that read files.
#pragma once

#include <filesystem>

namespace halogen::test {

std::filesystem::path source_folder();
std::filesystem::path binary_folder();
// Returns the folder of captured streams and traces, which are optional: HALOGEN_DATA, or ../shared/data.
std::filesystem::path data_folder();

}  // namespace halogen::test
