// The contracts of `halogen replay` and `halogen serve`: exit codes, one sentence on stderr, output files. Runs the
// built program.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/run_tool.h"
#include "unit/trace/aub_builder.h"

namespace halogen {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using trace::AubBuilder;

using test::Outcome;

class Doors : public ::testing::Test {
 protected:
  void SetUp() override {
    tool_ = (test::binary_folder() / "bin" / "halogen").string();
    if (!fs::exists(tool_)) GTEST_SKIP() << tool_ << " not found; build the target halogen";
    root_ = fs::temp_directory_path() / ("halogen_doors_" + std::to_string(::getpid()) + "_" +
                                         ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(root_);
  }
  void TearDown() override {
    if (!root_.empty()) fs::remove_all(root_);
  }
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  std::string trace(const std::string& name, const AubBuilder& aub) const {
    std::ofstream(root_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(aub.bytes().data()), static_cast<std::streamsize>(aub.bytes().size()));
    return path(name);
  }
  static std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  static Outcome shell(const std::string& command) { return test::shell(command); }
  Outcome replay(const std::string& arguments) const { return shell(tool_ + " replay " + arguments); }

  std::string tool_;
  fs::path root_;
};

AubBuilder good_trace() {
  AubBuilder aub;
  aub.version(19);
  aub.write_qword(4, 5 * 8, 0x9001).write_memory(2, 0x9000, {0x6548, 0});
  aub.trace(0x04, {0x5000, 0, 0, 4, 0x6548});  // through the global table
  return aub;
}

TEST_F(Doors, ReplayPrintsCounts) {
  const std::string file = trace("a.aub", good_trace());
  const Outcome outcome = replay(file + " --dump ggtt:0x5000:0x2=" + path("dump") + " --report " + path("report") +
                                 " --trace " + path("copy.aub"));
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.text, MatchesRegex(".*a.aub device=icl records=4 register_writes=0 memory_writes=2 checks=1 "
                                         "failed=0 unchecked=0 skipped=0 memory=0x[0-9a-f]{16}\n"));
  EXPECT_EQ(content(path("dump")), "He");
  EXPECT_EQ(nlohmann::json::parse(content(path("report")))["device"], "icl");
  const Outcome again = replay(path("copy.aub"));
  EXPECT_EQ(again.status, 0);
  EXPECT_EQ(again.text.substr(again.text.find("memory=0x")), outcome.text.substr(outcome.text.find("memory=0x")));
}

TEST_F(Doors, ReplayFailsWhenACheckFails) {
  AubBuilder aub = good_trace();
  aub.trace(0x01, {0x2600, 0x0002'0000, 0xffff'ffff, 0, 5});
  const Outcome outcome = replay(trace("a.aub", aub) + " 2>&1");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.text, HasSubstr("record 4 at byte"));
  EXPECT_THAT(outcome.text, HasSubstr("register 0x2600 is 0x0, expected 0x5"));
}

TEST_F(Doors, ReplayFailsOnUnsupportedCheck) {
  AubBuilder aub = good_trace();
  aub.trace(0x04, {0x5000, 0, 1 << 6, 4, 0x1234'5678});  // by CRC
  const std::string file = trace("a.aub", aub);
  const Outcome outcome = replay(file + " 2>&1");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.text, HasSubstr("checks=1 failed=0 unchecked=1 skipped=1"));
  EXPECT_THAT(outcome.text, HasSubstr("skipped: comparison by CRC, 1 times."));
  EXPECT_THAT(outcome.text, HasSubstr("1 checks are not supported (--allow-unchecked accepts them)."));
  EXPECT_EQ(replay(file + " --allow-unchecked 2>&1").status, 0);
  aub.trace(0x01, {0x2600, 0x0002'0000, 0xffff'ffff, 0, 5});  // a comparison that fails
  EXPECT_EQ(replay(trace("b.aub", aub) + " --allow-unchecked 2>&1").status, 1);
}

TEST_F(Doors, ReplayFailsWhenAnEngineIsStuck) {
  AubBuilder aub;
  aub.version(0);
  aub.write_memory(4, 4, {0x1001, 0x2001});  // entries 1 and 2 of the global table
  aub.write_memory(2, 0x1000, {0});
  aub.write_memory(2, 0x2000, {0x0b50'0001, 5, 0x1000, 0});  // MI_SEMAPHORE_MBOX: waits until memory is greater than 5
  for (const auto& [offset, value] : {std::pair{0x2038, 0x2000}, {0x2034, 0}, {0x203c, 1}, {0x2030, 16}}) {
    aub.write_register(static_cast<uint32_t>(offset), static_cast<uint32_t>(value));
  }
  const Outcome stuck = replay(trace("a.aub", aub) + " --device snb 2>&1");
  EXPECT_EQ(stuck.status, 1);
  EXPECT_THAT(stuck.text, HasSubstr("the engine rcs0 waits for a semaphore that is never signalled."));
  aub.write_memory(2, 0x1000, {6});
  aub.write_register(0x20c0, 0);  // any register write: the device checks the semaphore again
  const Outcome free = replay(trace("b.aub", aub) + " --device snb 2>&1");
  EXPECT_EQ(free.status, 0) << free.text;
}

TEST_F(Doors, ReplayDumpsThroughTablesOfAContext) {
  AubBuilder aub;
  aub.version(19);
  trace::add_icl_context(aub, 0x6f6e'6f61);  // "aono"
  trace::add_icl_context(aub, 0x7a7a'7a7a, 0x9000, 0x3000, 0x20'0000, 0x5'0000);
  const std::string file = trace("a.aub", aub);
  const auto dump = [&](const std::string& which) {
    const Outcome outcome = replay(file + " --dump " + which + ":0x5010:4=" + path("dump") + " 2>&1");
    EXPECT_EQ(outcome.status, 0) << outcome.text;
    return std::pair(content(path("dump")), outcome.text);
  };
  EXPECT_EQ(dump("ppgtt").first, "zzzz");
  EXPECT_THAT(dump("ppgtt").second, HasSubstr("uses the tables of rcs0@0x9000, the last of 2 contexts that ran."));
  EXPECT_EQ(dump("ppgtt@0x6000").first, "aono");
  EXPECT_EQ(dump("ppgtt@rcs0@0x6000").first, "aono");
  EXPECT_EQ(dump("ppgtt@rcs0").first, "zzzz");
  EXPECT_THAT(dump("ppgtt@rcs0").second, Not(HasSubstr("contexts that ran")));
  const Outcome none = replay(file + " --dump ppgtt@bcs0:0x5010:4=" + path("dump") + " 2>&1");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.text, HasSubstr("no context \"bcs0\" ran; these ran: rcs0@0x9000, rcs0@0x6000."));
}

TEST_F(Doors, ReplayReportsBadArgumentsAndFilesInOneLine) {
  const auto expect = [&](const std::string& arguments, std::string_view what) {
    const Outcome outcome = replay(arguments + " 2>&1");
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_THAT(outcome.text, HasSubstr(std::string(what)));
    EXPECT_EQ(std::count(outcome.text.begin(), outcome.text.end(), '\n'), 1) << outcome.text;
  };
  const std::string file = trace("a.aub", good_trace());
  expect(path("none.aub"), "cannot open the file");
  std::ofstream(root_ / "cut.aub", std::ios::binary) << content(file).substr(0, content(file).size() - 2);
  expect(path("cut.aub"), "2 bytes short");
  std::ofstream(root_ / "text.aub") << "no trace";
  expect(path("text.aub"), "not an AUB trace");
  expect(file + " --device arc", "unknown device");
  expect(file + " --dump ggtt:5000=x", "not of the form");
  expect(file + " --dump vram:0x0:0x4=x", "must start with ggtt or ppgtt");
  expect(file + " --dump ggtt@rcs0:0x0:0x4=x", "must start with ggtt or ppgtt");
  expect(file + " --dump ppgtt@rcs0:0x0:0x4=" + path("x"), "no context \"rcs0\" ran; none ran");
  expect(file + " --dump ggtt:0x0:0x4=" + path("no/such"), "cannot write the file");
  expect(file + " --report " + path("no/such"), "cannot write the file");
  expect(file + " --trace " + file, "same file as the trace to replay");
  expect(file + " --dump-folder " + path("nowhere"), "not a folder");
  expect("", "file is required");
}

TEST_F(Doors, ServeListensAndEndsOnSigterm) {
  const Outcome outcome = shell(tool_ + " serve --tbx 0 --device icl --report " + path("report") + " > " + path("out") +
                                " & server=$!; until grep -q listening " + path("out") +
                                "; do kill -0 $server || exit 9; done; kill -TERM $server; wait $server");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(content(path("out")), MatchesRegex("listening on 127.0.0.1:[0-9]+\n"));
  EXPECT_EQ(nlohmann::json::parse(content(path("report")))["device"], "icl");
  EXPECT_EQ(shell(tool_ + " serve --tbx 0 --device arc 2>&1").status, 2);
  EXPECT_EQ(shell(tool_ + " serve --tbx 70000 --device icl 2>&1").status, 2);
  EXPECT_EQ(shell(tool_ + " serve --tbx 0 --device icl --report " + path("no/such") + " 2>&1").status, 2);
}

TEST_F(Doors, ServeListensOnAUnixSocketAndRemovesIt) {
  const std::string socket = path("socket");
  const Outcome outcome =
      shell(tool_ + " serve --tbx unix:" + socket + " --device icl > " + path("out") +
            " & server=$!; until grep -q listening " + path("out") +
            "; do kill -0 $server || exit 9; done; stat -c '%a %F' " + socket + "; kill -TERM $server; wait $server");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.text, "600 socket\n");
  EXPECT_EQ(content(path("out")), "listening on unix:" + socket + "\n");
  EXPECT_FALSE(fs::exists(socket));
  EXPECT_EQ(shell(tool_ + " serve --tbx unix: --device icl 2>&1").status, 2);
  EXPECT_EQ(shell(tool_ + " serve --tbx 12x --device icl 2>&1").status, 2);
}

// ---- confinement. What a confined process cannot do is in tests/unit/sandbox; here: that each command is confined
// before it reads its first byte, and works. The host's kernel shows it in /proc.

constexpr const char* kShow = "grep -E '^(NoNewPrivs|Seccomp):' /proc/$process/status | tr -d '[:space:]'";
// Fails if the process ends before it is confined.
constexpr const char* kAwait =
    "until grep -q 'Seccomp:.2' /proc/$process/status; do kill -0 $process || exit 9; done; ";
constexpr const char* kConfined = "NoNewPrivs:1Seccomp:2";

TEST_F(Doors, ReplayIsConfinedBeforeTheTraceIsRead) {
  const std::string file = trace("a.aub", good_trace());
  // The pipe is empty until the process is confined.
  const Outcome outcome =
      shell("mkfifo " + path("pipe") + "; " + tool_ + " replay " + path("pipe") + " > " + path("out") +
            " & process=$!; " + kAwait + kShow + "; cat " + file + " > " + path("pipe") + "; wait $process");
  EXPECT_EQ(outcome.status, 0) << outcome.text;
  EXPECT_EQ(outcome.text, kConfined);
  EXPECT_THAT(content(path("out")), HasSubstr("checks=1 failed=0"));
}

TEST_F(Doors, DecodeIsConfinedBeforeTheFileIsRead) {
  const std::string file = trace("a.aub", good_trace());
  const Outcome outcome = shell("mkfifo " + path("pipe") + "; " + tool_ + " decode --summary --device icl " +
                                path("pipe") + " > " + path("out") + " & process=$!; " + kAwait + kShow + "; cat " +
                                file + " > " + path("pipe") + "; wait $process");
  EXPECT_EQ(outcome.text, kConfined);
  EXPECT_THAT(content(path("out")), HasSubstr("commands="));
}

TEST_F(Doors, ServeIsConfinedWhenItListens) {
  const auto serve = [&](const std::string& options) {
    return shell(tool_ + " serve --tbx 0 --device icl " + options + " > " + path("out") +
                 " & process=$!; until grep -q listening " + path("out") + "; do kill -0 $process || exit 9; done; " +
                 kShow + "; kill -TERM $process; wait $process");
  };
  EXPECT_EQ(serve("--trace " + path("t.aub") + " --report " + path("report")), (Outcome{0, kConfined}));
  EXPECT_EQ(nlohmann::json::parse(content(path("report")))["device"], "icl") << "written at the end";
  EXPECT_EQ(serve("--no-sandbox"), (Outcome{0, "NoNewPrivs:0Seccomp:0"}));
  EXPECT_EQ(serve("--sandbox=off"), (Outcome{0, "NoNewPrivs:0Seccomp:0"}));
  EXPECT_EQ(shell(tool_ + " serve --tbx 0 --device icl --sandbox=maybe 2>&1").status, 2);
}

TEST_F(Doors, VmIsConfinedBeforeItAnswersTheEmulator) {
  for (const char* file : {"vmlinux", "base.cpio"}) std::ofstream(path(file)) << "x";
  const std::string emulator = path("qemu-system-x86_64");
  std::ofstream(emulator) << "#!/bin/sh\nprocess=$PPID\n"
                          << kAwait << kShow << " >" << path("seen")
                          << "\nfor word; do case $word in pipe,*) status=${word#*path=}.out ;; esac; done\n"
                             "echo 7 >$status\nexit 1\n";
  fs::permissions(emulator, fs::perms::owner_all);
  const Outcome outcome =
      shell("PATH=" + root_.string() + ":$PATH TMPDIR=" + root_.string() + " " + tool_ + " vm --device icl --image " +
            root_.string() + " --report " + path("report") + " --trace " + path("t.aub") + " -- true 2>&1");
  EXPECT_EQ(outcome.status, 7) << outcome.text;
  EXPECT_EQ(content(path("seen")), kConfined);
  EXPECT_EQ(nlohmann::json::parse(content(path("report")))["device"], "icl");
  for (const auto& entry : fs::directory_iterator(root_)) {
    EXPECT_EQ(entry.path().string().find("halogen-vm-"), std::string::npos) << "a confined process leaves no files";
  }
}

}  // namespace
}  // namespace halogen
