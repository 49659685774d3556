// Identifies the open file behind a descriptor, independent of number and process.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

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

inline std::optional<FileKey> key_of(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return FileKey(status.st_dev, status.st_ino);
}

}  // namespace halogen::driver
