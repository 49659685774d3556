// Several threads store into their own buffers at the same time. Exit status 0: every value arrived.
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "store.h"

enum { kThreads = 6, kStores = 40 };
static int fd;

static void* body(void* number) {
  const uint32_t first = 1000 * (uint32_t)(uintptr_t)number;
  for (uint32_t i = 0; i < kStores; ++i) {
    struct target target;
    if (make_target(fd, &target) != 0) exit(1);
    if (store(fd, &target, first + i) != 0 || target.words[0] != first + i) exit(1);
    munmap(target.words, 4096), munmap(target.batch_words, 4096);
  }
  return NULL;
}

int main(void) {
  fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  if (fd < 0) return 1;
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, body, (void*)i) != 0) return 1;
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  return 0;
}
