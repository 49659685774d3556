#include "driver/perf/perf_limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

#include "driver/share/private_descriptor.h"

namespace halogen::driver {

uint64_t PerfLimits::value_of(const char* file, uint64_t usual) const {
  if (folder_.empty()) return usual;
  const std::string path = folder_ + "/" + file;
  const int opened = open_private([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); });
  if (opened < 0) return usual;
  char text[32];
  const ssize_t got = ::read(opened, text, sizeof text);
  ::close(opened);
  uint64_t value = usual;
  if (got > 0) std::from_chars(text, text + got, value);
  return value;
}

}  // namespace halogen::driver
