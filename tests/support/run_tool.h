// Runs the command line tool, or any command, from a test: exit status and what was printed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

namespace halogen::test {

struct Outcome {
  int status;  // -1: ended by a signal
  std::string text;
  bool operator==(const Outcome&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << "exit " << outcome.status << ": " << outcome.text;
}

// Through a shell. Standard output only, unless the command says otherwise.
Outcome shell(const std::string& command);

std::filesystem::path tool_path();

// Tests of the tool with a folder of their own. Skipped where the tool is not built.
class ToolTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A file in the test's folder.
  std::string file(const std::string& name, std::string_view content) const;
  // `halogen <arguments>`; with `errors` its error output too.
  Outcome run(const std::string& arguments, bool errors = false) const;

  std::filesystem::path tool_;
  std::filesystem::path root_;
};

}  // namespace halogen::test
