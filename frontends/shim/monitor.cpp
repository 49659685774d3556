#include "monitor.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/exhaustion.h"
#include "client_info.h"
#include "driver/gem/user_memory.h"
#include "pmu_events.h"
#include "polling.h"
#include "tree.h"

namespace halogen::shim {
namespace {

constexpr uint64_t kFlags = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC;
constexpr uint64_t kLastFormat = PERF_FORMAT_MAX - 1;
constexpr uint64_t kLastSample = PERF_SAMPLE_MAX - 1;

// Reads a file of /proc with system calls, so that this library does not see them.
std::string text_of(const char* path) {
  std::string text;
  const auto file = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  if (file < 0) return text;
  char part[512];
  for (long got = 0; (got = syscall(SYS_read, file, part, sizeof part)) > 0;) {
    text.append(part, static_cast<size_t>(got));
  }
  syscall(SYS_close, file);
  return text;
}

// Returns how much the host's administrator denies to programs without rights (perf_event_paranoid).
int denied() {
  constexpr int kMaxDenial = 3;
  const std::string text = text_of("/proc/sys/kernel/perf_event_paranoid");
  return text.empty() ? kMaxDenial : std::atoi(text.c_str());
}

bool is_event_of_host(int descriptor) {
  char path[32];
  char name[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  const long length = syscall(SYS_readlinkat, AT_FDCWD, path, name, sizeof name);
  return length > 0 && std::string_view(name, static_cast<size_t>(length)) == "anon_inode:[perf_event]";
}

// Reads the attributes as Linux does: programs may know fewer fields than this library, or more that are zero.
int read_attributes(uint64_t address, perf_event_attr& attributes) {
  constexpr uint32_t kLongest = 4096;
  const uint64_t size_at = address + offsetof(perf_event_attr, size);
  const auto refuse_size = [&] {
    const uint32_t known = sizeof attributes;
    static_cast<void>(driver::write_user(size_at, &known, sizeof known));
    return -E2BIG;
  };
  const auto given = driver::read_user<uint32_t>(size_at);
  if (!given) return -EFAULT;
  const uint32_t size = *given == 0 ? uint32_t{PERF_ATTR_SIZE_VER0} : *given;
  if (size < PERF_ATTR_SIZE_VER0 || size > kLongest) return refuse_size();
  const auto bytes = driver::read_user_array<char>(address, size);
  if (!bytes) return -EFAULT;
  const auto known = static_cast<ptrdiff_t>(std::min<size_t>(size, sizeof attributes));
  if (std::any_of(bytes->begin() + known, bytes->end(), [](char each) { return each != 0; })) return refuse_size();
  std::copy_n(bytes->begin(), known, reinterpret_cast<char*>(&attributes));
  return 0;
}

}  // namespace

// Never destroyed: programs may call in exit handlers.
Monitor* Monitor::get() {
  static Monitor* const monitor = []() -> Monitor* {
    Paths* const paths = Paths::get();
    const spec::DeviceModel* const model = paths == nullptr ? nullptr : spec::find_device(paths->device());
    if (model == nullptr) return nullptr;
    Monitor* made = nullptr;
    static_cast<void>(completes([&] {
      auto board = driver::LoadBoard::open(paths->root() + kLoadFile);
      if (board) made = new Monitor(*model, std::move(board));
    }));
    // A child of fork must not inherit a lock that another thread holds.
    if (made != nullptr) {
      pthread_atfork([] { get()->groups_.guard().lock(); }, [] { get()->groups_.guard().unlock(); },
                     [] { get()->groups_.guard().unlock(); });
    }
    return made;
  }();
  return monitor;
}

// ---- events

int Monitor::check_attributes(const perf_event_attr& attributes) const {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  constexpr uint64_t kMaxFrequency = 100'000;
  if (attributes.__reserved_1 != 0 || attributes.__reserved_2 != 0 || attributes.__reserved_3 != 0) return -EINVAL;
  if ((attributes.sample_type & ~kLastSample) != 0 || (attributes.read_format & ~kLastFormat) != 0) return -EINVAL;
  if (attributes.inherit == 0 && attributes.inherit_thread != 0) return -EINVAL;
  if (attributes.exclude_kernel == 0 && denied() > 1 && !driver::may_monitor()) return -EACCES;
  if (attributes.freq != 0 ? attributes.sample_freq > kMaxFrequency : (attributes.sample_period & kSign) != 0) {
    return -EINVAL;
  }
  return 0;
}

// Checks what the event counts, on which CPU and for whom.
int Monitor::check_target(const perf_event_attr& attributes, const EventArguments& arguments) const {
  if (arguments.process < -1) return -ESRCH;
  if (arguments.process > 0 && kill(arguments.process, 0) != 0 && errno == ESRCH) return -ESRCH;
  const bool has_cpu = arguments.cpu >= 0 && arguments.cpu < sysconf(_SC_NPROCESSORS_CONF);
  if (!has_cpu && (arguments.process == -1 || arguments.cpu != -1)) return -EINVAL;
  if (attributes.sample_period != 0) return -EINVAL;
  if ((attributes.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0) return -EOPNOTSUPP;
  if (arguments.cpu != kPmuCpu) return -EINVAL;
  if (const int result = check_pmu_event(model_, attributes.config); result != 0) return result;
  constexpr std::array kClocks = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME, CLOCK_BOOTTIME, CLOCK_TAI};
  if (attributes.use_clockid != 0 && std::ranges::find(kClocks, attributes.clockid) == kClocks.end()) return -EINVAL;
  if (arguments.process != -1) return -EINVAL;  // nothing counts for one process
  return denied() > 0 && !driver::may_monitor() ? -EACCES : 0;
}

std::optional<int> Monitor::open_event(const EventArguments& arguments) {
  const auto type = driver::read_user<uint32_t>(arguments.attributes);
  const bool joins = arguments.leader != -1 && (arguments.flags & PERF_FLAG_FD_NO_GROUP) == 0;
  const bool joins_ours = arguments.leader != -1 && mark_of(arguments.leader) == kEventMark;
  if (!type) return std::nullopt;
  if (*type != kPmuType) return joins_ours ? std::optional(-EINVAL) : std::nullopt;
  return contain([&] {
    if ((arguments.flags & ~kFlags) != 0) return -EINVAL;
    if (denied() > 2 && !driver::may_monitor()) return -EACCES;
    perf_event_attr attributes{};
    if (const int result = read_attributes(arguments.attributes, attributes); result != 0) return result;
    if (const int result = check_attributes(attributes); result != 0) return result;
    if ((arguments.flags & PERF_FLAG_PID_CGROUP) != 0) return -EINVAL;
    if (arguments.leader != -1 && !joins_ours && !is_event_of_host(arguments.leader)) return -EBADF;
    if (const int result = check_target(attributes, arguments); result != 0) return result;
    if (arguments.leader != -1 && (!joins_ours || (arguments.flags & PERF_FLAG_FD_OUTPUT) != 0)) return -EINVAL;
    if (joins && (!PmuGroup::is_leader(arguments.leader) || attributes.pinned != 0 || attributes.exclusive != 0)) {
      return -EINVAL;
    }
    return groups_.open({.config = attributes.config,
                         .read_format = attributes.read_format,
                         .starts = attributes.disabled == 0,
                         .close_on_exec = (arguments.flags & PERF_FLAG_FD_CLOEXEC) != 0,
                         .leader = joins ? arguments.leader : -1});
  });
}

ssize_t Monitor::read_event(int descriptor, uint64_t address, size_t bytes) {
  return contain([&] {
    std::vector<uint64_t> words;
    if (const int result = groups_.read(descriptor, bytes, words); result != 0) return result;
    const size_t answer = words.size() * sizeof(uint64_t);
    return driver::write_user(address, words.data(), answer) ? static_cast<int>(answer) : -EFAULT;
  });
}

int Monitor::control_event(int descriptor, unsigned long request, uint64_t argument) {
  return contain([&] {
    switch (request) {
      case PERF_EVENT_IOC_ENABLE:
      case PERF_EVENT_IOC_DISABLE:
      case PERF_EVENT_IOC_RESET:
        return groups_.control(descriptor, request, (argument & PERF_IOC_FLAG_GROUP) != 0);
      case PERF_EVENT_IOC_ID: {
        const std::optional<uint64_t> id = groups_.id(descriptor);
        if (!id) return -EIO;
        return driver::write_user(argument, &*id, sizeof *id) ? 0 : -EFAULT;
      }
      case PERF_EVENT_IOC_PERIOD:
        return driver::read_user<uint64_t>(argument) ? -EINVAL : -EFAULT;
      case PERF_EVENT_IOC_SET_OUTPUT:
        return static_cast<int>(argument) == -1 ? 0 : -EINVAL;
      case PERF_EVENT_IOC_REFRESH:
      case PERF_EVENT_IOC_SET_FILTER:
      case PERF_EVENT_IOC_SET_BPF:
      case PERF_EVENT_IOC_PAUSE_OUTPUT:
      case PERF_EVENT_IOC_QUERY_BPF:
      case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
        return -EINVAL;
      default:
        return -ENOTTY;
    }
  });
}

ssize_t read_event(int descriptor, void* into, size_t bytes) {
  Monitor* const monitor = Monitor::get();
  const ssize_t result =
      monitor == nullptr ? -EIO : monitor->read_event(descriptor, reinterpret_cast<uintptr_t>(into), bytes);
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

// ---- nodes

std::optional<NodeKind> Monitor::node(const driver::FileKey& file) const {
  const auto client = board_->find(file);
  if (!client) return std::nullopt;
  return client->minor == minor_of(NodeKind::card) ? NodeKind::card : NodeKind::render;
}

std::optional<int> Monitor::open_info(const std::string& path, int flags) {
  const int error = errno;
  const std::string file = path_of_file(path);
  struct stat info {};
  std::optional<driver::ClientTimes> client;
  if (!file.empty() && syscall(SYS_newfstatat, AT_FDCWD, file.c_str(), &info, 0) == 0 && S_ISSOCK(info.st_mode)) {
    client = board_->find({info.st_dev, info.st_ino});
  }
  errno = error;
  if (!client) return std::nullopt;
  const std::string text = lines_of_file(text_of(path.c_str())) + client_info(model_, *client);
  const int made = memfd_create("fdinfo", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0);
  if (made < 0) return -errno;
  const bool whole = syscall(SYS_pwrite64, made, text.data(), text.size(), off_t{0}) == static_cast<long>(text.size());
  if (whole) return made;
  syscall(SYS_close, made);
  return -ENOMEM;
}

}  // namespace halogen::shim
