// Memory that a program returns to the C library, which unmaps or moves large blocks by internal calls. Waits for work
// of the device on lent memory there, as before munmap(2).
//
// Not covered: stacks of threads that end.
#include <malloc.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdint>

#include "door.h"
#include "driver/gem/lent_memory.h"
#include "next.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::driver::LentMemory;
using halogen::shim::Door;

namespace {

void settle(void* memory) {
  if (memory == nullptr || !LentMemory::any()) return;
  const size_t bytes = malloc_usable_size(memory);
  if (!LentMemory::is_near(reinterpret_cast<uintptr_t>(memory), bytes)) return;
  const int error = errno;
  Door::settle(memory, bytes);
  errno = error;
}

}  // namespace

HALOGEN_EXPORT void free(void* memory) noexcept {
  settle(memory);
  HALOGEN_NEXT(void(void*), "free")(memory);
}
HALOGEN_EXPORT void* realloc(void* memory, size_t bytes) noexcept {
  settle(memory);
  return HALOGEN_NEXT(void*(void*, size_t), "realloc")(memory, bytes);
}
HALOGEN_EXPORT void* reallocarray(void* memory, size_t count, size_t bytes) noexcept {
  settle(memory);
  return HALOGEN_NEXT(void*(void*, size_t, size_t), "reallocarray")(memory, count, bytes);
}
