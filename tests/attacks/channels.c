// Clients open channels without end, offer things that are not channels, and send messages that are not ones.
#define _GNU_SOURCE
#include <sys/resource.h>

#include "attack.h"

static int node;
static pid_t owner;

static unsigned threads_of(pid_t process) {
  char path[64], line[256];
  unsigned threads = 0;
  snprintf(path, sizeof(path), "/proc/%d/status", (int)process);
  FILE* const file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) sscanf(line, "Threads: %u", &threads);
  if (file != NULL) fclose(file);
  return threads;
}

// Many channels, in both formats, that stay open. Returns whether the owner has a thread for each.
static int flood(void) {
  int pair[2];
  const unsigned before = threads_of(owner);
  struct channel channel;
  for (int i = 0; i < 300; ++i) {
    if (!open_channel(node, &channel)) break;
    munmap((void*)(uintptr_t)channel.memory, head_bytes + request_bytes + answer_bytes);
    close(channel.file);
  }
  for (int i = 0; i < 300; ++i) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) break;
    send_with(node, "c", 1, &pair[1], 1);
    close(pair[1]);
  }
  usleep(300000);
  return threads_of(owner) > before + 200;
}

static int offer_other_things(void) {
  int pair[2], ends[2];
  const unsigned char hello[2] = {'c', 3};
  const int files[] = {open("/dev/zero", O_RDWR), open("/tmp", O_RDONLY), memfd_create("x", 0), node,
                       socket(AF_UNIX, SOCK_STREAM, 0), socket(AF_UNIX, SOCK_SEQPACKET, 0),
                       socket(AF_INET, SOCK_DGRAM, 0)};
  if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) return 0;
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) send_with(node, hello, 2, &files[i], 1);
  send_with(node, hello, 2, &ends[0], 1);
  send_with(node, hello, 2, &pair[0], 1);
  for (unsigned version = 0; version < 256; ++version) {
    const unsigned char wrong[2] = {'c', (unsigned char)version};
    int each[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, each) != 0) break;
    send_with(node, wrong, 2, &each[1], 1);
    close(each[0]);
    close(each[1]);
  }
  return 0;
}

// An empty message looks like the end of the socket.
static int send_nothing(void) {
  for (int i = 0; i < 10; ++i) send_with(node, "", 0, NULL, 0);
  char large[8192] = {0};
  for (int i = 0; i < 10; ++i) send_with(node, large, sizeof(large), NULL, 0);
  usleep(100000);
  return !is_served(node);
}

// Before the owner opens a node, it waits for files that are being closed: an empty message looks like one. Returns
// whether it opens nodes while a client sends such messages.
static int opens_beside_empty_messages(void) {
  const pid_t child = fork();
  require(child >= 0, "cannot fork");
  if (child == 0) {
    alarm(60);
    for (;;) send_with(node, "", 0, NULL, 0);
  }
  usleep(50000);
  alarm(20);  // ends this program if the owner waits
  for (int i = 0; i < 100; ++i) close(open_node());
  alarm(0);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 1;
}

// The owner waits in a socket whose other end, and whose own copy, the client controls.
static int control_the_end(void) {
  for (int kind = 0; kind < 4; ++kind) {
    struct channel channel;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) return 0;
    const int copy = dup(pair[1]);
    if (!open_channel_with(node, pair, &channel)) return 0;
    const struct timeval soon = {.tv_usec = 1000};
    if (kind == 0) fcntl(copy, F_SETFL, O_NONBLOCK);
    if (kind == 1) setsockopt(copy, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
    if (kind == 2) shutdown(copy, SHUT_RDWR);
    if (kind == 3) send_with(pair[0], "xyz", 3, NULL, 0);
    send_with(pair[0], "w", 1, NULL, 0);
    usleep(50000);
    close(copy);
    close(pair[0]);
  }
  return 0;
}

// Clients that exit while the owner waits for them without end.
static int wait_without_end(void) {
  struct drm_syncobj_create create = {0};
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_CREATE, &create) != 0) return 0;
  for (int i = 0; i < 30; ++i) {
    struct channel channel;
    if (!open_channel(node, &channel)) return 0;
    // Its handles and its argument are one piece of memory.
    struct {
      struct drm_syncobj_wait wait;
      uint32_t handle;
    } all = {.wait = {.handles = 0x10000 + sizeof(struct drm_syncobj_wait), .count_handles = 1, .timeout_nsec = INT64_MAX,
                      .flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT},
             .handle = create.handle};
    struct board* const board = board_of(&channel);
    board->request_size = (uint32_t)put_ioctl(&channel, DRM_IOCTL_SYNCOBJ_WAIT, 0x10000, &all, sizeof(all));
    ++board->asked;
    send_with(channel.socket, "w", 1, NULL, 0);
  }
  usleep(200000);
  return 0;
}

int main(void) {
  node = open_node();
  require(serves_clients(node), "the owner does not answer a client");
  owner = getpid();
  expect_refused("a client has channels without end", in_child(flood));
  expect_refused("channels without end harm the owner", is_served(node));
  in_child(offer_other_things);
  expect_refused("other descriptors harm the owner", is_served(node));
  expect_refused("an empty message ends the node", in_child(send_nothing) && is_served(node));
  expect_refused("empty messages hold up an open of the owner", opens_beside_empty_messages());
  in_child(control_the_end);
  expect_refused("a client that controls the owner's end harms it", is_served(node));
  in_child(wait_without_end);
  // The owner finds room for a client after all that.
  for (int i = 0; i < 100 && threads_of(owner) > 20; ++i) usleep(20000);
  expect_refused("dead clients keep their threads in the owner", threads_of(owner) <= 20);
  expect_refused("the owner is harmed", is_served(node) && serves_clients(node));
  return finish_attacks();
}
