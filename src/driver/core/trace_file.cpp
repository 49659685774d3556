#include "driver/core/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/json.h"

namespace halogen::driver {
namespace {

constexpr std::string_view kTail = "\n]}\n";
constexpr std::string_view kHead = kEmptyEvents.substr(0, kEmptyEvents.size() - kTail.size());

bool write_all(int descriptor, std::string_view text, uint64_t at) {
  while (!text.empty()) {
    const ssize_t part = pwrite(descriptor, text.data(), text.size(), static_cast<off_t>(at));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    text.remove_prefix(static_cast<size_t>(part));
    at += static_cast<uint64_t>(part);
  }
  return true;
}

}  // namespace

std::string TraceFile::microseconds(uint64_t nanoseconds) {
  return fmt::format("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000);
}

void TraceFile::add(std::string_view members) {
  fmt::format_to(std::back_inserter(text_), "\n{{\"pid\":{},{}}},", getpid(), members);
}

void TraceFile::add_process_name(std::string_view device) {
  const std::string name = fmt::format("{} ({})", program_invocation_short_name, device);
  add(fmt::format(R"("name":"process_name","ph":"M","tid":0,"args":{{"name":{}}})", json_quote(name)));
}

void TraceFile::add_track_name(unsigned track, std::string_view name) {
  add(fmt::format(R"("name":"thread_name","ph":"M","tid":{},"args":{{"name":{}}})", track, json_quote(name)));
}

Result<void> TraceFile::flush() {
  if (text_.empty()) return {};
  std::string text = std::exchange(text_, {});
  text.pop_back();  // the last comma
  const int descriptor = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return Error{fmt::format("{}: {}", file_, std::strerror(errno))};
  // The lock belongs to this process, so a child does not inherit it, and it ends with the process.
  struct flock whole_file {};
  whole_file.l_type = F_WRLCK;
  while (fcntl(descriptor, F_SETLKW, &whole_file) != 0 && errno == EINTR) {
  }
  struct stat info {};
  fstat(descriptor, &info);
  const auto size = static_cast<uint64_t>(info.st_size);
  const bool begun = size >= kHead.size() + kTail.size();
  const uint64_t at = begun ? size - kTail.size() : 0;
  const std::string whole = std::string(!begun ? kHead : at == kHead.size() ? "" : ",") + text + std::string(kTail);
  const bool done = write_all(descriptor, whole, at);
  const int error = errno;
  if (!done && ftruncate(descriptor, info.st_size) == 0 && begun) write_all(descriptor, kTail, at);
  close(descriptor);  // releases the lock
  if (!done) return Error{fmt::format("{}: {}", file_, std::strerror(error))};
  return {};
}

}  // namespace halogen::driver
