// Uses of an open device besides ioctls: threads, copies of descriptors, children, descriptors sent to other processes,
// closing at the end or never. Each part prints its name if it passes. Exit status 0: all passed.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "store.h"

extern char** environ;

// Runs before all libraries are initialised. The thread's last error of the loader then has a text, which the loader frees
// during its next call.
static void fail_early(void) {
  if (dlsym(RTLD_DEFAULT, "no such function") == NULL) free(malloc(1));
}
__attribute__((section(".preinit_array"), used)) static void (*const early)(void) = fail_early;
static const char node[] = "/dev/dri/renderD128";

static int open_node(void) {
  const int fd = open(node, O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  return fd;
}

static int has_buffer(int fd, uint32_t handle) {
  struct drm_i915_gem_busy busy = {.handle = handle};
  return ioctl(fd, DRM_IOCTL_I915_GEM_BUSY, &busy) == 0;
}

static void expect_child(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void* thread_body(void* unused) {
  (void)unused;
  const int fd = open_node();
  for (uint32_t i = 1; i <= 50; ++i) CHECK(stores(fd, i));
  close(fd);
  return NULL;
}

static void threads(void) {
  pthread_t all[4];
  for (int i = 0; i < 4; ++i) CHECK(pthread_create(&all[i], NULL, thread_body, NULL) == 0);
  for (int i = 0; i < 4; ++i) pthread_join(all[i], NULL);
}

static void looks(void) {
  const int fd = open_node();
  struct stat info;
  CHECK(fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(226, 128));
  CHECK(stat(node, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == makedev(226, 128));
  CHECK(stat("/dev/dri//./card0", &info) == 0 && info.st_rdev == makedev(226, 0));
  const int folder = open("/dev/dri", O_RDONLY | O_DIRECTORY);
  CHECK(folder >= 0 && fstatat(folder, "card0", &info, 0) == 0 && info.st_rdev == makedev(226, 0));
  const int card = openat(folder, "card0", O_RDWR);
  CHECK(card >= 0 && fstat(card, &info) == 0 && info.st_rdev == makedev(226, 0));
  struct statx wide;
  CHECK(statx(card, "", AT_EMPTY_PATH, STATX_ALL, &wide) == 0 && wide.stx_rdev_major == 226 && S_ISCHR(wide.stx_mode));
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(path, text, sizeof text);
  CHECK(length == (ssize_t)strlen(node) && memcmp(text, node, (size_t)length) == 0);
  const int again = open(path, O_RDWR);
  CHECK(again >= 0 && stores(again, 7));
  CHECK(realpath("/dev/dri/by-path/../renderD128", text) != NULL && strcmp(text, node) == 0);
  CHECK(realpath("/sys/dev/char/226:128/device", text) != NULL && strncmp(text, "/sys/devices/pci0000:00/", 24) == 0);
  struct pollfd look = {.fd = fd, .events = POLLIN};
  CHECK(poll(&look, 1, 0) == 0);  // no event waits
  CHECK((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
  CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(again, F_GETFD) & FD_CLOEXEC) == 0);
  CHECK(ioctl(fd, TIOCGWINSZ, text) == -1 && errno == ENOTTY);
  int entries = 0;
  DIR* const list = opendir("/dev/dri");
  CHECK(list != NULL);
  for (struct dirent* entry = readdir(list); entry != NULL; entry = readdir(list)) entries += entry->d_name[0] != '.';
  CHECK(entries == 3);  // two nodes and by-path
  closedir(list);
  close(folder), close(card), close(again), close(fd);
}

static void copies(void) {
  const int fd = open_node();
  struct target target;
  CHECK(make_target(fd, &target) == 0);
  const int second = dup(fd), third = fcntl(fd, F_DUPFD_CLOEXEC, 40);
  CHECK(dup2(fd, 60) == 60 && second >= 0 && third >= 40);
  close(fd);
  CHECK(has_buffer(second, target.handle) && has_buffer(third, target.handle) && has_buffer(60, target.handle));
  CHECK(store(60, &target, 9) == 0 && target.words[0] == 9);
  close(second), close(third);
  CHECK(has_buffer(60, target.handle));
  const int other = open_node();  // each open file has its own buffers
  CHECK(!has_buffer(other, 60));
  CHECK(dup2(other, 60) == 60);  // closes the last descriptor of the first file
  CHECK(!has_buffer(60, target.handle) && stores(60, 10));
  close(other), close(60);
  CHECK(ioctl(60, DRM_IOCTL_I915_GEM_THROTTLE) == -1 && errno == EBADF);
}

// The child uses the parent's node, buffers and mappings; both see the same content.
static void children(void) {
  const int fd = open_node();
  struct target target;
  CHECK(make_target(fd, &target) == 0 && store(fd, &target, 1) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    if (!has_buffer(fd, target.handle)) _exit(2);
    if (store(fd, &target, 0x77) != 0 || target.words[0] != 0x77) _exit(3);
    uint32_t* const view = map_buffer(fd, target.handle, target.local);
    if (view == NULL || view[0] != 0x77) _exit(4);
    view[1] = 0x88;
    struct target own;
    if (make_target(fd, &own) != 0 || store(fd, &own, 5) != 0 || own.words[0] != 5) _exit(5);
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(store(fd, &target, 0x99) == 0 && target.words[0] == 0x99 ? 0 : 6);
    int status = 0;
    if (waitpid(grandchild, &status, 0) != grandchild || status != 0) _exit(7);
    const int fresh = open(node, O_RDWR);  // this is a new device
    if (fresh < 0 || !stores(fresh, 11) || has_buffer(fresh, 1000)) _exit(8);
    if (ioctl(fd, DRM_IOCTL_I915_GETPARAM, (void*)8) != -1 || errno != EFAULT) _exit(9);
    _exit(0);
  }
  expect_child(child);
  CHECK(target.words[0] == 0x99 && target.words[1] == 0x88);
  CHECK(store(fd, &target, 3) == 0 && target.words[0] == 3);
  close(fd);
}

// A child that outlives the process with the device gets errors and continues.
static void orphan(void) {
  int ready[2], done[2];
  CHECK(pipe(ready) == 0 && pipe(done) == 0);
  const pid_t owner = fork();
  if (owner == 0) {
    const int fd = open_node();
    struct target target;
    if (make_target(fd, &target) != 0) _exit(1);
    const pid_t left = fork();
    if (left != 0) _exit(left < 0);
    close(ready[1]);
    char word;
    if (read(ready[0], &word, 1) != 0) _exit(1);  // waits until the owner has exited
    int value = 0;
    word = get_parameter(fd, I915_PARAM_CHIPSET_ID, &value) == -1 && errno == EIO ? 'y' : 'n';
    if (write(done[1], &word, 1) != 1) _exit(1);
    _exit(0);
  }
  expect_child(owner);
  close(ready[1]);
  close(done[1]);
  char word = 0;
  CHECK(read(done[0], &word, 1) == 1 && word == 'y');
  close(ready[0]), close(done[0]);
}

static void send_descriptor(int socket, int fd) {
  char byte = 0, control[CMSG_SPACE(sizeof(int))];
  memset(control, 0, sizeof control);
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  CHECK(sendmsg(socket, &message, 0) == 1);
}

static int receive_descriptor(int socket) {
  char byte = 0, control[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  CHECK(recvmsg(socket, &message, 0) == 1);
  int fd = -1;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

// Sends a descriptor that no process has open during the transfer; then sends one to another program.
static void sent(const char* self) {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  int fd = open_node();
  struct target target;
  CHECK(make_target(fd, &target) == 0);
  send_descriptor(ends[0], fd);
  close(fd);
  fd = receive_descriptor(ends[1]);
  CHECK(fd >= 0 && has_buffer(fd, target.handle));
  char number[16], handle[16];
  snprintf(number, sizeof number, "%d", ends[1]);
  snprintf(handle, sizeof handle, "%u", target.handle);
  char* const words[] = {(char*)self, "receive", number, handle, NULL};
  pid_t child = 0;
  CHECK(posix_spawn(&child, self, NULL, NULL, words, environ) == 0);
  send_descriptor(ends[0], fd);
  expect_child(child);
  CHECK(target.words[5] == 0x5151);  // written by the other process
  close(fd), close(ends[0]), close(ends[1]);
}

static int receive(const char* socket, const char* handle) {
  const int fd = receive_descriptor(atoi(socket));
  struct stat info;
  CHECK(fstat(fd, &info) == 0 && S_ISCHR(info.st_mode));
  CHECK(has_buffer(fd, (uint32_t)atoi(handle)));
  int id = 0;
  CHECK(get_parameter(fd, I915_PARAM_CHIPSET_ID, &id) == 0);
  uint32_t* const view = map_buffer(fd, (uint32_t)atoi(handle), id == 0x4905);
  CHECK(view != NULL);
  view[5] = 0x5151;
  CHECK(stores(fd, 21));
  return 0;
}

static void vforks(void) {
  const int fd = open_node();
  CHECK(stores(fd, 1));
  const pid_t child = vfork();
  if (child == 0) {
    close(fd);
    execl("/bin/true", "true", (char*)NULL);
    _exit(1);
  }
  expect_child(child);
  CHECK(stores(fd, 2));
  close(fd);
}

static int last_fd = -1;
static void at_the_end(void) {
  CHECK(stores(last_fd, 33));
  puts("exit handlers");
}

int main(int count, char** words) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (count == 4 && strcmp(words[1], "receive") == 0) return receive(words[2], words[3]);
  looks(), puts("looks");
  threads(), puts("threads");
  copies(), puts("copies");
  children(), puts("children");
  orphan(), puts("orphan");
  sent("/proc/self/exe"), puts("sent");
  vforks(), puts("vfork");
  atexit(at_the_end);
  last_fd = open_node();
  return 0;
}
