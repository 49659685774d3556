#include "driver/share/sealed_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

namespace halogen::driver {
namespace {

// Without F_SEAL_SEAL, a process could later add a seal against writing.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

int create_sealed_file(const char* name, uint64_t bytes) {
  const int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0 && fcntl(file, F_ADD_SEALS, kSeals) == 0) return file;
  const int error = errno;
  close(file);
  errno = error;
  return -1;
}

int reopen_file(int descriptor) {
  return ::open(fmt::format("/proc/self/fd/{}", descriptor).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

// Files of huge pages are refused, because parts of a huge page cannot be mapped.
bool is_sealed_file(int descriptor) {
  struct statfs info {};
  const int seals = fcntl(descriptor, F_GET_SEALS);
  return seals >= 0 && (seals & (kSeals | F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == kSeals &&
         fstatfs(descriptor, &info) == 0 && info.f_type == TMPFS_MAGIC;
}

}  // namespace halogen::driver
