// A client tries to make the owner wait for it: with a sync file whose pipe it has filled, with a lease on a file that
// the owner opens again, and with locks of a shared file that long lists name, or of a shared folder. It
// also claims rights that it has only in a user namespace of its own. If the owner waits, an alarm ends this program.
#define _GNU_SOURCE
#include "attack.h"

#include <sched.h>
#include <sys/file.h>

static int node, ready[2];

static int open_again(int file, int flags) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  return open(path, flags | O_CLOEXEC);
}
static void report_ready(void) {
  if (write(ready[1], "", 1) != 1) _exit(1);
}

// The owner writes a report into the pipe of a sync file when its fence is signalled.
static int fill_sync_file(void) {
  int fence[2];
  struct drm_syncobj_create create = {0};
  if (pipe(fence) != 0 || fcntl(fence[0], F_SETSIG, 61) != 0) _exit(1);
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_CREATE, &create) != 0) _exit(1);
  struct drm_syncobj_handle import = {.handle = create.handle, .fd = fence[0],
                                      .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE};
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import) != 0) _exit(1);
  struct drm_syncobj_handle export = {.handle = create.handle,
                                      .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE};
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export) != 0) _exit(1);
  const int pipe_of_owner = open_again(export.fd, O_WRONLY | O_NONBLOCK);
  char bytes[4096] = {0};
  while (write(pipe_of_owner, bytes, sizeof(bytes)) > 0) {
  }
  close(fence[1]);  // the fence is signalled
  usleep(200000);
  report_ready();
  pause();
  return 0;
}

// Only a holder of a lease can be asked to give it up, so the owner's open would wait for this process.
static int lease_sync_object(void) {
  signal(SIGIO, SIG_IGN);
  const int file = memfd_create("halogen sync object", MFD_ALLOW_SEALING | MFD_CLOEXEC);
  if (ftruncate(file, 24576) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) _exit(1);
  const int leased = open_again(file, O_RDONLY);
  close(file);
  if (fcntl(leased, F_SETLEASE, F_RDLCK) != 0) _exit(1);
  report_ready();
  struct drm_syncobj_handle import = {.fd = leased};
  ioctl(node, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import);
  pause();
  return 0;
}

// The owner locks the file of a shared sync object for each change.
static int keep_lock(void) {
  enum { count = 100000 };
  static uint32_t handles[count];
  static uint64_t points[count];
  struct drm_syncobj_create create = {0};
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_CREATE, &create) != 0) _exit(1);
  struct drm_syncobj_handle export = {.handle = create.handle};
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export) != 0) _exit(1);
  struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(open_again(export.fd, O_RDWR), F_OFD_SETLK, &all) != 0) _exit(1);
  for (int i = 0; i < count; ++i) {
    handles[i] = create.handle;
    points[i] = (uint64_t)i + 1;
  }
  report_ready();
  struct drm_syncobj_array list = {.handles = (uintptr_t)handles, .count_handles = count};
  struct drm_syncobj_timeline_array line = {
      .handles = (uintptr_t)handles, .points = (uintptr_t)points, .count_handles = count};
  for (;;) {
    ioctl(node, DRM_IOCTL_SYNCOBJ_SIGNAL, &list);
    ioctl(node, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &line);
    ioctl(node, DRM_IOCTL_SYNCOBJ_RESET, &list);
  }
  return 0;
}

// Processes of a run share the metric sets of performance counters in a folder, which they lock for each call.
static int keep_folder_lock(void) {
  char path[64], place[512] = {0};
  const int folder = open("/sys/class/drm/card0/metrics", O_RDONLY | O_DIRECTORY);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
  if (folder >= 0 && syscall(SYS_readlink, path, place, sizeof(place) - 32) > 0 && strstr(place, "/sys/") != NULL) {
    strcpy(strstr(place, "/sys/"), "/metric-registers/lock");
    const int locked = (int)syscall(SYS_openat, AT_FDCWD, place, O_RDWR | O_CREAT, 0600);
    if (locked < 0 || flock(locked, LOCK_EX) != 0) _exit(1);
  }  // otherwise the chip has no metric sets
  report_ready();
  pause();
  return 0;
}
// Each call looks at all sets that are in the folder, while the owner holds its lock.
static int fill_folder(void) {
  char path[64], place[1024] = {0};
  const int folder = open("/sys/class/drm/card0/metrics", O_RDONLY | O_DIRECTORY);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", folder);
  const ssize_t length = folder < 0 ? -1 : syscall(SYS_readlink, path, place, 512);
  for (int i = 0; i < 50000 && length > 0; ++i) {
    sprintf(place + length, "/%08x-0000-0000-0000-000000000000", (unsigned)i);
    syscall(SYS_mkdirat, AT_FDCWD, place, 0755);
    strcat(place, "/id");
    const int file = (int)syscall(SYS_openat, AT_FDCWD, place, O_CREAT | O_WRONLY, 0644);
    dprintf(file, "%d\n", i + 2);
    close(file);
  }
  return 0;
}
static int asks_for_metric_sets(void) {
  struct drm_i915_query_item item = {.query_id = DRM_I915_QUERY_PERF_CONFIG,
                                     .flags = DRM_I915_QUERY_PERF_CONFIG_LIST};
  struct drm_i915_query query = {.num_items = 1, .items_ptr = (uintptr_t)&item};
  return ioctl(node, DRM_IOCTL_I915_QUERY, &query) == 0;
}

// Starts a client, waits until it is ready, and makes a call of the owner's. Returns whether the client got that far.
static int owner_answers_beside(int (*attack)(void)) {
  fflush(stdout);
  require(pipe(ready) == 0, "no pipe");
  const pid_t child = fork();
  require(child >= 0, "cannot fork");
  if (child == 0) {
    close(ready[0]);
    alarm(60);  // it may outlive this program
    _exit(attack());
  }
  close(ready[1]);
  char word = 0;
  const int is_ready = read(ready[0], &word, 1) == 1;
  usleep(200000);
  alarm(30);
  const int served = asks_for_metric_sets() && is_served(node);
  alarm(0);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ready[0]);
  require(is_ready, "the client cannot prepare its attack");
  return served;
}

// Returns whether a priority that needs rights is refused.
static int claim_rights(void) {
  if (setgid(65534) != 0 || setuid(65534) != 0 || unshare(CLONE_NEWUSER) != 0) return 0;
  struct drm_i915_gem_context_create create = {0};
  if (ioctl(node, DRM_IOCTL_I915_GEM_CONTEXT_CREATE, &create) != 0) return 0;
  struct drm_i915_gem_context_param priority = {.ctx_id = create.ctx_id, .param = I915_CONTEXT_PARAM_PRIORITY,
                                                .value = 1023};
  return ioctl(node, DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &priority) == 0;
}

int main(void) {
  node = open_node();
  require(serves_clients(node), "the owner does not answer a client");
  expect_refused("the owner waits for room in a client's pipe", owner_answers_beside(fill_sync_file));
  expect_refused("the owner waits for a client's lease", owner_answers_beside(lease_sync_object));
  expect_refused("the owner waits for a lock that a client keeps", owner_answers_beside(keep_lock));
  expect_refused("the owner waits for the lock of a folder", owner_answers_beside(keep_folder_lock));
  in_child(fill_folder);
  alarm(60);
  for (int i = 0; i < 100; ++i) asks_for_metric_sets();  // each took more than a second
  alarm(0);
  expect_refused("a long list of metric sets holds up the owner", asks_for_metric_sets());
  expect_refused("a user namespace of a client gives rights", in_child(claim_rights));
  expect_refused("the owner is harmed", is_served(node) && serves_clients(node));
  return finish_attacks();
}
