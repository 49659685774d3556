// Start and end of a machine, with scripts instead of QEMU.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "file.h"
#include "guest_setup.h"
#include "launch.h"
#include "process.h"

namespace halogen::vm {
namespace {

namespace fs = std::filesystem;

class Launch : public ::testing::Test {
 protected:
  Launch() {
    std::string name = (fs::temp_directory_path() / "halogen-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("vmlinux", "kernel");
    write("base.cpio", "base");
    // Folders of machines are created below this one, so that they can be counted.
    EXPECT_TRUE(fs::create_directory(folder_ / "tmp"));
    setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
    options_.model = spec::find_device("icl");
    options_.device = guest_device_options(*options_.model);
    options_.image = folder_.string();
    options_.command = {"echo", "it's"};
  }
  ~Launch() override {
    unsetenv("TMPDIR");
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string write(const std::string& name, const std::string& text, bool executable = false) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    EXPECT_EQ(chmod(path.c_str(), executable ? 0755 : 0644), 0);
    return path.string();
  }
  std::string read(const std::string& name) {
    std::ifstream in(folder_ / name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  // An emulator: $status is the pipe behind the second serial line, $files the guest's first file system.
  void emulate(const std::string& script) {
    options_.emulator = write("emulator",
                              "#!/bin/sh\n"
                              "for word; do\n"
                              "  case $word in pipe,*) status=${word#*path=}.out ;; *.cpio) files=$word ;; esac\n"
                              "done\n" +
                                  script,
                              true);
  }
  bool is_tidy() const { return fs::is_empty(folder_ / "tmp"); }

  fs::path folder_;
  LaunchOptions options_;
};

TEST_F(Launch, EveryExitStatusIsReported) {
  for (const int status : {0, 1, 2, 127, 128, 200, 255}) {
    // The exit status of isa-debug-exit: seven bits followed by a one.
    emulate(fmt::format("echo {} >$status\nexit {}", status, (status << 1 & 0xff) | 1));
    const auto result = launch(options_);
    ASSERT_TRUE(result.ok()) << result.message();
    ASSERT_TRUE(result->status.has_value());
    EXPECT_EQ(*result->status, status);
  }
  EXPECT_TRUE(is_tidy());
}

TEST_F(Launch, InvalidStatusIsIgnored) {
  for (const char* text : {"", "x", "-1", "256", "99999999999999"}) {
    emulate(fmt::format("printf '%s' '{}' >$status\nexit 1", text));
    const auto result = launch(options_);
    EXPECT_TRUE(!result.ok() || !result->status) << text;
  }
}

// A guest that writes without end fills a pipe, not the disk.
TEST_F(Launch, EndlessStatusOutputIsBounded) {
  emulate("echo 7 >$status\ndd if=/dev/zero of=$status oflag=nonblock bs=4096 count=100000 2>/dev/null\nexit 1");
  const auto result = launch(options_);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_EQ(result->status, 7);
  EXPECT_TRUE(is_tidy());
}

TEST_F(Launch, EarlyEmulatorExitIsReportedAtOnce) {
  emulate("exit 1");
  const auto result = launch(options_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find("ended with status 1 before the machine ran"), std::string::npos) << result.message();
  emulate("kill -9 $$");
  const auto killed = launch(options_);
  ASSERT_FALSE(killed.ok());
  EXPECT_NE(killed.message().find("by signal 9"), std::string::npos) << killed.message();
  EXPECT_TRUE(is_tidy());
}

TEST_F(Launch, MissingEmulatorIsNamed) {
  options_.emulator = "no-such-emulator";
  const auto result = launch(options_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find("cannot start no-such-emulator"), std::string::npos);
  EXPECT_NE(result.message().find("qemu-system-x86"), std::string::npos);
  EXPECT_TRUE(is_tidy());
}

TEST_F(Launch, EndsOnRequest) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const File stop(ends[0]), ask(ends[1]);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  emulate("exec sleep 1000");
  options_.stop = stop.descriptor();
  const auto result = launch(options_);
  ASSERT_TRUE(result.ok()) << result.message();
  EXPECT_FALSE(result->status.has_value());
  EXPECT_NE(result->ending, "");
  EXPECT_TRUE(is_tidy());
}

// The emulator is running and nothing that it sent has been read. It cannot continue before that, because it waits for
// the answers of the device.
TEST_F(Launch, ConfinementComesAfterTheStartOfTheEmulator) {
  emulate("exec sleep 1000");
  pid_t emulator = 0;
  options_.confine = [&](pid_t started) -> Result<void> {
    emulator = started;
    EXPECT_EQ(kill(started, 0), 0);
    return Error{"refused."};
  };
  const auto result = launch(options_);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.message(), "refused.");
  EXPECT_NE(kill(emulator, 0), 0) << "ended and collected";
  EXPECT_TRUE(is_tidy());
}

TEST_F(Launch, GuestReportsStatusOfTheCommand) {
  emulate("cp $files " + (folder_ / "seen").string() + "\necho 0 >$status");
  options_.added = {write("tool", "a tool")};
  ASSERT_TRUE(launch(options_).ok());
  const std::string files = read("seen");
  EXPECT_EQ(files.substr(0, 4), "base");
  EXPECT_NE(files.find("'echo' 'it'\\''s' \nstatus=$?\necho $status >/dev/ttyS1\nexit $status\n"), std::string::npos);
  EXPECT_NE(files.find("bin/tool"), std::string::npos);
}

TEST_F(Launch, MissingFilesAreNamedBeforeStart) {
  emulate("echo 0 >$status");
  options_.added = {(folder_ / "nothing").string()};
  EXPECT_FALSE(launch(options_).ok());
  options_.added.clear();
  options_.trace = (folder_ / "no" / "trace").string();
  EXPECT_FALSE(launch(options_).ok());
  options_.trace.clear();
  fs::remove(folder_ / "vmlinux");
  const auto result = launch(options_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.message().find("scripts/vm-image.sh"), std::string::npos);
  EXPECT_TRUE(is_tidy());
}

TEST_F(Launch, ImageOfAPackageIsCreatedOnce) {
  const std::string script = write(
      "make-image",
      "#!/bin/sh\necho \"$@\" >>" + (folder_ / "calls").string() + "\nmkdir -p \"$3\"; echo >\"$3/base.cpio\"\n", true);
  const std::string package = write("kernel.deb", "");
  fs::last_write_time(package, fs::last_write_time(package) - std::chrono::hours(1));
  const std::string image = (folder_ / "image").string();
  ASSERT_TRUE(make_image(script, package, image).ok());
  EXPECT_EQ(read("calls"), "--kernel " + package + " " + image + "\n");
  ASSERT_TRUE(make_image(script, package, image).ok());
  EXPECT_EQ(read("calls"), "--kernel " + package + " " + image + "\n") << "it is there already";
  fs::last_write_time(package, fs::file_time_type::clock::now() + std::chrono::hours(1));
  ASSERT_TRUE(make_image(script, package, image).ok());
  EXPECT_NE(read("calls"), "--kernel " + package + " " + image + "\n") << "the package is newer";
  EXPECT_FALSE(make_image(script, (folder_ / "none.deb").string(), image).ok());
  EXPECT_FALSE(make_image(write("fails", "#!/bin/sh\nexit 2\n", true), package, image).ok());
}

TEST(Process, WaitEndsWhenTheStopDescriptorIsReadable) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const File stop(ends[0]), ask(ends[1]);
  auto stays = Process::start({"sleep", "1000"});
  ASSERT_TRUE(stays.ok()) << stays.message();
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_FALSE(stays->wait_for(std::chrono::hours(1), stop.descriptor()));
  stays->end();
  EXPECT_EQ(stays->wait().signal, SIGKILL);
  auto leaves = Process::start({"sh", "-c", "exit 3"});
  ASSERT_TRUE(leaves.ok()) << leaves.message();
  EXPECT_TRUE(leaves->wait_for(std::chrono::hours(1), -1));
  EXPECT_EQ(leaves->wait().status, 3);
}

TEST(Process, EndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  File ours(ends[0]), theirs(ends[1]);
  const pid_t between = fork();
  ASSERT_GE(between, 0);
  if (between == 0) {  // starts a process that holds the pipe open, and is killed
    auto process = Process::start({"sleep", "1000"}, {theirs.descriptor()});
    kill(getpid(), SIGKILL);
    _exit(process.ok() ? 0 : 1);
  }
  theirs = File();
  std::byte nothing{};
  EXPECT_FALSE(read_all(ours.descriptor(), std::span(&nothing, 1))) << "end of the stream: no writer is left";
  EXPECT_EQ(waitpid(between, nullptr, 0), between);
}

}  // namespace
}  // namespace halogen::vm
