// A client passes descriptors of a file system of its own (FUSE), which stops answering: the owner must not ask it
// anything while others wait. Where the host allows no such mount, nothing is tried. If the owner waits, an alarm ends
// this program.
#define _GNU_SOURCE
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/uio.h>

#include "attack.h"

static int node;
static struct shared {
  _Atomic int is_quiet;  // the file system does not answer any more
  _Atomic int is_ready;  // the client has sent its descriptor
  pid_t server;
}* shared;

// ---- the file system: a folder with one file
static void reply(int device, uint64_t request, int error, const void* bytes, size_t size) {
  struct fuse_out_header head = {.len = (uint32_t)(sizeof(head) + size), .error = error, .unique = request};
  const struct iovec parts[] = {{&head, sizeof(head)}, {(void*)bytes, size}};
  if (writev(device, parts, 2) < 0) _exit(1);
}
static void serve_file_system(int device) {
  static char buffer[1 << 17];
  const struct fuse_attr file = {.ino = 2, .mode = S_IFREG | 0666, .nlink = 1, .size = 4096};
  const struct fuse_attr folder = {.ino = 1, .mode = S_IFDIR | 0777, .nlink = 1};
  alarm(40);
  while (read(device, buffer, sizeof(buffer)) > 0) {
    const struct fuse_in_header* const head = (const void*)buffer;
    if (shared->is_quiet || head->opcode == FUSE_FORGET) continue;
    if (head->opcode == FUSE_INIT) {
      const struct fuse_init_out answer = {.major = 7, .minor = 31, .max_write = 4096};
      reply(device, head->unique, 0, &answer, sizeof(answer));
    } else if (head->opcode == FUSE_LOOKUP) {  // the times of validity are zero
      const struct fuse_entry_out answer = {.nodeid = 2, .attr = file};
      reply(device, head->unique, 0, &answer, sizeof(answer));
    } else if (head->opcode == FUSE_GETATTR) {
      const struct fuse_attr_out answer = {.attr = head->nodeid == 1 ? folder : file};
      reply(device, head->unique, 0, &answer, sizeof(answer));
    } else if (head->opcode == FUSE_OPEN) {
      const struct fuse_open_out answer = {.fh = 1};
      reply(device, head->unique, 0, &answer, sizeof(answer));
    } else {
      reply(device, head->unique, -ENOSYS, NULL, 0);
    }
  }
}
// Returns a descriptor of a file there, or -1. The mount is in a namespace of this process.
static int open_slow_file(void) {
  char options[128];
  const unsigned user = geteuid(), group = getegid();
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return -1;
  mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device, user, group);
  if (device < 0 || mount("attack", "/tmp", "fuse", MS_NOSUID | MS_NODEV, options) != 0) return -1;
  const pid_t server = fork();
  if (server == 0) {
    serve_file_system(device);
    _exit(0);
  }
  shared->server = server;
  close(device);  // when the server ends, all requests end
  return open("/tmp/file", O_RDONLY | O_CLOEXEC);
}

// ---- attacks: each sends the descriptor
static void offer(int file) {
  for (int i = 0; i < 4; ++i) send_with(node, "c\002", 2, &file, 1);
  for (int i = 0; i < 4; ++i) send_with(node, "", i, &file, 1);
}
static void call(unsigned long number, const void* argument, size_t bytes, int file) {
  struct channel channel;
  int got = -1;
  if (!open_channel(node, &channel)) _exit(1);
  const size_t size = put_ioctl(&channel, number, 0x10000, argument, bytes);
  struct request* const head = (void*)(uintptr_t)(channel.memory + head_bytes);
  head->passed = 1;
  head->numbers[0].number = 77;
  head->numbers[0].is_open = 1;
  shared->is_quiet = shared->is_ready = 1;
  ask(&channel, size, &file, 1, &got);
}
static void import_sync_file(int file) {
  struct drm_syncobj_create create = {0};
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_CREATE, &create) != 0) _exit(1);
  const struct drm_syncobj_handle import = {.handle = create.handle, .fd = 77,
                                            .flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE};
  call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import, sizeof(import), file);
}
static void import_sync_object(int file) {
  const struct drm_syncobj_handle import = {.fd = 77};
  call(DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import, sizeof(import), file);
}
static void import_buffer(int file) {
  const struct drm_prime_handle import = {.fd = 77};
  call(DRM_IOCTL_PRIME_FD_TO_HANDLE, &import, sizeof(import), file);
}

// Returns whether the owner answers itself and other clients meanwhile.
static int owner_answers_beside(void (*attack)(int)) {
  fflush(stdout);
  memset(shared, 0, sizeof(*shared));
  const pid_t child = fork();
  require(child >= 0, "cannot fork");
  if (child == 0) {
    alarm(60);
    const int file = open_slow_file();
    if (file < 0) _exit(3);
    fcntl(file, F_SETSIG, 61);  // the mark of sync files
    if (attack == offer) shared->is_quiet = shared->is_ready = 1;
    attack(file);
    pause();
  }
  int status = 0;
  while (!shared->is_ready && waitpid(child, &status, WNOHANG) == 0) usleep(1000);
  if (!shared->is_ready) {
    require(WIFEXITED(status) && WEXITSTATUS(status) == 3, "the client cannot prepare its attack");
    return 1;  // no such file systems here
  }
  usleep(300000);
  alarm(20);
  const int again = open_node();
  const int served = is_served(node) && is_served(again) && serves_clients(node);
  close(again);
  close(open_node());  // waits until the other file is closed
  alarm(0);
  if (shared->server > 0) kill(shared->server, SIGKILL);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return served;
}

int main(void) {
  node = open_node();
  require(serves_clients(node), "the owner does not answer a client");
  shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(shared != MAP_FAILED, "no shared memory");
  expect_refused("a slow file as a channel holds up the owner", owner_answers_beside(offer));
  expect_refused("a slow file as a sync file holds up the owner", owner_answers_beside(import_sync_file));
  expect_refused("a slow file as a sync object holds up the owner", owner_answers_beside(import_sync_object));
  expect_refused("a slow file as a buffer holds up the owner", owner_answers_beside(import_buffer));
  expect_refused("the owner is harmed", is_served(node) && serves_clients(node));
  return finish_attacks();
}
