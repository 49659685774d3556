// A client attacks through the memory that it shares with the owner: sizes, counts and addresses that are wrong, and
// content that changes during the call.
#define _GNU_SOURCE
#include <pthread.h>

#include "attack.h"

static int node;
static uint32_t buffer;

static int truncate_page(void) {
  struct channel channel;
  int file = -1;
  if (open_channel(node, &channel)) {
    const struct drm_i915_gem_create create = {.size = 4096};
    const size_t size = put_ioctl(&channel, DRM_IOCTL_I915_GEM_CREATE, 0x10000, &create, sizeof(create));
    if (!ask(&channel, size, NULL, 0, &file)) return 1;
    if (ftruncate(channel.file, 0) == 0 || ftruncate(channel.file, 1 << 30) == 0) return 1;
    return fcntl(channel.file, F_ADD_SEALS, F_SEAL_WRITE) == 0;
  }
  // The first format: the client makes the page.
  int pair[2];
  require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0, "no pair of sockets");
  if (!send_with(node, "c", 1, &pair[1], 1)) return 0;
  close(pair[1]);
  const int page = memfd_create("page", MFD_CLOEXEC);
  if (ftruncate(page, 4096) != 0) return 0;
  const struct first_call call = {.ask = 3};
  struct first_answer answer = {-1, 0};
  if (!send_with(pair[0], &call, sizeof(call), &page, 1)) return 0;
  if (receive_with(pair[0], &answer, sizeof(answer), &file) != sizeof(answer) || answer.result != 0) return 0;
  if (ftruncate(page, 0) != 0) return 0;
  send_with(pair[0], "w", 1, NULL, 0);
  sleep(1);
  return 1;
}

// Requests whose counts and lengths are wrong.
static int wrong_lengths(void) {
  const uint64_t values[] = {0, 1, 7, 39, 40, 167, 168, 4096, request_bytes, request_bytes + 1, 1u << 31, 0xffffffffu};
  enum { kinds = sizeof(values) / sizeof(values[0]) };
  int file = -1;
  for (int field = 0; field < 5; ++field) {
    for (int i = 0; i < kinds; ++i) {
      struct channel channel;
      if (!open_channel(node, &channel)) return 0;
      struct drm_i915_gem_create create = {.size = 4096};
      size_t size = put_ioctl(&channel, DRM_IOCTL_I915_GEM_CREATE, 0x10000, &create, sizeof(create));
      struct request* const head = (void*)(uintptr_t)(channel.memory + head_bytes);
      uint64_t* const part = (void*)(head + 1);
      if (field == 0) size = (uint32_t)values[i];
      if (field == 1) head->pieces = (uint32_t)values[i];
      if (field == 2) head->passed = (uint32_t)values[i];
      if (field == 3) part[1] = values[i] == 0xffffffffu ? ~0ull : values[i];
      if (field == 4) part[0] = ~0ull - values[i];
      ask(&channel, size, NULL, 0, &file);
      munmap((void*)(uintptr_t)channel.memory, head_bytes + request_bytes + answer_bytes);
      close(channel.socket);
      close(channel.file);
    }
  }
  return 0;
}

static struct channel raced;
static volatile int stop;
static void* race(void* unused) {
  (void)unused;
  uint64_t seed = 0x9e3779b97f4a7c15u;
  while (!stop) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const size_t at = seed >> 40 & 0x1ff;
    if ((seed >> 33 & 63) != 0) {
      raced.memory[head_bytes + at] = (unsigned char)(seed >> 56);
    } else {
      ((volatile uint32_t*)raced.memory)[4 + (seed >> 50 & 3)] = (uint32_t)(seed >> 20);
    }
  }
  return NULL;
}
// Calls while a thread writes random bytes into the request, its length, and the answer's.
static int change_during_calls(void) {
  pthread_t thread;
  for (int round = 0; round < 20; ++round) {
    if (!open_channel(node, &raced)) return 0;
    stop = 0;
    pthread_create(&thread, NULL, race, NULL);
    for (int i = 0; i < 200; ++i) {
      struct drm_i915_gem_pwrite put = {.handle = buffer, .size = 64, .data_ptr = 0x20000};
      const size_t size = put_ioctl(&raced, DRM_IOCTL_I915_GEM_PWRITE, 0x10000, &put, sizeof(put));
      struct board* const board = board_of(&raced);
      board->request_size = (uint32_t)size;
      const uint32_t number = ++board->asked;
      if (!send_with(raced.socket, "w", 1, NULL, 0)) break;
      for (int wait = 0; wait < 50 && board->answered != number; ++wait) usleep(20);
    }
    stop = 1;
    pthread_join(thread, NULL);
    munmap((void*)(uintptr_t)raced.memory, head_bytes + request_bytes + answer_bytes);
    close(raced.socket);
    close(raced.file);
  }
  return 0;
}

// Every number, direction and size of an ioctl, with an argument of ones.
static int wrong_requests(void) {
  struct channel channel;
  int file = -1, taken = 0;
  if (!open_channel(node, &channel)) return 0;
  unsigned char bytes[256];
  memset(bytes, 0xff, sizeof(bytes));
  for (unsigned number = 0; number < 256; ++number) {
    for (unsigned direction = 0; direction < 4; ++direction) {
      for (unsigned size = 0; size <= 256; size += 60) {
        const unsigned long request = _IOC(direction, 'd', number, size);
        const size_t length = put_ioctl(&channel, request, 0x10000, bytes, sizeof(bytes));
        if (!ask(&channel, length, NULL, 0, &file)) return 0;
        if (file >= 0) close(file);
        taken |= answer_of(&channel)->result >= 0 && answer_of(&channel)->writes != 0 && size > 64;
      }
    }
  }
  const unsigned long wrong = _IOC(_IOC_READ | _IOC_WRITE, 'd', _IOC_NR(DRM_IOCTL_I915_GEM_CREATE), 64);
  memset(bytes, 0, sizeof(bytes));
  bytes[1] = 0x10;
  const size_t length = put_ioctl(&channel, wrong, 0x10000, bytes, sizeof(bytes));
  return ask(&channel, length, NULL, 0, &file) && answer_of(&channel)->result >= 0 ? 1 : taken;
}

int main(void) {
  node = open_node();
  require(serves_clients(node), "the owner does not answer a client");
  buffer = create_buffer(node, 4096);
  expect_refused("a client changes the size of the shared page", in_child(truncate_page));
  in_child(wrong_lengths);
  expect_refused("wrong lengths harm the owner", is_served(node));
  in_child(change_during_calls);
  expect_refused("content that changes during calls harms the owner", is_served(node));
  expect_refused("a request of another size is taken", in_child(wrong_requests));
  expect_refused("the owner is harmed", is_served(node) && serves_clients(node));
  return finish_attacks();
}
