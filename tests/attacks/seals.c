// A client changes the size of a file while the owner imports it as a buffer: if the owner reads the size before the seals
// are there, it maps pages beyond the end of the file, whose first access ends it with SIGBUS.
#define _GNU_SOURCE
#include "attack.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { page = 4096, behind = 2, large = 64, small = 1, rounds = 1000 };
static int node;
static atomic_int file = -1, round_number, shrunk;

// Shrinks and seals the file of each round, a little later from round to round.
static void* shrink(void* unused) {
  (void)unused;
  for (int round = 1; round <= rounds; ++round) {
    while (round_number != round) sched_yield();
    for (volatile int wait = 0; wait < round % 400 * 50; ++wait) {
    }
    ftruncate(file, (small + behind) * page);
    fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    shrunk = round;
  }
  return NULL;
}

static int race(void) {
  pthread_t other;
  char bytes[page];
  int imported = 0;
  if (pthread_create(&other, NULL, shrink, NULL) != 0) return 1;
  for (int round = 1; round <= rounds; ++round) {
    const int made = memfd_create("halogen buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0 || ftruncate(made, (large + behind) * page) != 0) return 1;
    file = made;
    round_number = round;
    struct drm_prime_handle prime = {.fd = made};
    if (ioctl(node, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime) == 0) {
      ++imported;
      for (uint64_t at = 0; at < large; ++at) {
        struct drm_i915_gem_pread get = {
            .handle = prime.handle, .offset = at * page, .size = page, .data_ptr = (uintptr_t)bytes};
        if (ioctl(node, DRM_IOCTL_I915_GEM_PREAD, &get) != 0) break;
      }
      struct drm_gem_close end = {.handle = prime.handle};
      ioctl(node, DRM_IOCTL_GEM_CLOSE, &end);
    }
    while (shrunk != round) sched_yield();
    close(made);
  }
  pthread_join(other, NULL);
  return imported == 0;  // otherwise nothing was tried
}

int main(void) {
  node = open_node();
  require(serves_clients(node), "the owner does not answer a client");
  require(in_child(race), "no file could be imported");
  expect_refused("the size of a file changes while it is imported", is_served(node) && serves_clients(node));
  return finish_attacks();
}
