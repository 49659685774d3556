// Landlock, through its system calls: the C library has no functions for them, and Debian 12's kernel headers
// lack the rights of later versions (facts: Linux, Documentation/userspace-api/landlock.rst).
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "sandbox/parts.h"

namespace halogen::sandbox {
namespace {

constexpr uint64_t kTruncate = 1u << 14;                  // version 3
constexpr uint64_t kDeviceControl = 1u << 15;             // version 5
constexpr uint64_t kBindTcp = 1, kConnectTcp = 2;         // version 4
constexpr uint64_t kScopeAbstract = 1, kScopeSignal = 2;  // version 6

struct Ruleset {
  uint64_t files;
  uint64_t ports;  // version 4
  uint64_t scope;  // version 6
};

// Returns the rights on files that a version knows.
uint64_t known_rights(long version) {
  uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (version >= 2) rights |= LANDLOCK_ACCESS_FS_REFER;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kDeviceControl;
  return rights;
}

constexpr uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE;
constexpr uint64_t kRead = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kWriteFile = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr uint64_t kCreate = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG;
constexpr uint64_t kOnFiles = kReadFile | kWriteFile | kDeviceControl;  // rights that a file can have

class Rules {
 public:
  Rules(int descriptor, uint64_t known) : descriptor_(descriptor), known_(known) {}
  ~Rules() { ::close(descriptor_); }
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  Result<void> allow(const std::string& path, uint64_t rights) {
    const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
    if (file < 0) return {};
    struct stat status {};
    const bool folder = ::fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
    landlock_path_beneath_attr rule{};
    rule.allowed_access = rights & known_ & (folder ? ~uint64_t{0} : kOnFiles);
    rule.parent_fd = file;
    // Pipes and sockets, which programs may name as /dev/stdin, have no place in a file system and are not restricted.
    const long done = ::syscall(SYS_landlock_add_rule, descriptor_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    const int problem = errno;
    ::close(file);
    if (done == 0 || problem == EBADFD) return {};
    return Error{fmt::format("{}: cannot allow the path in the sandbox: {}.", path, std::strerror(problem))};
  }

 private:
  int descriptor_;
  uint64_t known_;
};

}  // namespace

Result<bool> restrict_files(const Rights& rights) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;
  const uint64_t known = known_rights(version);
  Ruleset set{known, kBindTcp | kConnectTcp, kScopeAbstract | (rights.child == 0 && !kSanitized ? kScopeSignal : 0)};
  const size_t bytes = version >= 6 ? sizeof set : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
  const auto descriptor = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &set, bytes, 0));
  if (descriptor < 0) return Error{fmt::format("cannot create a Landlock ruleset: {}.", std::strerror(errno))};
  Rules rules(descriptor, known);
  const auto allow_all = [&](const std::vector<std::string>& paths, uint64_t what) -> Result<void> {
    for (const std::string& path : paths) {
      if (auto done = rules.allow(path, what); !done) return done;
    }
    return {};
  };
  if (const auto done = allow_all(rights.read, kRead); !done) return done.error();
  if (const auto done = allow_all(rights.write, kReadFile | kWriteFile); !done) return done.error();
  if (const auto done = allow_all(rights.folders, kCreate | (rights.replace ? kTruncate : 0)); !done) {
    return done.error();
  }
  if (kSanitized) {
    if (const auto done = rules.allow("/proc", kRead); !done) return done.error();
  }
  if (::syscall(SYS_landlock_restrict_self, descriptor, 0) != 0) {
    return Error{fmt::format("cannot restrict files: {}.", std::strerror(errno))};
  }
  return true;
}

}  // namespace halogen::sandbox
