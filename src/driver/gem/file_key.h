// Identifies the open file behind a descriptor, independent of number and process.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace halogen::driver {

using FileKey = std::pair<uint64_t, uint64_t>;  // device and inode

// Our descriptors carry a mark that their copies keep in every process: the signal number for asynchronous I/O
// (F_SETSIG), which is otherwise unused.
inline constexpr int kSyncFileMark = 61;
inline constexpr int kNodeMark = kSyncFileMark - 1;
inline constexpr int kSharedBufferMark = kSyncFileMark - 2;
inline constexpr int kSyncObjectMark = kSyncFileMark - 3;
inline constexpr int kStreamMark = kSyncFileMark - 6;   // of performance counters
inline constexpr int kPrivateMark = kSyncFileMark - 4;  // the driver's own: hidden from programs

// Does not ask the file system: a client chooses it, and may let it never answer.
inline std::optional<FileKey> key_of(int descriptor) {
  struct statx status {};
  if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status) != 0) return std::nullopt;
  return FileKey(makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino);
}

}  // namespace halogen::driver
