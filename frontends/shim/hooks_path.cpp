// Calls of the C library that take a path: redirects paths into the tree.
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "door.h"
#include "limit_files.h"
#include "monitor.h"
#include "next.h"
#include "paths.h"
#include "polling.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::shim::Door;
using halogen::shim::Monitor;
using halogen::shim::NodeKind;
using halogen::shim::PathBuffer;
using halogen::shim::Paths;
using halogen::shim::RedirectedPath;

namespace {

std::optional<NodeKind> node_of_open_file(const char* path) {
  const std::optional<int> descriptor = halogen::shim::open_file_of(path);
  if (!descriptor) return std::nullopt;
  Door* const door = Door::get();
  const auto node = door == nullptr ? nullptr : door->find(*descriptor);
  return node ? std::optional(node->kind) : std::nullopt;
}

int open_node(NodeKind kind, int flags) {
  const int result = Door::get()->open(kind, flags);
  if (result >= 0) return result;
  errno = -result;
  return -1;
}

// Opens the text about an open node. No value: the path names another file.
std::optional<int> open_info(int folder, const char* path, int flags) {
  const std::string whole = halogen::shim::info_path(folder, path);
  Monitor* const monitor = whole.empty() || (flags & O_ACCMODE) != O_RDONLY ? nullptr : Monitor::get();
  const std::optional<int> result = monitor == nullptr ? std::nullopt : monitor->open_info(whole, flags);
  if (!result || *result >= 0) return result;
  errno = -*result;
  return -1;
}

int open_at(int folder, const char* path, int flags, mode_t mode) {
  const auto real = HALOGEN_NEXT(int(int, const char*, int, ...), "openat");
  Paths* const paths = Paths::get();
  if (paths == nullptr) return real(folder, path, flags, mode);
  if (const auto info = open_info(folder, path, flags)) return *info;
  if (const auto kind = node_of_open_file(path)) return open_node(*kind, flags);
  const RedirectedPath redirected(folder, path);
  const bool writes =
      (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0 && redirected != path && paths->is_of_sys(redirected);
  const int descriptor = real(folder, redirected, writes ? flags & ~O_TRUNC : flags, mode);
  if (descriptor < 0 || (flags & O_PATH) != 0) return descriptor;
  struct stat info {};
  if (syscall(SYS_fstat, descriptor, &info) != 0) return descriptor;
  const bool is_limit = writes && halogen::shim::may_write_limits() && paths->limit(info).has_value();
  if (writes && !is_limit && !paths->is_control(info)) {
    close(descriptor);
    errno = EACCES;
    return -1;
  }
  if (writes) fcntl(descriptor, F_SETSIG, is_limit ? halogen::shim::kLimitMark : halogen::shim::kControlMark);
  const std::optional<NodeKind> kind = paths->node(info);
  if (!kind) return descriptor;
  close(descriptor);
  return open_node(*kind, flags);
}

mode_t mode_of(int flags, va_list list) {
  const bool given = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return given ? va_arg(list, mode_t) : 0;
}

ssize_t link_of_node(const char* path, char* into, size_t bytes) {
  const std::optional<NodeKind> kind = node_of_open_file(path);
  if (!kind) return -1;
  const char* const name = *kind == NodeKind::card ? "/dev/dri/card0" : "/dev/dri/renderD128";
  const size_t length = std::min(std::strlen(name), bytes);
  std::memcpy(into, name, length);  // NOLINT(bugprone-not-null-terminated-result): like readlink(2)
  return static_cast<ssize_t>(length);
}

// Replaces a path in the tree by the path that the program expects.
char* with_original_path(char* path) {
  Paths* const paths = Paths::get();
  if (path == nullptr || paths == nullptr) return path;
  const char* const original = paths->original(path);
  if (original != path) std::memmove(path, original, std::strlen(original) + 1);
  return path;
}

}  // namespace

#define HALOGEN_MODE(flags)                 \
  va_list list;                             \
  va_start(list, flags);                    \
  const mode_t mode = mode_of(flags, list); \
  va_end(list)

HALOGEN_EXPORT int open(const char* path, int flags, ...) {
  HALOGEN_MODE(flags);
  return open_at(AT_FDCWD, path, flags, mode);
}
HALOGEN_EXPORT int open64(const char* path, int flags, ...) {
  HALOGEN_MODE(flags);
  return open_at(AT_FDCWD, path, flags, mode);
}
HALOGEN_EXPORT int openat(int folder, const char* path, int flags, ...) {
  HALOGEN_MODE(flags);
  return open_at(folder, path, flags, mode);
}
HALOGEN_EXPORT int openat64(int folder, const char* path, int flags, ...) {
  HALOGEN_MODE(flags);
  return open_at(folder, path, flags, mode);
}
HALOGEN_EXPORT int __open_2(const char* path, int flags) {
  return open_at(AT_FDCWD, path, flags, 0);
}
HALOGEN_EXPORT int __open64_2(const char* path, int flags) {
  return open_at(AT_FDCWD, path, flags, 0);
}
HALOGEN_EXPORT int __openat_2(int folder, const char* path, int flags) {
  return open_at(folder, path, flags, 0);
}
HALOGEN_EXPORT int __openat64_2(int folder, const char* path, int flags) {
  return open_at(folder, path, flags, 0);
}

// Opens a node, or the text about one, as a stream. Null: another file.
static FILE* open_stream(const char* path, const char* mode) {
  Paths* const paths = Paths::get();
  if (paths == nullptr || path == nullptr || mode == nullptr) return nullptr;
  if (mode[0] == 'r' && std::strchr(mode, '+') == nullptr) {
    const int flags = std::strchr(mode, 'e') != nullptr ? O_RDONLY | O_CLOEXEC : O_RDONLY;
    if (const auto info = open_info(AT_FDCWD, path, flags)) return *info < 0 ? nullptr : fdopen(*info, mode);
  }
  std::optional<NodeKind> kind = node_of_open_file(path);
  if (!kind) {
    PathBuffer buffer;
    struct stat info {};
    const char* const redirected = paths->redirect(path, buffer);
    if (redirected == path || syscall(SYS_newfstatat, AT_FDCWD, redirected, &info, 0) != 0) return nullptr;
    kind = paths->node(info);
  }
  if (!kind) return nullptr;
  const int descriptor = open_node(*kind, O_RDWR | (std::strchr(mode, 'e') != nullptr ? O_CLOEXEC : 0));
  return descriptor < 0 ? nullptr : fdopen(descriptor, mode);
}

// Opens a file with a limit for writing. Null: another file, or it is opened for reading.
static FILE* open_limit_stream(const char* path, const char* redirected, const char* mode) {
  if (Paths::get() == nullptr || redirected == path || mode == nullptr || mode[0] != 'w') return nullptr;
  return halogen::shim::open_limit(redirected);
}

// Returns whether the path is a file of /sys that cannot be opened as a stream for writing. Sets errno.
static bool is_refused(const char* path, const char* redirected, const char* mode) {
  Paths* const paths = Paths::get();
  if (paths == nullptr || redirected == path || mode == nullptr || std::strpbrk(mode, "wa+") == nullptr) return false;
  if (!paths->is_of_sys(redirected)) return false;
  errno = EACCES;
  return true;
}

HALOGEN_EXPORT FILE* fopen(const char* path, const char* mode) {
  if (FILE* const stream = open_stream(path, mode)) return stream;
  if (FILE* const stream = open_limit_stream(path, RedirectedPath(path), mode)) return stream;
  if (is_refused(path, RedirectedPath(path), mode)) return nullptr;
  return HALOGEN_NEXT(FILE * (const char*, const char*), "fopen")(RedirectedPath(path), mode);
}
HALOGEN_EXPORT FILE* fopen64(const char* path, const char* mode) {
  if (FILE* const stream = open_stream(path, mode)) return stream;
  if (FILE* const stream = open_limit_stream(path, RedirectedPath(path), mode)) return stream;
  if (is_refused(path, RedirectedPath(path), mode)) return nullptr;
  return HALOGEN_NEXT(FILE * (const char*, const char*), "fopen64")(RedirectedPath(path), mode);
}
HALOGEN_EXPORT FILE* freopen(const char* path, const char* mode, FILE* file) {
  return HALOGEN_NEXT(FILE * (const char*, const char*, FILE*), "freopen")(RedirectedPath(path), mode, file);
}

HALOGEN_EXPORT int access(const char* path, int mode) noexcept {
  return HALOGEN_NEXT(int(const char*, int), "access")(RedirectedPath(path), mode);
}
HALOGEN_EXPORT int eaccess(const char* path, int mode) noexcept {
  return HALOGEN_NEXT(int(const char*, int), "eaccess")(RedirectedPath(path), mode);
}
HALOGEN_EXPORT int euidaccess(const char* path, int mode) noexcept {
  return HALOGEN_NEXT(int(const char*, int), "euidaccess")(RedirectedPath(path), mode);
}
HALOGEN_EXPORT int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  return HALOGEN_NEXT(int(int, const char*, int, int), "faccessat")(folder, RedirectedPath(folder, path), mode, flags);
}

HALOGEN_EXPORT ssize_t readlink(const char* path, char* into, size_t bytes) noexcept {
  if (const ssize_t length = link_of_node(path, into, bytes); length >= 0) return length;
  return HALOGEN_NEXT(ssize_t(const char*, char*, size_t), "readlink")(RedirectedPath(path), into, bytes);
}
HALOGEN_EXPORT ssize_t readlinkat(int folder, const char* path, char* into, size_t bytes) noexcept {
  if (const ssize_t length = link_of_node(path, into, bytes); length >= 0) return length;
  return HALOGEN_NEXT(ssize_t(int, const char*, char*, size_t), "readlinkat")(folder, RedirectedPath(folder, path),
                                                                              into, bytes);
}
HALOGEN_EXPORT ssize_t __readlink_chk(const char* path, char* into, size_t bytes, size_t room) {
  if (bytes > room) abort();
  return readlink(path, into, bytes);
}
HALOGEN_EXPORT ssize_t __readlinkat_chk(int folder, const char* path, char* into, size_t bytes, size_t room) {
  if (bytes > room) abort();
  return readlinkat(folder, path, into, bytes);
}

HALOGEN_EXPORT char* realpath(const char* path, char* into) noexcept {
  return with_original_path(HALOGEN_NEXT(char*(const char*, char*), "realpath")(RedirectedPath(path), into));
}
HALOGEN_EXPORT char* __realpath_chk(const char* path, char* into, size_t room) {
  if (room < PATH_MAX) abort();
  return realpath(path, into);
}
HALOGEN_EXPORT char* canonicalize_file_name(const char* path) noexcept {
  return realpath(path, nullptr);
}

template <class List>
static int find_all(const char* pattern, int flags, int (*failed)(const char*, int), List* result,
                    int (*real)(const char*, int, int (*)(const char*, int), List*)) {
  const int status = real(RedirectedPath(pattern), flags, failed, result);
  if (status == 0) {
    for (size_t i = 0; i < result->gl_pathc; ++i) {
      with_original_path(result->gl_pathv[result->gl_offs * ((flags & GLOB_DOOFFS) != 0) + i]);
    }
  }
  return status;
}

HALOGEN_EXPORT int glob(const char* pattern, int flags, int (*failed)(const char*, int), glob_t* result) noexcept {
  return find_all(pattern, flags, failed, result,
                  HALOGEN_NEXT(int(const char*, int, int (*)(const char*, int), glob_t*), "glob"));
}
HALOGEN_EXPORT int glob64(const char* pattern, int flags, int (*failed)(const char*, int), glob64_t* result) noexcept {
  return find_all(pattern, flags, failed, result,
                  HALOGEN_NEXT(int(const char*, int, int (*)(const char*, int), glob64_t*), "glob64"));
}
