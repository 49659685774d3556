#include "limit_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "paths.h"
#include "spec/device_model.h"
#include "spec/interface_model.h"

namespace halogen::shim {
namespace {

// Returns the largest value of a limit.
uint64_t max_of(size_t limit) {
  if (limit == 0) return 1;
  const spec::DeviceModel* const model = spec::find_device(Paths::get()->device());
  return model != nullptr && spec::interface_of(model->id).perf ? model->timestamp_hz / 2 : 0;
}

ssize_t write_stream(void* cookie, const char* text, size_t bytes) {
  const ssize_t written = write_limit(static_cast<int>(reinterpret_cast<intptr_t>(cookie)), text, bytes);
  return written < 0 ? 0 : written;  // 0 is an error here
}

int close_stream(void* cookie) {
  return static_cast<int>(syscall(SYS_close, static_cast<int>(reinterpret_cast<intptr_t>(cookie))));
}

}  // namespace

bool may_write_limits() {
  return geteuid() == 0;
}

ssize_t write_limit(int descriptor, const void* text, size_t bytes) {
  struct stat info {};
  const auto limit = syscall(SYS_fstat, descriptor, &info) == 0 ? Paths::get()->limit(info) : std::optional<size_t>{};
  std::string_view number(static_cast<const char*>(text), bytes);
  constexpr std::string_view kSpace = " \t\n";
  number.remove_prefix(std::min(number.find_first_not_of(kSpace), number.size()));
  number = number.substr(0, number.find_first_of(kSpace));
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (!limit || error != std::errc{} || end != number.data() + number.size() || value > max_of(*limit)) {
    errno = EINVAL;
    return -1;
  }
  char line[32];
  const int length = snprintf(line, sizeof line, "%llu\n", static_cast<unsigned long long>(value));
  const auto line_bytes = static_cast<size_t>(length);
  if (syscall(SYS_pwrite64, descriptor, line, line_bytes, 0) != length) return -1;
  if (syscall(SYS_ftruncate, descriptor, length) != 0) return -1;
  return static_cast<ssize_t>(bytes);
}

FILE* open_limit(const char* path) {
  struct stat info {};
  const int before = errno;
  const bool fits = syscall(SYS_newfstatat, AT_FDCWD, path, &info, 0) == 0 && Paths::get()->limit(info).has_value();
  errno = before;
  if (!fits || !may_write_limits()) return nullptr;
  const long descriptor = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  // The cookie of the stream is its descriptor.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return fopencookie(reinterpret_cast<void*>(descriptor), "w",
                     {.read = nullptr, .write = write_stream, .seek = nullptr, .close = close_stream});
}

}  // namespace halogen::shim
