// The stat family: nodes look like DRM character devices, debugfs looks mounted.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>

#include "door.h"
#include "monitor.h"
#include "next.h"
#include "paths.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::shim::Door;
using halogen::shim::kDrmMajor;
using halogen::shim::minor_of;
using halogen::shim::Monitor;
using halogen::shim::Node;
using halogen::shim::NodeKind;
using halogen::shim::PathBuffer;
using halogen::shim::Paths;

namespace {

static_assert(sizeof(struct stat) == sizeof(struct stat64));

constexpr mode_t kNodeMode = S_IFCHR | 0666;

// Corrects the result of any stat call.
int corrected(int status, void* answer, int descriptor) {
  Paths* const paths = Paths::get();
  if (status != 0 || paths == nullptr) return status;
  struct stat info;
  std::memcpy(&info, answer, sizeof info);
  std::optional<NodeKind> kind = paths->node(info);
  if (!kind && descriptor >= 0 && S_ISSOCK(info.st_mode)) {
    Door* const door = Door::get();
    if (const std::shared_ptr<Node> node = door == nullptr ? nullptr : door->find(descriptor)) kind = node->kind;
  } else if (!kind && S_ISSOCK(info.st_mode)) {  // a file of /proc/PID/fd
    if (const Monitor* const monitor = Monitor::get()) kind = monitor->node({info.st_dev, info.st_ino});
  }
  if (kind) {
    info.st_mode = kNodeMode;
    info.st_rdev = makedev(kDrmMajor, minor_of(*kind));
    info.st_size = 0;
  } else if (paths->is_debug_root(info)) {
    ++info.st_dev;
  } else if (descriptor >= 0 && S_ISREG(info.st_mode) && info.st_nlink == 0 &&
             fcntl(descriptor, F_GETSIG) == halogen::driver::kSharedBufferMark) {
    info.st_size -= static_cast<off_t>(halogen::driver::Buffer::kBehind);
  } else {
    return status;
  }
  std::memcpy(answer, &info, sizeof info);
  return status;
}

const char* redirected(const char* path, PathBuffer& buffer) {
  Paths* const paths = Paths::get();
  return paths == nullptr ? path : paths->redirect(path, buffer);
}
const char* redirected_at(int folder, const char* path, PathBuffer& buffer) {
  Paths* const paths = Paths::get();
  return paths == nullptr ? path : paths->redirect_at(folder, path, buffer);
}

// "" with AT_EMPTY_PATH means the descriptor itself.
int itself(int folder, const char* path, int flags) {
  return (flags & AT_EMPTY_PATH) != 0 && (path == nullptr || *path == '\0') ? folder : -1;
}

using StatPath = int(const char*, void*);
using OldStatPath = int(int, const char*, void*);

int stat_path(StatPath* real, const char* path, void* answer) {
  PathBuffer buffer;
  return corrected(real(redirected(path, buffer), answer), answer, -1);
}
int old_stat_path(OldStatPath* real, int version, const char* path, void* answer) {
  PathBuffer buffer;
  return corrected(real(version, redirected(path, buffer), answer), answer, -1);
}

}  // namespace

HALOGEN_EXPORT int stat(const char* path, struct stat* answer) noexcept {
  return stat_path(HALOGEN_NEXT(StatPath, "stat"), path, answer);
}
HALOGEN_EXPORT int stat64(const char* path, struct stat64* answer) noexcept {
  return stat_path(HALOGEN_NEXT(StatPath, "stat64"), path, answer);
}
HALOGEN_EXPORT int lstat(const char* path, struct stat* answer) noexcept {
  return stat_path(HALOGEN_NEXT(StatPath, "lstat"), path, answer);
}
HALOGEN_EXPORT int lstat64(const char* path, struct stat64* answer) noexcept {
  return stat_path(HALOGEN_NEXT(StatPath, "lstat64"), path, answer);
}
HALOGEN_EXPORT int fstat(int descriptor, struct stat* answer) noexcept {
  return corrected(HALOGEN_NEXT(int(int, void*), "fstat")(descriptor, answer), answer, descriptor);
}
HALOGEN_EXPORT int fstat64(int descriptor, struct stat64* answer) noexcept {
  return corrected(HALOGEN_NEXT(int(int, void*), "fstat64")(descriptor, answer), answer, descriptor);
}
HALOGEN_EXPORT int fstatat(int folder, const char* path, struct stat* answer, int flags) noexcept {
  PathBuffer buffer;
  const auto real = HALOGEN_NEXT(int(int, const char*, void*, int), "fstatat");
  return corrected(real(folder, redirected_at(folder, path, buffer), answer, flags), answer,
                   itself(folder, path, flags));
}
HALOGEN_EXPORT int fstatat64(int folder, const char* path, struct stat64* answer, int flags) noexcept {
  PathBuffer buffer;
  const auto real = HALOGEN_NEXT(int(int, const char*, void*, int), "fstatat64");
  return corrected(real(folder, redirected_at(folder, path, buffer), answer, flags), answer,
                   itself(folder, path, flags));
}

// Functions for programs that were linked before glibc 2.33.
HALOGEN_EXPORT int __xstat(int version, const char* path, struct stat* answer) noexcept {
  return old_stat_path(HALOGEN_NEXT(OldStatPath, "__xstat"), version, path, answer);
}
HALOGEN_EXPORT int __xstat64(int version, const char* path, struct stat64* answer) noexcept {
  return old_stat_path(HALOGEN_NEXT(OldStatPath, "__xstat64"), version, path, answer);
}
HALOGEN_EXPORT int __lxstat(int version, const char* path, struct stat* answer) noexcept {
  return old_stat_path(HALOGEN_NEXT(OldStatPath, "__lxstat"), version, path, answer);
}
HALOGEN_EXPORT int __lxstat64(int version, const char* path, struct stat64* answer) noexcept {
  return old_stat_path(HALOGEN_NEXT(OldStatPath, "__lxstat64"), version, path, answer);
}
HALOGEN_EXPORT int __fxstat(int version, int descriptor, struct stat* answer) noexcept {
  return corrected(HALOGEN_NEXT(int(int, int, void*), "__fxstat")(version, descriptor, answer), answer, descriptor);
}
HALOGEN_EXPORT int __fxstat64(int version, int descriptor, struct stat64* answer) noexcept {
  return corrected(HALOGEN_NEXT(int(int, int, void*), "__fxstat64")(version, descriptor, answer), answer, descriptor);
}
HALOGEN_EXPORT int __fxstatat(int version, int folder, const char* path, struct stat* answer, int flags) noexcept {
  PathBuffer buffer;
  const auto real = HALOGEN_NEXT(int(int, int, const char*, void*, int), "__fxstatat");
  return corrected(real(version, folder, redirected_at(folder, path, buffer), answer, flags), answer,
                   itself(folder, path, flags));
}
HALOGEN_EXPORT int __fxstatat64(int version, int folder, const char* path, struct stat64* answer, int flags) noexcept {
  PathBuffer buffer;
  const auto real = HALOGEN_NEXT(int(int, int, const char*, void*, int), "__fxstatat64");
  return corrected(real(version, folder, redirected_at(folder, path, buffer), answer, flags), answer,
                   itself(folder, path, flags));
}

HALOGEN_EXPORT int statx(int folder, const char* path, int flags, unsigned mask, struct statx* answer) noexcept {
  PathBuffer buffer;
  const char* const real_path = redirected_at(folder, path, buffer);
  const auto real = HALOGEN_NEXT(int(int, const char*, int, unsigned, struct statx*), "statx");
  const int status = real(folder, real_path, flags, mask, answer);
  if (status != 0 || Paths::get() == nullptr) return status;
  struct stat info {};
  info.st_dev = makedev(answer->stx_dev_major, answer->stx_dev_minor);
  info.st_ino = answer->stx_ino;
  info.st_mode = answer->stx_mode;
  corrected(0, &info, itself(folder, path, flags));
  answer->stx_mode = static_cast<uint16_t>(info.st_mode);
  if (info.st_rdev != 0) {
    answer->stx_rdev_major = major(info.st_rdev);
    answer->stx_rdev_minor = minor(info.st_rdev);
  }
  return status;
}

// Files of /sys report the file system type sysfs.
namespace {

constexpr long kSysfs = 0x62656572, kDebugfs = 0x64626720;

int stat_file_system(int status, const char* path, bool is_redirected, void* answer) {
  if (status != 0 || !is_redirected) return status;
  struct statfs info;
  std::memcpy(&info, answer, sizeof info);
  if (std::strncmp(path, "/sys/kernel/debug", 17) == 0) {
    info.f_type = kDebugfs;
  } else if (std::strncmp(path, "/sys", 4) == 0) {
    info.f_type = kSysfs;
  }
  std::memcpy(answer, &info, sizeof info);
  return status;
}

}  // namespace

HALOGEN_EXPORT int statfs(const char* path, struct statfs* answer) noexcept {
  PathBuffer buffer;
  const char* const used = redirected(path, buffer);
  return stat_file_system(HALOGEN_NEXT(int(const char*, void*), "statfs")(used, answer), path, used != path, answer);
}
HALOGEN_EXPORT int statfs64(const char* path, struct statfs64* answer) noexcept {
  PathBuffer buffer;
  const char* const used = redirected(path, buffer);
  return stat_file_system(HALOGEN_NEXT(int(const char*, void*), "statfs64")(used, answer), path, used != path, answer);
}
HALOGEN_EXPORT int fstatfs(int descriptor, struct statfs* answer) noexcept {
  const int status = HALOGEN_NEXT(int(int, void*), "fstatfs")(descriptor, answer);
  Paths* const paths = Paths::get();
  const std::string place = status != 0 || paths == nullptr ? std::string() : paths->path_in_tree(descriptor);
  return stat_file_system(status, place.c_str(), !place.empty(), answer);
}
HALOGEN_EXPORT int fstatfs64(int descriptor, struct statfs64* answer) noexcept {
  const int status = HALOGEN_NEXT(int(int, void*), "fstatfs64")(descriptor, answer);
  Paths* const paths = Paths::get();
  const std::string place = status != 0 || paths == nullptr ? std::string() : paths->path_in_tree(descriptor);
  return stat_file_system(status, place.c_str(), !place.empty(), answer);
}
