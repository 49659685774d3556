// The list of system calls that a confined process may make. Any other fails with EPERM, so that libraries see an error
// instead of the end of the process.
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "sandbox/parts.h"

namespace halogen::sandbox {
namespace {

constexpr const char* kAlways[] = {
    // descriptors that are open
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "lseek",
    "_llseek",
    "close",
    "close_range",
    "fstat",
    "fstat64",
    "fstatfs",
    "fstatfs64",
    "ftruncate",
    "ftruncate64",
    "fsync",
    "fdatasync",
    "fallocate",
    "fadvise64",
    "getdents64",
    "dup",
    "dup2",
    "dup3",
    "pipe2",
    "eventfd2",
    "memfd_create",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "_newselect",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    // sockets that are open
    "recvfrom",
    "recvmsg",
    "recv",
    "sendto",
    "sendmsg",
    "send",
    "shutdown",
    "getsockopt",
    "setsockopt",
    "getsockname",
    "getpeername",
    // memory
    "munmap",
    "mremap",
    "madvise",
    "mincore",
    "brk",
    "membarrier",
    // threads
    "futex",
    "futex_time64",
    "futex_waitv",
    "set_robust_list",
    "get_robust_list",
    "set_tid_address",
    "rseq",
    "sched_yield",
    "sched_getaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "getpriority",
    "gettid",
    "exit",
    "exit_group",
    "restart_syscall",
    // signals
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigpending",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "sigaltstack",
    "pause",
    "wait4",
    "waitid",
    // facts about the process and the time
    "getpid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getrlimit",
    "ugetrlimit",
    "getrusage",
    "times",
    "umask",
    "uname",
    "sysinfo",
    "getcwd",
    "getrandom",
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "time",
    "getcpu",
    "timerfd_create",
    "timerfd_settime",
    "timerfd_gettime",
    "arch_prctl",
};

// Paths: Landlock decides which of them.
constexpr const char* kFiles[] = {"open",  "openat", "openat2",   "stat",       "lstat",    "newfstatat",
                                  "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat"};

// A sanitizer's check for leaks stops all threads from a process of its own.
constexpr const char* kSanitizers[] = {"clone", "ptrace", "prctl", "kill", "tgkill", "process_vm_readv", "personality"};

using Context = std::unique_ptr<void, decltype(&seccomp_release)>;

class Filter {
 public:
  explicit Filter(scmp_filter_ctx context) : context_(context) {}

  // Names that this architecture does not have are skipped.
  void allow(const char* name) { add(SCMP_ACT_ALLOW, name, {}); }
  void allow_if(const char* name, const scmp_arg_cmp& condition) { add(SCMP_ACT_ALLOW, name, &condition); }
  void deny(const char* name, int problem) { add(SCMP_ACT_ERRNO(static_cast<unsigned>(problem)), name, {}); }
  int problem() const { return problem_; }

 private:
  void add(uint32_t action, const char* name, const scmp_arg_cmp* condition) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) return;
    const int done = seccomp_rule_add_array(context_, action, number, condition == nullptr ? 0 : 1, condition);
    if (done != 0 && done != -EDOM) problem_ = done;
  }

  scmp_filter_ctx context_;
  int problem_ = 0;
};

scmp_arg_cmp equal(unsigned argument, uint64_t value) {
  return {argument, SCMP_CMP_EQ, value, 0};
}

// Returns the condition that the bits of `mask` in an argument have the given value.
scmp_arg_cmp masked(unsigned argument, uint64_t mask, uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void allow_parts(Filter& filter, const Rights& rights) {
  // No new code: neither programs nor mappings.
  for (const char* name : {"mmap", "mmap2", "mprotect"}) filter.allow_if(name, masked(2, PROT_EXEC, 0));
  // New threads, but no processes. The library tries clone3 first, whose flags are in memory, where the filter cannot
  // check them.
  filter.allow_if("clone", masked(0, CLONE_THREAD, CLONE_THREAD));
  filter.deny("clone3", ENOSYS);
  const auto self = static_cast<uint64_t>(::getpid());
  for (const char* name : {"kill", "tgkill"}) filter.allow_if(name, equal(0, self));
  if (rights.child != 0) filter.allow_if("kill", equal(0, static_cast<uint64_t>(rights.child)));
  for (const uint64_t what : {uint64_t{PR_SET_NAME}, uint64_t{PR_GET_NAME}, uint64_t{PR_SET_VMA}}) {
    filter.allow_if("prctl", equal(0, what));
  }
  for (const uint64_t what : {uint64_t{TCGETS}, uint64_t{TIOCGWINSZ}, uint64_t{FIONREAD}}) {
    filter.allow_if("ioctl", equal(1, what));
  }
  for (const int what : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_ADD_SEALS, F_GET_SEALS}) {
    for (const char* name : {"fcntl", "fcntl64"}) filter.allow_if(name, equal(1, static_cast<uint64_t>(what)));
  }
  filter.allow_if("prlimit64", equal(2, 0));  // reads limits
  if (rights.accept) {
    for (const char* name : {"accept", "accept4"}) filter.allow(name);
  }
}

}  // namespace

Result<bool> restrict_system_calls(const Rights& rights, bool files) {
  const Context context(seccomp_init(SCMP_ACT_ERRNO(EPERM)), &seccomp_release);
  if (context == nullptr) return Error{"cannot create a system call filter."};
  Filter filter(context.get());
  for (const char* name : kAlways) filter.allow(name);
  if (files) {
    for (const char* name : kFiles) filter.allow(name);
  }
  if (kSanitized) {
    for (const char* name : kSanitizers) filter.allow(name);
    for (const char* name : kFiles) filter.allow(name);
  }
  allow_parts(filter, rights);
  if (filter.problem() != 0) {
    return Error{fmt::format("cannot describe the system call filter: {}.", std::strerror(-filter.problem()))};
  }
  const int done = seccomp_load(context.get());
  if (done == -EINVAL || done == -ENOSYS) return false;
  if (done != 0) return Error{fmt::format("cannot restrict system calls: {}.", std::strerror(-done))};
  return true;
}

}  // namespace halogen::sandbox
