// The tool's contract: exit codes, one sentence on stderr, the summary line. Runs the built program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/paths.h"
#include "support/run_tool.h"
#include "unit/trace/aub_builder.h"

namespace halogen {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

using Tool = test::ToolTest;
using test::Outcome;

TEST_F(Tool, SummaryLineAndExitCodeFollowTheFindings) {
  const std::string good = file("good.txt", "0 05000000");
  Outcome result = run("decode --summary --device skl " + good);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text, good + " commands=2 unknown=0 leftover_dwords=0 unknown_records=0\n");
  const std::string bad = file("bad.txt", "5fc00000 0 05000000 7a000004");
  result = run("decode --summary --device skl " + bad);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.text, bad + " commands=1 unknown=1 leftover_dwords=1 unknown_records=0\n");
}

TEST_F(Tool, WrongUsageIsOneSentenceAndExit2) {
  const std::string good = file("good.txt", "0 05000000");
  const std::vector<std::string> wrong{"decode",
                                       "decode --device nope " + good,
                                       "decode " + good,
                                       "decode --device skl --engine nope " + good,
                                       "decode --device skl no/such/file",
                                       "frobnicate",
                                       "",
                                       "decode --frob x",
                                       "decode --device skl --address -4 " + good,
                                       "decode --device skl --address 0x1000000000000 " + good,
                                       "decode --device skl --address 0x1ffffffffffffffff " + good,
                                       "decode --device skl --address 2 " + good,
                                       "decode --device skl --address here " + good,
                                       "walk",
                                       "walk --va 0",
                                       "walk " + good + " --va 0",
                                       "walk " + good + " --va 0z",
                                       "walk no/such/file --va 0x1000"};
  for (const std::string& arguments : wrong) {
    const Outcome result = run(arguments + " 2>&1 >/dev/null");
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_THAT(result.text, MatchesRegex("halogen[^\n]*\\.\n")) << arguments;
  }
}

TEST_F(Tool, ErrorsNameWhatIsWrong) {
  EXPECT_THAT(run("frob 2>&1").text, HasSubstr("unknown command \"frob\""));
  const std::string good = file("good.txt", "0 05000000");
  EXPECT_THAT(run("decode --device skl --address 0x1000000000000 " + good + " 2>&1").text,
              HasSubstr("--address 0x1000000000000 is out of range"));
  const std::string one = file("one.txt", "7a000000 0 05000000");
  EXPECT_THAT(run("decode --summary --device skl " + one + " 2>&1 >/dev/null").text,
              HasSubstr(": 1 command has a length"));
  const std::string two = file("two.txt", "7a000000 0 7a000000 0 05000000");
  EXPECT_THAT(run("decode --summary --device skl " + two + " 2>&1 >/dev/null").text,
              HasSubstr(": 2 commands have a length"));
  EXPECT_EQ(run("decode --summary --device skl /dev/stdin < " + good).text,
            "/dev/stdin commands=2 unknown=0 leftover_dwords=0 unknown_records=0\n");
  EXPECT_EQ(run("decode --device skl --address 0xffff800000001000 " + good).status, 0) << "the canonical form is good";
}

TEST_F(Tool, WalkDistinguishesMappedFromFault) {
  trace::AubBuilder aub;
  aub.version(19).write_qword(4, 8, 0x5001).write_memory(2, 0x5000, {0xabcd, 1});
  const auto bytes = aub.bytes();
  const std::string path = file("t.aub", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const Outcome mapped = run("walk " + path + " --va 0x1000 --ggtt --json");
  EXPECT_EQ(mapped.status, 0);
  EXPECT_EQ(nlohmann::json::parse(mapped.text)["data"][0], 0xabcd);
  EXPECT_EQ(run("walk " + path + " --va 0x2000 --ggtt").status, 1);
  EXPECT_EQ(run("walk " + path + " --va 0x1000 2>&1").status, 2) << "it submits no context";
}

TEST_F(Tool, JsonLinesParse) {
  const std::string good = file("good.txt", "11000001 2030 18 05000000");
  const Outcome result = run("decode --json --device skl " + good);
  EXPECT_EQ(result.status, 0);
  std::istringstream lines(result.text);
  int commands = 0;
  for (std::string line; std::getline(lines, line);) {
    commands += nlohmann::json::parse(line)["kind"] == "command" ? 1 : 0;
  }
  EXPECT_EQ(commands, 2);
}

TEST_F(Tool, ClosedPipeIsNotAnError) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "11000001 2030 18\n";
  const std::string path = file("long.txt", text + "05000000\n");
  const Outcome result = run("decode --device skl " + path + " 2>&1 | head -n 1");
  EXPECT_EQ(result.text.find('\n'), result.text.size() - 1) << "one line only, no error";
  const Outcome full = run("decode --device skl " + path + " 2>&1 >/dev/full");
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.text, HasSubstr("cannot write standard output: No space left on device."));
}

TEST_F(Tool, DevicesAreListedAsTextAndJson) {
  EXPECT_THAT(run("devices").text, HasSubstr("dg1     0x4905"));
  const auto list = nlohmann::json::parse(run("devices --json").text);
  EXPECT_EQ(list.size(), 11u);
  EXPECT_EQ(list[0]["name"], "i965");
  EXPECT_EQ(list[0]["engines"][0]["class"], "render");
}

TEST_F(Tool, MetricSetsAreListedAsTextAndJson) {
  const Outcome all = run("counters");
  EXPECT_EQ(all.status, 0);
  for (const char* const device : {"bdw", "chv", "skl", "icl", "tgl", "dg1"}) {
    EXPECT_THAT(all.text, HasSubstr(std::string("\n") + device + "     RenderBasic"));
  }
  EXPECT_THAT(all.text, ::testing::Not(HasSubstr("snb")));
  const auto list = nlohmann::json::parse(run("counters --json skl").text);
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["device"], "skl");
  bool seen = false;
  for (const auto& counter : list[0]["sets"][0]["counters"]) {
    seen |= counter["symbol"] == "SlmBytesRead" && counter["unit"] == "bytes" && counter["equation"] == "64 * A30" &&
            counter["accuracy"] == "exact";
  }
  EXPECT_TRUE(seen);
  const Outcome without = run("counters snb 2>&1");
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.text, HasSubstr("snb has no performance counters"));
  EXPECT_EQ(run("counters x 2>&1").status, 2);
}

TEST_F(Tool, RegistersAreListedWithTheirClass) {
  const Outcome some = run("registers --device snb 0x22030 0xc5100");
  EXPECT_EQ(some.status, 0);
  EXPECT_EQ(some.text, "0x022030 -- semantics RING_TAIL:bcs0\n0x0c5100 -- unclaimed -\n");
  EXPECT_THAT(run("registers --device snb").text, HasSubstr("\n0x002030 -- semantics RING_TAIL:rcs0\n"));
  const Outcome wrong = run("registers --device snb 0x22031 2>&1");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.text,
            "halogen registers: \"0x22031\" is not a register offset of snb: give a multiple of 4 below 0x200000.\n");
}

TEST_F(Tool, HelpExplainsTheJson) {
  const Outcome result = run("decode --help");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.text, HasSubstr("JSON: one object per line."));
}

}  // namespace
}  // namespace halogen
