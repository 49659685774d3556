// Disturbs programs during their calls: threads are cancelled, handlers jump away, memory in use as a buffer (USERPTR)
// is freed, contexts are destroyed, descriptors run out. Each part prints its name if it passes. Exit status 0: all
// passed.
// usage: drm_upsets, or drm_upsets FILE: continues in a child after its parent has ended, and writes FILE
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "store.h"

enum { kEnd = 0x0a << 23 };

static int fd;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// A batch that loops until its first dword is overwritten with the batch end.
struct spinner {
  uint32_t handle;
  volatile uint32_t* words;
};

static int execute(struct drm_i915_gem_exec_object2* objects, uint32_t count, uint32_t context, uint64_t flags) {
  struct drm_i915_gem_execbuffer2 call = {.buffers_ptr = (uintptr_t)objects, .buffer_count = count, .flags = flags};
  call.rsvd1 = context;
  return drmIoctl(fd, DRM_IOCTL_I915_GEM_EXECBUFFER2, &call);
}

static int wait_for(uint32_t handle, int64_t time) {
  struct drm_i915_gem_wait wait = {.bo_handle = handle, .timeout_ns = time};
  return drmIoctl(fd, DRM_IOCTL_I915_GEM_WAIT, &wait);
}

static struct spinner make_spinner(uint32_t context, uint64_t flags, uint32_t other, uint64_t place) {
  struct target target;
  CHECK(make_target(fd, &target) == 0);
  struct spinner spinner = {target.batch, target.batch_words};
  const int pinned = target.generation >= 8;
  struct drm_i915_gem_exec_object2 objects[2] = {{.handle = other}, {.handle = target.batch}};
  if (pinned) objects[1].flags = EXEC_OBJECT_PINNED, objects[1].offset = place;
  struct drm_i915_gem_exec_object2* const list = other != 0 ? objects : objects + 1;
  const uint32_t count = other != 0 ? 2 : 1;
  spinner.words[0] = kEnd, spinner.words[1] = 0;
  CHECK(execute(list, count, context, flags) == 0);  // returns its address
  CHECK(wait_for(target.batch, -1) == 0);
  spinner.words[0] = 0, spinner.words[1] = 0;
  spinner.words[2] = pinned ? 0x18800101 : (target.generation < 6 ? 0x18800080 : 0x18800100);
  spinner.words[3] = (uint32_t)objects[1].offset;
  spinner.words[4] = pinned ? 0 : kEnd;
  spinner.words[5] = kEnd;
  CHECK(execute(list, count, context, flags) == 0);
  CHECK(wait_for(target.batch, 1000000) == -1 && errno == ETIME);
  return spinner;
}

static void end_spinner(struct spinner spinner) {
  spinner.words[0] = kEnd;
  CHECK(wait_for(spinner.handle, -1) == 0);
}

static uint32_t make_buffer(uint64_t bytes) {
  struct drm_i915_gem_create create = {.size = bytes};
  CHECK(drmIoctl(fd, DRM_IOCTL_I915_GEM_CREATE, &create) == 0);
  return create.handle;
}

// ioctl(2) is not a cancellation point.
static void* wait_in_thread(void* handle) {
  CHECK(wait_for(*(uint32_t*)handle, -1) == 0);
  pthread_testcancel();
  return NULL;
}
static void* share_in_thread(void* unused) {
  (void)unused;
  struct drm_prime_handle prime = {.handle = make_buffer(4096), .flags = DRM_CLOEXEC};
  pthread_cancel(pthread_self());
  CHECK(ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) == 0);
  pthread_testcancel();
  return NULL;
}
static void cancelled(void) {
  struct spinner spinner = make_spinner(0, 0, 0, 0x100000);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, wait_in_thread, &spinner.handle) == 0);
  usleep(100000);
  for (int i = 0; i < 2; ++i) pthread_cancel(threads[i]);
  usleep(50000);
  end_spinner(spinner);
  void* result = NULL;
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(threads[i], &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(pthread_create(&threads[0], NULL, share_in_thread, NULL) == 0);
  CHECK(pthread_join(threads[0], &result) == 0 && result == PTHREAD_CANCELED);
  CHECK(stores(fd, 1));
}

// Handlers run after the call has released everything.
static sigjmp_buf out;
static volatile sig_atomic_t armed, jumps;
static void jump(int number) {
  (void)number;
  if (!armed) return;
  armed = 0, ++jumps;
  siglongjmp(out, 1);
}
static void jumped(void) {
  struct target target;
  CHECK(make_target(fd, &target) == 0);
  struct sigaction action = {.sa_handler = jump}, found;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  CHECK(sigaction(SIGALRM, NULL, &found) == 0 && found.sa_handler == jump);
  const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  const double end = now() + 1;
  while (now() < end) {
    sigsetjmp(out, 1);
    armed = 1;
    struct drm_i915_gem_busy busy = {.handle = target.handle};
    ioctl(fd, DRM_IOCTL_I915_GEM_BUSY, &busy);
    struct drm_i915_gem_create create = {.size = 4096};
    ioctl(fd, DRM_IOCTL_I915_GEM_CREATE, &create);
    struct drm_gem_close close_it = {.handle = create.handle};
    ioctl(fd, DRM_IOCTL_GEM_CLOSE, &close_it);
    armed = 0;
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  CHECK(signal(SIGALRM, SIG_DFL) == jump);
  CHECK(jumps > 0 && stores(fd, 2));
}

// Large blocks of malloc are unmapped by free, and moved by realloc.
static void* end_later(void* spinner) {
  usleep(200000);
  ((struct spinner*)spinner)->words[0] = kEnd;
  return NULL;
}
static void freed(int by_free) {
  const size_t bytes = 4 << 20;
  char* const memory = malloc(bytes);
  char* const page = (char*)(((uintptr_t)memory + 4095) & ~(uintptr_t)4095);
  memset(memory, 0, bytes);
  struct drm_i915_gem_userptr lend = {.user_ptr = (uintptr_t)page, .user_size = bytes - 8192};
  if (drmIoctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &lend) != 0) {
    CHECK(errno == ENODEV);  // chips without coherency do not offer it
    free(memory);
    return;
  }
  struct spinner spinner = make_spinner(0, 0, lend.handle, 0x100000);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, end_later, &spinner) == 0);
  const double start = now();
  if (by_free) {
    free(memory);
  } else {
    free(realloc(memory, 16 * bytes));
  }
  CHECK(now() - start > 0.1);
  pthread_join(thread, NULL);
  CHECK(wait_for(spinner.handle, -1) == 0 && stores(fd, 3));
}

// Mappings of buffers cannot be used with USERPTR.
static void lent_mapping(void) {
  struct target target;
  CHECK(make_target(fd, &target) == 0);
  struct drm_i915_gem_userptr lend = {.user_ptr = (uintptr_t)target.words, .user_size = 4096};
  if (drmIoctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &lend) != 0) {
    CHECK(errno == ENODEV);
    return;
  }
  target.batch_words[0] = kEnd;
  struct drm_i915_gem_exec_object2 objects[2] = {{.handle = lend.handle}, {.handle = target.batch}};
  CHECK(execute(objects, 2, 0, 0) == -1 && errno == EFAULT);
  lend.flags = I915_USERPTR_PROBE;
  CHECK(drmIoctl(fd, DRM_IOCTL_I915_GEM_USERPTR, &lend) == -1 && errno == EFAULT);
}

// A buffer that was exported once uses no descriptor of the program.
static void descriptors(void) {
  struct rlimit before, few;
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  few = before;
  few.rlim_cur = 200;
  if (before.rlim_max < 2000) return;
  CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
  for (int i = 0; i < 300; ++i) {
    struct drm_prime_handle prime = {.handle = make_buffer(4096), .flags = DRM_CLOEXEC};
    CHECK(drmIoctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) == 0);
    close(prime.fd);
    struct drm_syncobj_create create = {.flags = DRM_SYNCOBJ_CREATE_SIGNALED};
    CHECK(drmIoctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create) == 0);
    struct drm_syncobj_handle handle = {.handle = create.handle};
    CHECK(drmIoctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle) == 0);
    close(handle.fd);
  }
  const int file = open("/dev/null", O_RDONLY);
  CHECK(file >= 0 && file < 50);
  close(file);
  CHECK(getrlimit(RLIMIT_NOFILE, &few) == 0 && few.rlim_cur == 200);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

// A waiting call fails if its context is destroyed meanwhile.
static uint32_t gone, held;
static int answer;
static void* execute_in_thread(void* unused) {
  (void)unused;
  struct target target;
  CHECK(make_target(fd, &target) == 0);
  target.batch_words[0] = kEnd;
  struct drm_i915_gem_relocation_entry entry = {.offset = 64, .presumed_offset = ~0ull, .read_domains = 2};
  struct drm_i915_gem_exec_object2 objects[2] = {
      {.handle = held, .relocs_ptr = (uintptr_t)&entry, .relocation_count = 1}, {.handle = target.batch}};
  answer = execute(objects, 2, gone, I915_EXEC_HANDLE_LUT) == 0 ? 0 : errno;
  return NULL;
}
static void destroyed(void) {
  struct target target;
  CHECK(make_target(fd, &target) == 0);
  if (target.generation < 6 || target.local) return;  // no contexts, or no relocations that wait
  struct drm_i915_gem_context_create context = {.ctx_id = 0};
  CHECK(drmIoctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &context) == 0);
  gone = context.ctx_id;
  held = make_buffer(4096);
  struct spinner spinner = make_spinner(0, I915_EXEC_BLT, held, 0x100000);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, execute_in_thread, NULL) == 0);
  usleep(200000);
  struct drm_i915_gem_context_destroy destroy = {.ctx_id = gone};
  CHECK(drmIoctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_DESTROY, &destroy) == 0);
  end_spinner(spinner);
  pthread_join(thread, NULL);
  CHECK(answer == ENOENT);
}

// Two video engines: an endless batch of one context does not block another context on the second engine.
static void balanced(void) {
  int id = 0;
  CHECK(get_parameter(fd, I915_PARAM_CHIPSET_ID, &id) == 0);
  if (generation_of(id) < 12) return;
  const struct i915_engine_class_instance none = {(uint16_t)I915_ENGINE_CLASS_INVALID,
                                                  (uint16_t)I915_ENGINE_CLASS_INVALID_NONE};
  I915_DEFINE_CONTEXT_ENGINES_LOAD_BALANCE(balance, 2) = {
      .base.name = I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE,
      .num_siblings = 2,
      .engines = {{I915_ENGINE_CLASS_VIDEO, 0}, {I915_ENGINE_CLASS_VIDEO, 1}}};
  I915_DEFINE_CONTEXT_PARAM_ENGINES(engines, 1) = {.extensions = (uintptr_t)&balance, .engines = {none}};
  uint32_t contexts[4];
  for (int i = 0; i < 4; ++i) {
    struct drm_i915_gem_context_create create = {.ctx_id = 0};
    CHECK(drmIoctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create) == 0);
    contexts[i] = create.ctx_id;
    struct drm_i915_gem_context_param parameter = {.ctx_id = create.ctx_id,
                                                   .size = sizeof engines,
                                                   .param = I915_CONTEXT_PARAM_ENGINES,
                                                   .value = (uintptr_t)&engines};
    CHECK(drmIoctl(fd, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &parameter) == 0);
  }
  struct spinner spinner = make_spinner(contexts[0], 0, 0, 0x100000);
  for (int i = 1; i < 4; ++i) {
    struct target target;
    CHECK(make_target(fd, &target) == 0);
    target.batch_words[0] = kEnd;
    struct drm_i915_gem_exec_object2 object = {.handle = target.batch};
    CHECK(execute(&object, 1, contexts[i], 0) == 0 && wait_for(target.batch, 2000000000) == 0);
  }
  end_spinner(spinner);
}

// As with Linux, writes are refused, and every way to look for the node finds it.
static void calls(void) {
  struct iovec word = {.iov_base = "abc", .iov_len = 3};
  CHECK(writev(fd, &word, 1) == -1 && errno == EINVAL);
  glob_t list;
  glob64_t wide;
  CHECK(glob("/dev/dri/renderD*", 0, NULL, &list) == 0 && list.gl_pathc == 1);
  CHECK(glob64("/dev/dri/renderD*", 0, NULL, &wide) == 0 && wide.gl_pathc == 1);
  CHECK(strcmp(list.gl_pathv[0], "/dev/dri/renderD128") == 0 && strcmp(wide.gl_pathv[0], list.gl_pathv[0]) == 0);
  globfree(&list);
  globfree64(&wide);
}

static int go_on_alone(const char* file) {
  fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0 && stores(fd, 4));
  const pid_t parent = getpid();
  if (fork() != 0) return 0;
  while (getppid() == parent) usleep(10000);
  usleep(300000);  // the process that started the parent ends, too
  fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0 && stores(fd, 5));
  CHECK(close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) == 0);
  return 0;
}

int main(int count, char** words) {
  if (count > 1) return go_on_alone(words[1]);
  fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  alarm(100);
  cancelled();
  puts("cancelled");
  freed(1);
  freed(0);
  puts("freed");
  lent_mapping();
  puts("lent mapping");
  descriptors();
  puts("descriptors");
  destroyed();
  puts("destroyed");
  balanced();
  puts("balanced");
  calls();
  puts("calls");
  alarm(0);
  jumped();
  puts("jumped");
  return 0;
}
