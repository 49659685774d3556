// Some threads let the device store to memory of the program (USERPTR). Another unmaps, replaces, protects and moves that
// memory at the same time. Exit status 0: the program is still alive, and a last store arrived.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"
#include "store.h"

enum { kRounds = 400, kBytes = 65536, kThreads = 4 };
static int fd;
static char* memory;
static atomic_int done;
static atomic_int stored;  // stores that arrived while the memory came and went

static void* take_and_give(void* nothing) {
  const int rights = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
  // On a busy host it takes more rounds until a store finds mapped memory.
  for (int i = 0; i < kRounds || (stored == 0 && i < 100 * kRounds); ++i) {
    switch (i % 4) {
      case 0:
        CHECK(munmap(memory, kBytes) == 0);
        CHECK(mmap(memory, kBytes, rights, flags | MAP_FIXED_NOREPLACE, -1, 0) == memory);
        break;
      case 1:
        CHECK(mmap(memory, kBytes, rights, flags | MAP_FIXED, -1, 0) == memory);
        break;
      case 2:
        CHECK(mprotect(memory, kBytes, PROT_NONE) == 0);
        CHECK(mprotect(memory, kBytes, rights) == 0);
        break;
      default: {
        void* const moved = mremap(memory, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, memory + 2 * kBytes);
        CHECK(moved == memory + 2 * kBytes);
        CHECK(mremap(moved, kBytes, kBytes, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == memory);
      }
    }
  }
  done = 1;
  return nothing;
}

static void* keep_storing(void* where) {
  struct target* const target = where;
  while (!done) {
    if (store(fd, target, 7) == 0) ++stored;  // otherwise the memory was gone
  }
  return NULL;
}

int main(void) {
  fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  memory = mmap(NULL, 3 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  struct target targets[kThreads];
  pthread_t threads[kThreads], other;
  for (int i = 0; i < kThreads; ++i) {
    CHECK(make_target(fd, &targets[i]) == 0);
    struct drm_i915_gem_userptr lent = {.user_ptr = (uintptr_t)memory, .user_size = kBytes};
    if (drmIoctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &lent) != 0) return errno == ENODEV ? 0 : 1;  // not on every chip
    targets[i].handle = lent.handle;
  }
  for (int i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], NULL, keep_storing, &targets[i]) == 0);
  CHECK(pthread_create(&other, NULL, take_and_give, NULL) == 0);
  pthread_join(other, NULL);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CHECK(store(fd, &targets[0], 8) == 0);
  CHECK(*(volatile uint32_t*)memory == 8);
  CHECK(stored != 0);
  return 0;
}
