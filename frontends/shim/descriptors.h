// The library's own descriptors: away from the lowest numbers, which the program expects to get, and marked.
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#include "driver/gem/file_key.h"
#include "driver/share/private_descriptor.h"

namespace halogen::shim {

// Makes the host's descriptor table grow to those numbers while the process has one thread. With several threads the
// host would wait for all CPUs, about ten milliseconds.
inline void make_room() {
  const long any = syscall(SYS_openat, AT_FDCWD, "/", O_PATH | O_CLOEXEC);
  if (any < 0) return;
  const int high = driver::keep_private(static_cast<int>(any));
  syscall(SYS_close, high);
}

inline bool is_private(int descriptor) {
  return fcntl(descriptor, F_GETSIG) == driver::kPrivateMark;
}

// Calls a function for each of our descriptors in this process, in any order. Needs neither memory nor locks, so it
// works after a fork.
template <class Function>
void for_each_private(Function function) {
  const auto folder =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder < 0) return;
  struct Entry {
    ino64_t number;
    off64_t next;
    unsigned short bytes;
    unsigned char type;
    char name[1];
  };
  alignas(Entry) char buffer[4096];
  for (long got = 0; (got = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0;) {
    for (long at = 0; at < got;) {
      const auto* const entry = reinterpret_cast<const Entry*>(buffer + at);
      at += entry->bytes;
      int number = 0;
      const char* digit = entry->name;
      for (; *digit >= '0' && *digit <= '9'; ++digit) number = number * 10 + (*digit - '0');
      if (digit == entry->name || *digit != '\0' || number == folder) continue;
      if (is_private(number)) function(number);
    }
  }
  syscall(SYS_close, folder);
}

}  // namespace halogen::shim
