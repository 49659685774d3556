// Tools of hostile programs: a device node, expectations, and the bytes of the preload library's protocol, written
// from docs/client-protocol.md. A program prints one line per attack and fails if one succeeded.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drm.h"

static int successes;

// Reports an attack. `refused`: it had no effect.
static inline void expect_refused(const char* attack, int refused) {
  printf("%s: %s\n", refused ? "refused" : "SUCCEEDED", attack);
  fflush(stdout);
  successes += !refused;
}
static inline void require(int condition, const char* what) {
  if (condition) return;
  printf("attack: %s (%s)\n", what, strerror(errno));
  exit(2);
}
static inline int finish_attacks(void) {
  return successes != 0;
}

static inline int open_node(void) {
  const int node = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  require(node >= 0, "cannot open the device");
  return node;
}
static inline uint32_t create_buffer(int node, uint64_t bytes) {
  struct drm_i915_gem_create create = {.size = bytes};
  require(ioctl(node, DRM_IOCTL_I915_GEM_CREATE, &create) == 0, "cannot create a buffer");
  return create.handle;
}
static inline void* map_buffer(int node, uint32_t handle, uint64_t bytes) {
  struct drm_i915_gem_mmap_offset map = {.handle = handle, .flags = I915_MMAP_OFFSET_WB};
  if (ioctl(node, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &map) != 0) {
    map.flags = I915_MMAP_OFFSET_FIXED;
    require(ioctl(node, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &map) == 0, "no offset of a buffer");
  }
  void* const place = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, node, (off_t)map.offset);
  require(place != MAP_FAILED, "cannot map a buffer");
  return place;
}
static inline int export_buffer(int node, uint32_t handle) {
  struct drm_prime_handle prime = {.handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR, .fd = -1};
  require(ioctl(node, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) == 0, "cannot export a buffer");
  return prime.fd;
}

// Runs an attack in a child, to which the parent tells numbers that an attacker could guess. Returns whether the attack
// was refused: the child exits with 0. The child is killed after a minute.
static inline int in_child(int (*attack)(void)) {
  fflush(stdout);
  const pid_t child = fork();
  require(child >= 0, "cannot fork");
  if (child == 0) {
    alarm(60);
    _exit(attack());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// ---- messages with descriptors
static inline int send_with(int socket, const void* data, size_t bytes, const int* files, size_t count) {
  char control[CMSG_SPACE(253 * sizeof(int))] = {0};
  struct iovec part = {.iov_base = (void*)data, .iov_len = bytes};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (count != 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    struct cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), files, count * sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)bytes;
}
// Returns the length of the message; `file` gets its first descriptor or -1. Gives up after a few seconds.
static inline ssize_t receive_with(int socket, void* data, size_t bytes, int* file) {
  char control[CMSG_SPACE(253 * sizeof(int)) + 64] = {0};
  struct iovec part = {.iov_base = data, .iov_len = bytes};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  const struct timeval patience = {.tv_sec = 5};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const ssize_t got = recvmsg(socket, &message, 0);
  *file = -1;
  for (struct cmsghdr* each = got < 0 ? NULL : CMSG_FIRSTHDR(&message); each != NULL;
       each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_RIGHTS) memcpy(file, CMSG_DATA(each), sizeof(int));
  }
  return got;
}

// ---- the protocol's first format, in which many attacks succeeded: a call as one message through the channel
struct first_call {
  uint32_t ask, handle;
  uint64_t request, argument;
  uint32_t no_wait;
};
struct first_answer {
  int64_t result;
  uint64_t offset;
};
// Makes a call on a new channel, with at most one descriptor (or -1). Returns whether it was answered.
static inline int first_ask(int node, const struct first_call* call, int given, struct first_answer* answer,
                            int* file) {
  int pair[2];
  *answer = (struct first_answer){-1, 0};
  *file = -1;
  require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "no pair of sockets");
  if (!send_with(node, "c", 1, &pair[1], 1)) return 0;
  close(pair[1]);
  if (!send_with(pair[0], call, sizeof(*call), &given, given >= 0)) return 0;
  return receive_with(pair[0], answer, sizeof(*answer), file) == sizeof(*answer);
}

// ---- the protocol
enum { ask_ioctl, ask_map, ask_map_buffer };
enum { head_bytes = 4096, request_bytes = 4 << 20, answer_bytes = 8 << 20 };

struct request {
  uint32_t ask, no_wait;
  uint64_t request, argument;
  uint32_t handle, pieces, passed, reserved;
  struct {
    int32_t number;
    uint32_t is_open;
  } numbers[16];
};
struct answer {
  int64_t result;
  uint64_t offset;
  uint32_t writes, missing, wanted, made;
};
struct board {
  _Atomic uint32_t asked, answered, server_sleeps, caller_sleeps, request_size, request_files, answer_size,
      answer_files;
};
struct channel {
  int socket, file;
  volatile unsigned char* memory;
};

static inline struct board* board_of(const struct channel* channel) {
  return (struct board*)(uintptr_t)channel->memory;
}

// Offers an end of a pair to the owner. Returns whether the owner accepted it.
static inline int open_channel_with(int node, const int pair[2], struct channel* channel) {
  const unsigned char hello[2] = {'c', 3};
  const int yes = 1;
  channel->socket = pair[0];
  setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes));
  if (!send_with(node, hello, sizeof(hello), &pair[1], 1)) return 0;
  close(pair[1]);
  struct {
    int32_t result;
    uint32_t version;
  } answer = {-1, 0};
  if (receive_with(pair[0], &answer, sizeof(answer), &channel->file) != sizeof(answer)) return 0;
  if (answer.result != 0 || channel->file < 0) return 0;
  void* const place =
      mmap(NULL, head_bytes + request_bytes + answer_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, channel->file, 0);
  if (place == MAP_FAILED) return 0;
  channel->memory = place;
  return send_with(pair[0], "k", 1, NULL, 0);
}
static inline int open_channel(int node, struct channel* channel) {
  int pair[2];
  require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "no pair of sockets");
  return open_channel_with(node, pair, channel);
}

// Makes a call whose request is already in the memory. Returns whether an answer came within a few seconds. `file` gets
// the first descriptor of the answer, or -1.
static inline int ask(struct channel* channel, size_t size, const int* files, size_t count, int* file) {
  struct board* const board = board_of(channel);
  *file = -1;
  if (count != 0 && !send_with(channel->socket, "d", 1, files, count)) return 0;
  board->request_size = (uint32_t)size;
  board->request_files = (uint32_t)count;
  board->caller_sleeps = 1;
  const uint32_t number = ++board->asked;
  send_with(channel->socket, "w", 1, NULL, 0);
  while (board->answered != number || (board->answer_files != 0 && *file < 0)) {
    char word = 0;
    int got = -1;
    if (receive_with(channel->socket, &word, 1, &got) != 1) return board->answered == number;
    if (got >= 0) *file = got;
  }
  return 1;
}
static inline const struct answer* answer_of(const struct channel* channel) {
  return (const struct answer*)(uintptr_t)(channel->memory + head_bytes + request_bytes);
}

// Writes an ioctl with one piece of memory into the request area. Returns its length.
static inline size_t put_ioctl(struct channel* channel, unsigned long number, uint64_t argument, const void* bytes,
                               size_t size) {
  struct request head = {.ask = ask_ioctl, .request = number, .argument = argument, .pieces = bytes != NULL};
  unsigned char* const area = (unsigned char*)(uintptr_t)(channel->memory + head_bytes);
  memcpy(area, &head, sizeof(head));
  if (bytes == NULL) return sizeof(head);
  const uint64_t part[2] = {argument, size};
  memcpy(area + sizeof(head), part, sizeof(part));
  memcpy(area + sizeof(head) + sizeof(part), bytes, size);
  return sizeof(head) + sizeof(part) + (size + 7) / 8 * 8;
}

// Returns whether a request by hand still works.
static inline int is_served(int node) {
  struct drm_i915_gem_create create = {.size = 4096};
  if (ioctl(node, DRM_IOCTL_I915_GEM_CREATE, &create) != 0) return 0;
  struct drm_gem_close end = {.handle = create.handle};
  return ioctl(node, DRM_IOCTL_GEM_CLOSE, &end) == 0;
}

// Returns whether the owner answers a call by hand of a client, on a new channel.
static inline int answers_a_client(int node) {
  struct channel channel;
  struct drm_i915_gem_create create = {.size = 4096};
  int file = -1;
  if (!open_channel(node, &channel)) return 0;
  const size_t size = put_ioctl(&channel, DRM_IOCTL_I915_GEM_CREATE, 0x10000, &create, sizeof(create));
  return ask(&channel, size, NULL, 0, &file) && answer_of(&channel)->result == 0;
}
// The same from a child, within two seconds. Without it, attacks that the protocol no longer understands would count as
// refused.
static inline int serves_clients(int node) {
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(!answers_a_client(node));
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 1;
    usleep(20000);
  }
  return 0;
}

static inline unsigned count_descriptors(pid_t process) {
  unsigned count = 0;
  char path[64];
  for (int i = 0; i < 20000; ++i) {
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)process, i);
    struct stat info;
    count += lstat(path, &info) == 0;
  }
  return count;
}
