// Memory that a program returns to the C library, which unmaps or moves large blocks by internal calls. Waits for work
// of the device on user memory (USERPTR) there, as before munmap(2).
//
// Not covered: stacks of threads that end.
#include <malloc.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdint>
#include <optional>

#include "door.h"
#include "driver/gem/lent_memory.h"
#include "next.h"

#define HALOGEN_EXPORT extern "C" __attribute__((visibility("default")))

using halogen::driver::LentMemory;
using halogen::shim::Door;
using halogen::shim::LeavingGuard;

namespace {

// Settles the memory, and keeps it from the device while the C library may unmap it.
class Settled {
 public:
  explicit Settled(void* memory) {
    if (memory == nullptr || !LentMemory::any()) return;
    const size_t bytes = malloc_usable_size(memory);
    if (!LentMemory::is_near(reinterpret_cast<uintptr_t>(memory), bytes)) return;
    const int error = errno;
    leaving_.emplace(memory, bytes);
    Door::settle(memory, bytes);
    errno = error;
  }
  ~Settled() {
    const int error = errno;
    leaving_.reset();
    errno = error;
  }
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;

 private:
  std::optional<LeavingGuard> leaving_;
};

}  // namespace

HALOGEN_EXPORT void free(void* memory) noexcept {
  const Settled settled(memory);
  auto* const next = HALOGEN_NEXT(void(void*), "free");
  if (next != nullptr) next(memory);  // else dlsym(3) frees a text: it is lost
}
HALOGEN_EXPORT void* realloc(void* memory, size_t bytes) noexcept {
  const Settled settled(memory);
  return HALOGEN_NEXT(void*(void*, size_t), "realloc")(memory, bytes);
}
HALOGEN_EXPORT void* reallocarray(void* memory, size_t count, size_t bytes) noexcept {
  const Settled settled(memory);
  return HALOGEN_NEXT(void*(void*, size_t, size_t), "reallocarray")(memory, count, bytes);
}
