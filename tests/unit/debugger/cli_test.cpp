// The contract of `halogen step`: exit codes, one sentence on stderr, and memory as `halogen replay` leaves it. Runs
// the built program; tests that need traces of Intel's OpenCL driver are skipped without them.
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/run_tool.h"

namespace halogen {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using test::Outcome;

class StepTool : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    tool_ = (test::binary_folder() / "bin" / "halogen").string();
    if (!fs::exists(tool_)) GTEST_SKIP() << tool_ << " not found; build the target halogen";
  }
  static Outcome shell(const std::string& command) { return test::shell(command); }
  std::string data(const std::string& name) const {
    return (test::data_folder() / "aub" / (name + "_0_ocl.aub.xz")).string();
  }
  std::string tool_;
};

TEST_P(StepTool, LeavesTheSameMemoryAsReplay) {
  const std::string path = data(GetParam());
  if (!fs::exists(path)) GTEST_SKIP() << path << " not found; set HALOGEN_DATA to the folder of captured data";
  const Outcome replayed = shell(tool_ + " replay " + path + " 2>/dev/null");
  const size_t hash = replayed.text.find("memory=");
  ASSERT_NE(hash, std::string::npos) << replayed.text;
  const Outcome stepped =
      shell("{ for i in $(seq 200); do echo step; echo masks; done; } | " + tool_ + " step --json " + path);
  EXPECT_EQ(stepped.status, 0);
  std::istringstream lines(stepped.text);
  nlohmann::json last;
  size_t stops = 0;
  bool ended = false;
  for (std::string line; std::getline(lines, line);) {
    last = nlohmann::json::parse(line);
    stops += last.value("stop", "") == "step" ? 1u : 0u;
    ended |= last.value("stop", "") == "ended";
  }
  EXPECT_GT(stops, 10u);
  EXPECT_TRUE(ended);
  ASSERT_EQ(last.value("stop", ""), "finished");
  EXPECT_EQ("memory=" + last["memory"].get<std::string>() + "\n", replayed.text.substr(hash));
}

INSTANTIATE_TEST_SUITE_P(Traces, StepTool, testing::Values("bdw_1x3x8", "icllp_1x8x8", "tgllp_1x6x16", "dg1_1x6x16"),
                         [](const auto& trace) { return trace.param; });

class StepToolUse : public StepTool {};

TEST_P(StepToolUse, ErrorsAreOneSentence) {
  const Outcome outcome = shell(tool_ + " step " + GetParam() + " </dev/null 2>&1");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.text, StartsWith("halogen"));
  EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1) << outcome.text;
}

INSTANTIATE_TEST_SUITE_P(Mistakes, StepToolUse,
                         testing::Values("", "/nowhere/a.aub", "/dev/null", "/nowhere/a.aub --device x",
                                         "/nowhere/a.aub --group 1,2,3,4", "/nowhere/a.aub --group x",
                                         "/nowhere/a.aub --group 1,", "/nowhere/a.aub --dispatch 0",
                                         "/nowhere/a.aub --thread -1"));

TEST_P(StepTool, MissingThreadIsReported) {
  const std::string path = data(GetParam());
  if (!fs::exists(path)) GTEST_SKIP() << path << " not found; set HALOGEN_DATA to the folder of captured data";
  const Outcome dispatch = shell(tool_ + " step --dispatch 99 " + path + " </dev/null 2>&1");
  EXPECT_EQ(dispatch.status, 2);
  EXPECT_THAT(dispatch.text, HasSubstr("dispatch 99 does not exist"));
  const Outcome thread = shell(tool_ + " step --thread 5000 " + path + " </dev/null 2>&1");
  EXPECT_EQ(thread.status, 2);
  EXPECT_THAT(thread.text, HasSubstr("has no thread 5000"));
  const Outcome word = shell("echo jump | " + tool_ + " step " + path);
  EXPECT_EQ(word.status, 2);
  EXPECT_THAT(word.text, HasSubstr("error: unknown command \"jump\"; help lists all commands."));
}

}  // namespace
}  // namespace halogen
