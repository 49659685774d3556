// memcpy and memset for parts of a page. GCC knows that such a part has at most 4096 bytes and then expands the call to
// `rep movs`, which takes tens of nanoseconds to start; the library's routine is far better at small sizes. A cache
// line, the most common size, is copied in place.
#pragma once

#include <cstddef>
#include <cstring>

namespace halogen::memory {

inline void copy_bytes(std::byte* to, const std::byte* from, size_t bytes) {
  constexpr size_t kCacheLine = 64;
  if (bytes == kCacheLine) {
    std::memcpy(to, from, kCacheLine);
    return;
  }
  if (bytes == 0) {
    return;
  }
  asm("" : "+r"(bytes));  // hides the bound
  std::memcpy(to, from, bytes);
}

inline void clear_bytes(std::byte* to, size_t bytes) {
  asm("" : "+r"(bytes));
  std::memset(to, 0, bytes);
}

}  // namespace halogen::memory
