// Waiting calls that a signal interrupts, and descriptors that are closed, copied and replaced.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "suite.h"

static volatile sig_atomic_t handled;
static struct spinner* to_end;

static void on_signal(int number) {
  (void)number;
  ++handled;
  if (to_end != NULL) to_end->words[0] = 0x05000000;
}

// Signals arrive repeatedly, so that one of them arrives after the call has started.
static timer_t start_signals(int flags, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  sigaction(SIGUSR1, &action, NULL);
  handled = 0;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  timer_t timer;
  require(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "no timer");
  const struct itimerspec when = {.it_value = {.tv_nsec = 30000000}, .it_interval = {.tv_nsec = 30000000}};
  timer_settime(timer, 0, &when, NULL);
  return timer;
}

static void stop_signals(timer_t timer) {
  timer_delete(timer);
  signal(SIGUSR1, SIG_IGN);
}

// Calls that restart after an interruption.
static int ioctl_once(unsigned long request, void* argument) {
  return ioctl(device, request, argument) < 0 ? -errno : 0;
}

static int64_t soon(int64_t nanoseconds) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + nanoseconds;
}

static void interrupted(void) {
  const struct object target = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &target);
  timer_t timer = start_signals(0, on_signal);
  struct drm_i915_gem_wait request = {.bo_handle = target.handle, .timeout_ns = 60000000000ll};
  expect("wait", ioctl_once(DRM_IOCTL_I915_GEM_WAIT, &request), -EINTR);
  expect_true("handled", handled > 0);
  expect_true("time passed", request.timeout_ns < 60000000000ll && request.timeout_ns > 0);
  request.timeout_ns = -1;
  expect("wait for ever", ioctl_once(DRM_IOCTL_I915_GEM_WAIT, &request), -EINTR);
  expect("for ever stays", request.timeout_ns, -1);
  struct drm_syncobj_create create_it = {0};
  call(DRM_IOCTL_SYNCOBJ_CREATE, &create_it);
  struct drm_syncobj_wait wait = {.handles = (uintptr_t)&create_it.handle,
                                  .count_handles = 1,
                                  .flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
                                  .timeout_nsec = soon(60000000000ll)};
  expect("syncobj", ioctl_once(DRM_IOCTL_SYNCOBJ_WAIT, &wait), -EINTR);
  if (!chip.has_local_memory) {
    struct drm_i915_gem_set_domain domain = {
        .handle = target.handle, .read_domains = I915_GEM_DOMAIN_CPU, .write_domain = I915_GEM_DOMAIN_CPU};
    expect("domain", ioctl_once(DRM_IOCTL_I915_GEM_SET_DOMAIN, &domain), -EINTR);
  }
  stop_signals(timer);
  end_spinner(&spinner);
  expect("then idle", wait_for(&target), 0);
}

static void restarted(void) {
  const struct object target = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &target);
  timer_t timer = start_signals(SA_RESTART, on_signal);
  struct drm_i915_gem_wait request = {.bo_handle = target.handle, .timeout_ns = 200000000};
  expect("wait", ioctl_once(DRM_IOCTL_I915_GEM_WAIT, &request), -ETIME);
  expect_true("handled", handled > 0);
  expect("no time is left", request.timeout_ns, 0);
  // The handler ends the batch.
  to_end = &spinner;
  request.timeout_ns = -1;
  expect("wait for ever", ioctl_once(DRM_IOCTL_I915_GEM_WAIT, &request), 0);
  to_end = NULL;
  stop_signals(timer);
  end_spinner(&spinner);
}

static void ignored(void) {
  const struct object target = create(4096);
  struct spinner spinner;
  start_spinner(&spinner, I915_EXEC_RENDER, 0, &target);
  timer_t timer = start_signals(0, SIG_IGN);
  struct drm_i915_gem_wait request = {.bo_handle = target.handle, .timeout_ns = 100000000};
  expect("wait", ioctl_once(DRM_IOCTL_I915_GEM_WAIT, &request), -ETIME);
  stop_signals(timer);
  end_spinner(&spinner);
  expect("then idle", wait_for(&target), 0);
}

// ---- descriptors
static void use_all(const char* when) {
  const struct object object = create(8192);
  uint32_t* words = map_coherent(&object);
  words[3] = 0x77;
  expect(key("%s: store", when), store(I915_EXEC_RENDER, 0, &object, 16, 0x88), 0);
  expect(key("%s: wait", when), wait_for(&object), 0);
  expect_number(key("%s: word", when), words[3], 0x77);
  expect_number(key("%s: stored", when), words[4], 0x88);
  munmap(words, 8192);
  close_object(&object);
}

static void closed(void) {
  use_all("at first");
  expect("close_range", close_range((unsigned)device, ~0u, 0) < 0 ? -errno : 0, 0);
  expect("closed", fcntl(device, F_GETFD) < 0 ? -errno : 0, -EBADF);
  device = open_device();
  require(device >= 0, "the node cannot be opened again");
  use_all("opened again");
  closefrom(device);
  device = open_device();
  require(device >= 0, "the node cannot be opened again");
  use_all("after closefrom");
  for (int file = device; file < 1024; ++file) close(file);
  device = open_device();
  require(device >= 0, "the node cannot be opened again");
  use_all("after a loop");
}

static void copied(void) {
  const struct object object = create(4096);
  const int first = device;
  device = fcntl(first, F_DUPFD, 40);
  expect("F_DUPFD", device, 40);
  expect_number("same objects", word_at(&object, 0), 0);
  expect("dup2", dup2(device, 50), 50);
  expect("dup3", dup3(device, 51, O_CLOEXEC), 51);
  close(first);
  close(device);
  device = 50;
  expect_number("still the same", word_at(&object, 0), 0);
  // Another open file gets the number.
  const int other = open_device();
  expect("over a node", dup2(other, 50), 50);
  close(other);
  struct drm_i915_gem_busy busy = {.handle = object.handle};
  expect("not its objects", call(DRM_IOCTL_I915_GEM_BUSY, &busy), -ENOENT);
  use_all("the other");
  device = 51;
  expect_number("the first is still there", word_at(&object, 0), 0);
  const int null = open("/dev/null", O_RDWR);
  expect("something else over it", dup2(null, 51), 51);
  expect("no node", call(DRM_IOCTL_I915_GEM_BUSY, &busy), -ENOTTY);
  close(null);
  close(51);
  device = 50;
}

const struct test signal_tests[] = {{"signals.interrupted", interrupted, 0}, {"signals.restarted", restarted, 0},
                                    {"signals.ignored", ignored, 0},         {"descriptors.closed", closed, 0},
                                    {"descriptors.copied", copied, 0},       {0}};
