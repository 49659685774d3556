// A confined process tries what it must not be able to do. Each attempt runs in a child process of its own.
#include "sandbox/confine.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sandbox/leftovers.h"
#include "sandbox/parts.h"

namespace halogen::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int kAllowed = 200, kIncomplete = 201, kFailed = 202;

class Confine : public ::testing::Test {
 protected:
  Confine() {
    std::string name = (fs::temp_directory_path() / "halogen-test-XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char* each : {"input", "output", "secret"}) std::ofstream(folder_ / each) << "text";
    fs::create_directory(folder_ / "inputs");
    fs::create_directory(folder_ / "outputs");
    std::ofstream(folder_ / "inputs" / "deep") << "text";
  }
  ~Confine() override { fs::remove_all(folder_); }
  void SetUp() override {
    if (incomplete()) GTEST_SKIP() << "the host's kernel lacks Landlock or system call filters";
  }

  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  Rights rights() const {
    return {.read = {path("input"), path("inputs"), path("missing")},
            .write = {path("output")},
            .folders = {path("outputs")}};
  }

  // Returns the error number of an attempt that a confined process makes (a call that returns -1), or kAllowed.
  int attempt(const Rights& rights, const std::function<long()>& what) const {
    const pid_t child = fork();
    if (child == 0) {
      const auto done = confine(rights);
      if (!done) _exit(kFailed);
      if (!done->empty()) _exit(kIncomplete);
      errno = 0;
      _exit(what() >= 0 ? kAllowed : errno);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int attempt(const std::function<long()>& what) const { return attempt(rights(), what); }
  int attempt_open(const std::string& name, int flags) const {
    return attempt([&] { return open(name.c_str(), flags | O_CLOEXEC, 0600); });
  }
  bool incomplete() const {
    return attempt([] { return 0; }) == kIncomplete;
  }

  fs::path folder_;
};

TEST_F(Confine, OnlyNamedFilesCanBeOpened) {
  EXPECT_EQ(attempt_open(path("input"), O_RDONLY), kAllowed);
  EXPECT_EQ(attempt_open(path("inputs/deep"), O_RDONLY), kAllowed);
  EXPECT_EQ(attempt_open(path("output"), O_WRONLY | O_CREAT | O_TRUNC), kAllowed);
  EXPECT_EQ(attempt_open(path("outputs/new"), O_WRONLY | O_CREAT | O_TRUNC), kAllowed);
  EXPECT_EQ(attempt_open(path("input"), O_WRONLY), EACCES);
  EXPECT_EQ(attempt_open(path("input"), O_RDONLY | O_TRUNC), EACCES);
  EXPECT_EQ(attempt_open(path("inputs/new"), O_WRONLY | O_CREAT), EACCES);
  EXPECT_EQ(attempt_open(path("secret"), O_RDONLY), EACCES);
  EXPECT_EQ(attempt_open(path("secret"), O_WRONLY), EACCES);
  EXPECT_EQ(attempt_open(path("new"), O_WRONLY | O_CREAT), EACCES);
  EXPECT_EQ(attempt_open("/etc/passwd", O_RDONLY), EACCES);
  EXPECT_EQ(attempt_open(path("outputs/../secret"), O_RDONLY), EACCES);
  fs::create_symlink(path("secret"), path("outputs/link"));
  EXPECT_EQ(attempt_open(path("outputs/link"), O_RDONLY), EACCES);
}

TEST_F(Confine, ExistingFilesOfAFolderAreTruncatedOnlyIfTheyMayBeReplaced) {
  std::ofstream(path("outputs/old")) << "text";
  EXPECT_EQ(attempt_open(path("outputs/old"), O_WRONLY | O_TRUNC), EACCES);
  EXPECT_EQ(attempt_open(path("outputs/new"), O_WRONLY | O_CREAT | O_EXCL), kAllowed);
  Rights replacing = rights();
  replacing.replace = true;
  EXPECT_EQ(attempt(replacing, [&] { return open(path("outputs/old").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC); }),
            kAllowed);
}

// Without a free descriptor neither the threads can be counted nor Landlock set up. The other parts need none.
TEST_F(Confine, EveryPartIsTriedAndEveryFailureNamed) {
  std::string told(512, '\0');
  int text[2];
  ASSERT_EQ(pipe2(text, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    // A sanitizer opens a pipe when it sees a class for the first time, which is not possible below.
    std::string first = fmt::format("{}", child);
    first +=
        fmt::format("{}{}", first.empty() ? "" : "; ", first) + fmt::format("{}: {}.", first, std::strerror(EPERM));
    const int next = dup(first.empty() ? 1 : 0);
    rlimit none{};
    getrlimit(RLIMIT_NOFILE, &none);
    none.rlim_cur = static_cast<rlim_t>(next);
    close(next);
    setrlimit(RLIMIT_NOFILE, &none);
    const auto done = confine(rights());
    const std::string message = done ? "confined" : done.message();
    errno = 0;
    const bool filtered = socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM;
    const bool said = write(text[1], message.data(), message.size()) == static_cast<ssize_t>(message.size());
    _exit(filtered && said ? 0 : 1);
  }
  close(text[1]);
  int status = -1;
  waitpid(child, &status, 0);
  const ssize_t length = read(text[0], told.data(), told.size());
  told.resize(length < 0 ? 0 : static_cast<size_t>(length));
  close(text[0]);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "system calls are restricted all the same";
  if (!kSanitized) {
    EXPECT_NE(told.find("several threads, or /proc is not mounted; "), std::string::npos) << told;
  }
  EXPECT_NE(told.find("cannot create a Landlock ruleset"), std::string::npos) << told;
}

TEST_F(Confine, FilesCannotBeRemovedOrRenamed) {
  EXPECT_EQ(attempt([&] { return unlink(path("output").c_str()); }), EPERM);
  EXPECT_EQ(attempt([&] { return rename(path("output").c_str(), path("outputs/x").c_str()); }), EPERM);
  EXPECT_EQ(attempt([&] { return symlink("x", path("outputs/x").c_str()); }), EPERM);
  EXPECT_EQ(attempt([&] { return chmod(path("output").c_str(), 0777); }), EPERM);
  EXPECT_EQ(attempt([&] { return mkdir(path("outputs/x").c_str(), 0777); }), EPERM);
}

TEST_F(Confine, NoProgramCanBeStarted) {
  EXPECT_EQ(attempt([] { return execl("/bin/true", "true", nullptr); }), EPERM);
  EXPECT_EQ(attempt([] {
              const int file = memfd_create("code", 0);
              return syscall(SYS_execveat, file, "", nullptr, nullptr, 0x1000);
            }),
            EPERM);
  if (kSanitized) return;
  EXPECT_EQ(attempt([] { return fork(); }), EPERM);
}

TEST_F(Confine, NoSocketCanBeCreatedOrConnected) {
  for (const int family : {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK}) {
    EXPECT_EQ(attempt([&] { return socket(family, SOCK_STREAM, 0); }), EPERM) << family;
  }
  int pair[2];
  EXPECT_EQ(attempt([&] { return socketpair(AF_UNIX, SOCK_STREAM, 0, pair); }), EPERM);
  const int before = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  EXPECT_EQ(attempt([&] { return connect(before, reinterpret_cast<sockaddr*>(&address), sizeof address); }), EPERM);
  EXPECT_EQ(attempt([&] { return bind(before, reinterpret_cast<sockaddr*>(&address), sizeof address); }), EPERM);
  EXPECT_EQ(attempt([&] { return listen(before, 1); }), EPERM);
  EXPECT_EQ(attempt([&] { return accept(before, nullptr, nullptr); }), EPERM);
  Rights server = rights();
  server.accept = true;
  EXPECT_EQ(attempt(server, [&] { return accept(before, nullptr, nullptr); }), EINVAL) << "allowed; it does not listen";
  close(before);
}

TEST_F(Confine, OtherProcessesCannotBeReached) {
  const pid_t parent = getpid();
  if (!kSanitized) {
    EXPECT_EQ(attempt([&] { return ptrace(PTRACE_ATTACH, parent, nullptr, nullptr); }), EPERM);
    EXPECT_EQ(attempt([&] { return kill(parent, 0); }), EPERM);
    char byte = 0;
    const iovec one{&byte, 1};
    EXPECT_EQ(attempt([&] { return process_vm_readv(parent, &one, 1, &one, 1, 0); }), EPERM);
  }
  EXPECT_EQ(attempt([&] { return syscall(SYS_pidfd_open, parent, 0); }), EPERM);
  Rights with_child = rights();
  with_child.child = parent;
  EXPECT_EQ(attempt(with_child, [&] { return kill(parent, 0); }), kAllowed);
}

TEST_F(Confine, NoMemoryBecomesCode) {
  EXPECT_EQ(attempt([] {
              void* const page = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return page == MAP_FAILED ? -1 : 0;
            }),
            EPERM);
  EXPECT_EQ(attempt([] {
              void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return mprotect(page, 4096, PROT_READ | PROT_EXEC);
            }),
            EPERM);
}

TEST_F(Confine, ThreadsAndMemoryStillWork) {
  EXPECT_EQ(attempt([] {
              std::vector<char> much(size_t{64} << 20, 'x');
              size_t sum = 0;
              std::thread([&] { sum = much.size(); }).join();
              return sum == much.size() ? 0 : -1;
            }),
            kAllowed);
}

// The rights of other threads would stay.
TEST_F(Confine, ProcessWithSeveralThreadsIsRefused) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have threads of their own";
  const pid_t child = fork();
  if (child == 0) {
    std::thread other([] { pause(); });
    _exit(confine(rights()).ok() ? kAllowed : kFailed);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), kFailed);
}

TEST_F(Confine, CapabilitiesAreGone) {
  if (geteuid() != 0) GTEST_SKIP() << "only root has capabilities";
  EXPECT_EQ(attempt([] { return chroot("/"); }), EPERM);
  // Behind the filter too: the host's kernel itself says which are left.
  const auto kept = [&]() -> long {
    Rights all = rights();
    all.read.emplace_back("/proc");
    const pid_t child = fork();
    if (child == 0) {
      if (!confine(all)) _exit(kFailed);
      std::ifstream status("/proc/self/status");
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("CapEff:")) _exit(std::stoull(line.substr(7), nullptr, 16) == 2 ? kAllowed : kFailed);
      }
      _exit(kFailed);
    }
    int state = 0;
    waitpid(child, &state, 0);
    return WEXITSTATUS(state);
  };
  EXPECT_EQ(kept(), kAllowed) << "CAP_DAC_OVERRIDE (bit 1) only, which Landlock limits to the named files";
}

TEST_F(Confine, EveryOpenFailsIfNoFileIsNamed) {
  const int seen = attempt({}, [] { return open("/dev/null", O_RDONLY | O_CLOEXEC); });
  EXPECT_TRUE(seen == EACCES || seen == EPERM) << seen;
}

TEST_F(Confine, LeftoversAreRemovedEvenAfterSigkill) {
  const std::string folder = path("inputs"), file = path("inputs/deep");
  const pid_t child = fork();
  if (child == 0) {
    const auto leftovers = Leftovers::watch({file, path("missing")}, folder);
    kill(getpid(), leftovers ? SIGKILL : SIGTERM);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  while (fs::exists(folder)) usleep(1000);
  EXPECT_TRUE(fs::exists(path("input")));
  {
    const auto leftovers = Leftovers::watch({path("input")}, {});
    ASSERT_TRUE(leftovers.ok());
    EXPECT_TRUE(fs::exists(path("input")));
  }
  EXPECT_FALSE(fs::exists(path("input")));
}

}  // namespace
}  // namespace halogen::sandbox
