// Runs the command line tool, or any command, from a test: exit status and output.
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

// Runs a command through a shell. Returns standard output only, unless the command redirects.
Outcome shell(const std::string& command);

std::filesystem::path tool_path();

// Tests of the tool with a folder of their own. Skipped if the tool is not built.
class ToolTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Writes a file in the test's folder.
  std::string file(const std::string& name, std::string_view content) const;
  // Runs `halogen <arguments>`; with `errors`, includes standard error.
  Outcome run(const std::string& arguments, bool errors = false) const;

  std::filesystem::path tool_;
  std::filesystem::path root_;
};

}  // namespace halogen::test
