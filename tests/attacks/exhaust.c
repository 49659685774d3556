// A client makes objects for which the owner holds descriptors, until a call fails, and keeps them. The owner has few
// descriptors: if the client can have all, the owner can neither open nor share anything.
#define _GNU_SOURCE
#include "attack.h"

#include <sys/resource.h>

static int node, ready[2];

static uint32_t create_sync_object(void) {
  struct drm_syncobj_create create = {0};
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_CREATE, &create) != 0) _exit(1);
  return create.handle;
}

// Sync files of another process: the owner holds one until its fence is signalled. The writing ends stay open.
static int import_sync_file(void) {
  int fence[2];
  if (pipe(fence) != 0 || fcntl(fence[0], F_SETSIG, 61) != 0) return -1;
  struct drm_syncobj_handle import = {.handle = create_sync_object(), .fd = fence[0],
                                      .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE};
  const int result = ioctl(node, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import);
  close(fence[0]);
  return result;
}
static int share_sync_object(void) {
  struct drm_syncobj_handle export = {.handle = create_sync_object()};
  const int result = ioctl(node, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export);
  if (result == 0) close(export.fd);
  return result;
}
static int share_buffer(void) {
  struct drm_prime_handle prime = {.handle = create_buffer(node, 4096), .flags = DRM_CLOEXEC, .fd = -1};
  const int result = ioctl(node, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);
  if (result == 0) close(prime.fd);
  return result;
}
static int map_one(void) {
  struct drm_i915_gem_mmap_offset map = {.handle = create_buffer(node, 4096), .flags = I915_MMAP_OFFSET_WB};
  if (ioctl(node, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &map) != 0) {
    map.flags = I915_MMAP_OFFSET_FIXED;
    if (ioctl(node, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &map) != 0) return -1;
  }
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, node, (off_t)map.offset) == MAP_FAILED ? -1 : 0;
}

// Returns whether the owner can still open and share while a client keeps what it could get.
static int owner_works_beside(int (*make)(void)) {
  fflush(stdout);
  require(pipe(ready) == 0, "no pipe");
  const pid_t child = fork();
  require(child >= 0, "cannot fork");
  if (child == 0) {
    const struct rlimit all = {.rlim_cur = 1024, .rlim_max = 1024};
    setrlimit(RLIMIT_NOFILE, &all);
    close(ready[0]);
    alarm(60);  // it may outlive this program
    for (int i = 0; i < 3000 && make() == 0; ++i) {
    }
    if (write(ready[1], "", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  close(ready[1]);
  char word = 0;
  const int is_ready = read(ready[0], &word, 1) == 1;
  int works = is_served(node);
  for (int i = 0; i < 20 && works; ++i) {
    struct drm_prime_handle prime = {.handle = create_buffer(node, 4096), .flags = DRM_CLOEXEC, .fd = -1};
    works = ioctl(node, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) == 0;
    if (works) close(prime.fd);
    struct drm_gem_close end = {.handle = prime.handle};
    ioctl(node, DRM_IOCTL_GEM_CLOSE, &end);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  close(ready[0]);
  require(is_ready, "the client cannot prepare its attack");
  return works;
}

int main(void) {
  const struct rlimit few = {.rlim_cur = 512, .rlim_max = 1024};
  require(setrlimit(RLIMIT_NOFILE, &few) == 0, "cannot lower the limit of descriptors");
  node = open_node();
  require(serves_clients(node), "the owner does not answer a client");
  expect_refused("imported sync files exhaust the owner", owner_works_beside(import_sync_file));
  expect_refused("shared sync objects exhaust the owner", owner_works_beside(share_sync_object));
  expect_refused("shared buffers exhaust the owner", owner_works_beside(share_buffer));
  expect_refused("mapped buffers exhaust the owner", owner_works_beside(map_one));
  expect_refused("the owner is harmed", is_served(node) && serves_clients(node));
  return finish_attacks();
}
