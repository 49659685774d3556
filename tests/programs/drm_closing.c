// A library whose destructor waits for a writing thread. dlclose(3) calls it with the loader's lock held, as with Mesa's
// drivers and their caches. Nothing was written before, so a symbol lookup of the preload library at that point would wait
// for the lock. usage: drm_closing LIBRARY   (this file, compiled with -shared -DLIBRARY); prints "closed"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef LIBRARY

static void* writes(void* descriptor) {
  const int file = *(int*)descriptor;
  struct iovec part = {"more", 4};
  return write(file, "text", 4) == 4 && writev(file, &part, 1) == 4 && lseek(file, 0, SEEK_SET) >= 0 && close(file) == 0
             ? descriptor
             : NULL;
}

__attribute__((destructor)) static void end(void) {
  int file = open("/dev/null", O_WRONLY);
  pthread_t thread;
  void* written = NULL;
  if (pthread_create(&thread, NULL, writes, &file) != 0 || pthread_join(thread, &written) != 0 || written == NULL) {
    _exit(1);
  }
}

#else

int main(int count, char** names) {
  void* const library = count == 2 ? dlopen(names[1], RTLD_NOW) : NULL;
  const int device = open("/dev/dri/renderD128", O_RDWR);
  if (library == NULL || device < 0 || dlclose(library) != 0) return 1;
  close(device);
  puts("closed");
  return 0;
}

#endif
