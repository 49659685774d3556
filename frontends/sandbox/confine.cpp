#include "sandbox/confine.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "sandbox/parts.h"

namespace halogen::sandbox {

Result<void> drop_capabilities(unsigned long long kept) {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &head, sets.data()) != 0) {
    return Error{fmt::format("cannot read the capabilities: {}.", std::strerror(errno))};
  }
  for (size_t i = 0; i < sets.size(); ++i) {
    const auto part = static_cast<__u32>(kept >> (32 * i));
    sets[i].permitted &= part;
    sets[i].effective = sets[i].permitted;
    sets[i].inheritable = 0;
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (::syscall(SYS_capset, &head, sets.data()) != 0) {
    return Error{fmt::format("cannot drop the capabilities: {}.", std::strerror(errno))};
  }
  return {};
}

namespace {

bool confined = false;

// Returns whether the process has one thread, because most rights belong to a thread. False also if /proc cannot be
// read.
bool is_single_thread() {
  std::error_code failed;
  const std::filesystem::directory_iterator tasks("/proc/self/task", failed);
  return !failed && std::distance(begin(tasks), end(tasks)) == 1;
}

}  // namespace

// LeakSanitizer's check at exit needs /proc and ptrace(2). If it is linked, it calls this function first.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name
extern "C" int __lsan_is_turned_off();
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name
extern "C" int __lsan_is_turned_off() {
  return confined ? 1 : 0;
}

Result<std::string> confine(const Rights& rights) {
  std::string failed;
  const auto fail = [&](std::string_view what) {
    if (what.ends_with('.')) what.remove_suffix(1);
    failed += fmt::format("{}{}", failed.empty() ? "" : "; ", what);
  };
  // A part that fails does not keep the others from being tried.
  if (!kSanitized && !is_single_thread()) fail("the process has several threads, or /proc is not mounted");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    fail(fmt::format("cannot set no_new_privs: {}", std::strerror(errno)));
  }
  confined = true;
  const auto files = restrict_files(rights);
  if (!files) fail(files.message());
  const bool has_landlock = files.ok() && *files;
  // Root's right to open files of other users is harmless as long as Landlock names the files.
  if (const auto dropped = drop_capabilities(has_landlock ? 1ull << CAP_DAC_OVERRIDE : 0); !dropped) {
    fail(dropped.message());
  }
  const bool opens = has_landlock || !rights.read.empty() || !rights.write.empty() || !rights.folders.empty();
  const auto calls = restrict_system_calls(rights, opens);
  if (!calls) fail(calls.message());
  if (!failed.empty()) return Error{failed + "."};
  if (!*files && !*calls) return std::string("the kernel has neither Landlock nor system call filters");
  if (!*files) return std::string(opens ? "the kernel has no Landlock; files are not restricted" : "");
  if (!*calls) return std::string("the kernel has no system call filters");
  return std::string();
}

}  // namespace halogen::sandbox
