// A client takes, closes or names descriptors of the owner.
#define _GNU_SOURCE
#include <pthread.h>

#include "attack.h"

static int node, secret_file, exported;
static uint32_t buffer;
static struct drm_prime_handle shared;
static volatile int stop;

static void* scribble(void* unused) {
  (void)unused;
  while (!stop) *(volatile int*)&shared.fd = secret_file;
  return NULL;
}

// While the call runs, another thread of the client writes a number of the owner into the result.
static int steal(void) {
  pthread_t thread;
  struct stat info;
  int stolen = 0;
  pthread_create(&thread, NULL, scribble, NULL);
  for (int i = 0; i < 3000 && !stolen; ++i) {
    shared.handle = buffer;
    shared.flags = DRM_CLOEXEC;
    if (ioctl(node, DRM_IOCTL_PRIME_HANDLE_TO_FD, &shared) != 0) break;
    // Looks at the new descriptors only: the field may hold the other number.
    for (int file = 3; file < 40; ++file) {
      char text[8] = {0};
      if (file == secret_file || fstat(file, &info) != 0) continue;
      if (S_ISREG(info.st_mode) && pread(file, text, 6, 0) == 6 && strcmp(text, "secret") == 0) stolen = 1;
      if (S_ISREG(info.st_mode) && info.st_size >= 4096) close(file);
    }
  }
  stop = 1;
  pthread_join(thread, NULL);
  return stolen;
}

// PRIME import of a number that only the owner has, without the descriptor.
static int name_import(void) {
  struct drm_prime_handle prime = {.fd = exported};
  close(exported);
  if (ioctl(node, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime) == 0) return 1;
  struct channel channel;
  int file = -1;
  if (!open_channel(node, &channel)) return 0;
  const size_t size = put_ioctl(&channel, DRM_IOCTL_PRIME_FD_TO_HANDLE, 0x10000, &prime, sizeof(prime));
  if (!ask(&channel, size, NULL, 0, &file)) return 0;
  return answer_of(&channel)->result >= 0 && answer_of(&channel)->wanted == 0;
}
static int name_import_in_first_format(void) {
  static struct drm_prime_handle prime;
  prime.fd = exported;
  const struct first_call call = {.request = DRM_IOCTL_PRIME_FD_TO_HANDLE, .argument = (uintptr_t)&prime};
  struct first_answer answer;
  int file = -1;
  return first_ask(node, &call, -1, &answer, &file) && answer.result == 0;
}

// A message carries more descriptors than the owner expects.
static int leak(void) {
  const pid_t owner = getppid();
  int files[200];
  for (int i = 0; i < 200; ++i) files[i] = node;
  const unsigned before = count_descriptors(owner);
  for (int i = 0; i < 100; ++i) send_with(node, "c", 1, files, 2);
  for (int i = 0; i < 20; ++i) send_with(node, "c", 1, files, 200);
  for (int i = 0; i < 1000 && count_descriptors(owner) > before + 5; ++i) usleep(20000);
  return count_descriptors(owner) > before + 20;
}
// The same beside a call.
static int leak_beside_call(void) {
  struct channel channel;
  const pid_t owner = getppid();
  int files[100], file = -1;
  for (int i = 0; i < 100; ++i) files[i] = node;
  const unsigned before = count_descriptors(owner);
  for (int round = 0; round < 5; ++round) {
    if (!open_channel(node, &channel)) break;
    const struct drm_i915_gem_create create = {.size = 4096};
    const size_t size = put_ioctl(&channel, DRM_IOCTL_I915_GEM_CREATE, 0x10000, &create, sizeof(create));
    send_with(channel.socket, "d", 1, files, 100);
    ask(&channel, size, files, 100, &file);
    close(channel.socket);
  }
  for (int i = 0; i < 1000 && count_descriptors(owner) > before + 5; ++i) usleep(20000);
  return count_descriptors(owner) > before + 20;
}
// A client that never receives the descriptors that its calls make.
static int leave_unread(void) {
  struct channel channel;
  const pid_t owner = getppid();
  const unsigned before = count_descriptors(owner);
  if (!open_channel(node, &channel)) return 0;
  struct board* const board = board_of(&channel);
  for (int i = 0; i < 400; ++i) {
    const struct drm_prime_handle prime = {.handle = buffer};
    board->request_size = (uint32_t)put_ioctl(&channel, DRM_IOCTL_PRIME_HANDLE_TO_FD, 0x10000, &prime, sizeof(prime));
    const uint32_t number = ++board->asked;
    if (!send_with(channel.socket, "w", 1, NULL, 0)) break;
    for (int wait = 0; wait < 1000 && board->answered != number; ++wait) usleep(100);
  }
  return count_descriptors(owner) > before + 20;
}

int main(void) {
  node = open_node();
  require(serves_clients(node), "the owner does not answer a client");
  buffer = create_buffer(node, 4096);
  char name[] = "/tmp/attack-XXXXXX";
  // A number that is free in the child. The child closes its copy.
  const int first = mkstemp(name);
  unlink(name);
  secret_file = fcntl(first, F_DUPFD_CLOEXEC, 60);
  require(write(secret_file, "secret", 6) == 6, "cannot write a file");
  close(first);
  const uint32_t other = create_buffer(node, 8192);
  const int low = export_buffer(node, other);
  exported = fcntl(low, F_DUPFD_CLOEXEC, 61);
  close(low);
  const pid_t child = fork();
  if (child == 0) {
    close(secret_file);
    alarm(100);
    _exit(steal());
  }
  int status = -1;
  waitpid(child, &status, 0);
  expect_refused("a client receives a descriptor of the owner", WIFEXITED(status) && WEXITSTATUS(status) == 0);
  expect_refused("a client closes a descriptor of the owner", fcntl(secret_file, F_GETFD) >= 0);
  expect_refused("a client imports a number of the owner", in_child(name_import));
  expect_refused("a client imports a number of the owner in the first format", in_child(name_import_in_first_format));
  expect_refused("messages leave descriptors in the owner", in_child(leak));
  expect_refused("calls leave descriptors in the owner", in_child(leak_beside_call));
  expect_refused("answers that nothing reads leave descriptors in the owner", in_child(leave_unread));
  expect_refused("the owner is harmed", is_served(node) && serves_clients(node));
  return finish_attacks();
}
