// Which open file a descriptor means, whatever its number and in whichever process.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace halogen::driver {

using FileKey = std::pair<uint64_t, uint64_t>;  // the file system and the file's number in it

// Descriptors of ours carry a mark that copies keep, in every process: the signal that they would send if anybody asked
// them to send one (F_SETSIG).
inline constexpr int kSyncFileMark = 61;
inline constexpr int kNodeMark = kSyncFileMark - 1;
inline constexpr int kSharedBufferMark = kSyncFileMark - 2;
inline constexpr int kSyncObjectMark = kSyncFileMark - 3;
inline constexpr int kPrivateMark = kSyncFileMark - 4;  // the driver's own: no program has or sees them

inline std::optional<FileKey> key_of(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return std::nullopt;
  return FileKey(status.st_dev, status.st_ino);
}

}  // namespace halogen::driver
