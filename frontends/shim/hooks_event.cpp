// syscall(2): programs call perf_event_open(2) through it. All other calls go to the host.
//
// Not supported: programs that make the system call themselves, without the C library.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "monitor.h"
#include "next.h"
#include "paths.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::shim::Monitor;
using halogen::shim::Paths;

namespace {

constexpr unsigned kMaxArguments = 6;  // of a system call

// Returns a result, with errno, or no value: the host handles the call.
std::optional<long> open_event(const long (&values)[kMaxArguments]) {
  Monitor* const monitor = Paths::get() == nullptr ? nullptr : Monitor::get();
  if (monitor == nullptr) return std::nullopt;
  const std::optional<int> result = monitor->open_event({.attributes = static_cast<uint64_t>(values[0]),
                                                         .process = static_cast<pid_t>(values[1]),
                                                         .cpu = static_cast<int>(values[2]),
                                                         .leader = static_cast<int>(values[3]),
                                                         .flags = static_cast<unsigned long>(values[4])});
  if (!result || *result >= 0) return result;
  errno = -*result;
  return -1;
}

}  // namespace

// A caller that passes fewer arguments has no memory of its own at the place of the last one.
HALOGEN_EXPORT __attribute__((no_sanitize_address)) long syscall(long number, ...) noexcept {
  long values[kMaxArguments];
  va_list list;
  va_start(list, number);
  for (long& each : values) each = va_arg(list, long);  // more than a call has does no harm
  va_end(list);
  if (number == SYS_perf_event_open) {
    if (const std::optional<long> result = open_event(values)) return *result;
  }
  return HALOGEN_NEXT(long(long, long, long, long, long, long, long), "syscall")(
      number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
