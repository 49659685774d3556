#include "support/run_tool.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "support/paths.h"

namespace halogen::test {

namespace fs = std::filesystem;

Outcome shell(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return {-1, {}};
  }
  std::string text;
  std::array<char, 4096> part{};
  for (size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) != 0;) {
    text.append(part.data(), got);
  }
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

fs::path tool_path() {
  return binary_folder() / "bin" / "halogen";
}

void ToolTest::SetUp() {
  tool_ = tool_path();
  if (!fs::exists(tool_)) {
    GTEST_SKIP() << tool_ << " does not exist: build the target halogen";
  }
  const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
  root_ = fs::temp_directory_path() /
          (std::string("halogen_") + info->test_suite_name() + "_" + info->name() + "_" + std::to_string(::getpid()));
  fs::remove_all(root_);
  fs::create_directories(root_);
}

void ToolTest::TearDown() {
  if (!root_.empty()) {
    fs::remove_all(root_);
  }
}

std::string ToolTest::file(const std::string& name, std::string_view content) const {
  std::ofstream(root_ / name, std::ios::binary) << content;
  return (root_ / name).string();
}

Outcome ToolTest::run(const std::string& arguments, bool errors) const {
  return shell(tool_.string() + " " + arguments + (errors ? " 2>&1" : ""));
}

}  // namespace halogen::test
