// A child by fork reads and writes memory of the owner: addresses of the owner as arguments of its calls, mappings that it
// inherited, and mappings that it enlarges.
#define _GNU_SOURCE
#include "attack.h"

enum { page = 4096, buffers = 8 };
static int node;
static uint32_t own_buffer, secret_buffer;
static unsigned char* target;  // mapped by the owner only
static unsigned char* inherited;
static const char secret[] = "only the owner may know this text";
static int go[2], ready[2];

static void wait_for_owner(void) {
  char word;
  require(write(ready[1], "r", 1) == 1 && read(go[0], &word, 1) == 1, "the owner has gone");
}

// Copies from the owner's memory into a buffer and reads the buffer.
static int read_owner(void) {
  wait_for_owner();
  char found[sizeof(secret)] = {0};
  struct drm_i915_gem_pwrite put = {
      .handle = own_buffer, .size = sizeof(secret), .data_ptr = (uintptr_t)target};
  if (ioctl(node, DRM_IOCTL_I915_GEM_PWRITE, &put) != 0) return 0;
  struct drm_i915_gem_pread get = {.handle = own_buffer, .size = sizeof(secret), .data_ptr = (uintptr_t)found};
  if (ioctl(node, DRM_IOCTL_I915_GEM_PREAD, &get) != 0) return 0;
  return memcmp(found, secret, sizeof(secret)) == 0;
}

// The first format of the library's messages, without the library: the channel's other end was made by the owner, so that
// the host says that the owner is behind it. The argument is in memory of the owner.
static int owners_pair[2];
static int write_owner_in_disguise(void) {
  wait_for_owner();
  if (!send_with(node, "c", 1, &owners_pair[1], 1)) return 0;
  const struct first_call call = {.ask = 0, .request = DRM_IOCTL_I915_GEM_PREAD, .argument = (uintptr_t)(target + 256)};
  struct first_answer answer;
  int file = -1;
  if (!send_with(owners_pair[0], &call, sizeof(call), NULL, 0)) return 0;
  receive_with(owners_pair[0], &answer, sizeof(answer), &file);
  return 0;
}

static int claim_owners_memory(void) {
  wait_for_owner();
  struct channel channel;
  if (!open_channel(node, &channel)) return 0;
  int file = -1;
  const struct drm_i915_gem_pwrite put = {
      .handle = own_buffer, .size = sizeof(secret), .data_ptr = (uintptr_t)target};
  const size_t size = put_ioctl(&channel, DRM_IOCTL_I915_GEM_PWRITE, (uintptr_t)target + 512, &put, sizeof(put));
  if (!ask(&channel, size, NULL, 0, &file)) return 0;
  return answer_of(&channel)->result >= 0 && answer_of(&channel)->missing == 0;  // the owner must ask for the memory
}

// Looks for the secret in every mapping that the fork left in this process.
static int scan_inherited(void) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[512];
  int found = 0;
  while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
    unsigned long start = 0, end = 0;
    char rights[5] = {0};
    if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) != 3 || rights[0] != 'r') continue;
    found |= strstr(line, "halogen system memory") != NULL && end - start > buffers * page;
    found |= strstr(line, "halogen local memory") != NULL && end - start > buffers * page;
  }
  if (maps != NULL) fclose(maps);
  return found;
}

// Enlarges its mapping of a buffer, so that it covers the file behind it.
static int enlarge(void) {
  unsigned char* const own = map_buffer(node, own_buffer, page);
  own[0] = 1;
  enum { large = 64 << 20 };
  unsigned char* const all = mremap(own, page, large, MREMAP_MAYMOVE);
  if (all == MAP_FAILED) return 0;
  enum { found = 3 };  // a sanitizer ends a process with 1
  const pid_t child = fork();  // pages beyond the end of a file end it
  if (child == 0) {
    for (size_t at = 0; at + sizeof(secret) <= large; at += page) {
      if (memcmp(all + at, secret, sizeof(secret)) == 0) _exit(found);
    }
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == found;
}

// The same with a mapping that the fork left, also over the start of the file.
static int enlarge_inherited(void) {
  enum { large = 64 << 20, found = 3 };
  unsigned char* const all = (void*)syscall(SYS_mremap, inherited, page, large, MREMAP_MAYMOVE, NULL);
  if (all == MAP_FAILED) return 0;
  for (int from_start = 0; from_start < 2; ++from_start) {
    if (from_start) syscall(SYS_remap_file_pages, all, (size_t)large, 0, 0, 0);
    const pid_t child = fork();
    if (child == 0) {
      for (size_t at = 0; at + sizeof(secret) <= large; at += page) {
        if (memcmp(all + at, secret, sizeof(secret)) == 0) _exit(found);
      }
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == found) return 1;
  }
  return 0;
}

// Returns 0 if the child and its parent see each other's writes through an inherited mapping.
static int share_inherited(void) {
  if (inherited[1] != 7) return 1;
  inherited[2] = 8;
  return 0;
}

static void run(const char* name, int (*attack)(void)) {
  require(pipe(go) == 0 && pipe(ready) == 0, "no pipes");
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(attack());
  }
  // Mapped after the fork: the child has nothing at this address.
  char word = 0;
  close(ready[1]);
  if (read(ready[0], &word, 1) == 1) {
    void* const place = mmap(target, page, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    require(place != MAP_FAILED, "no memory");
    memcpy(place, secret, sizeof(secret));
    struct drm_i915_gem_pread* const argument = (void*)(target + 256);
    *argument = (struct drm_i915_gem_pread){.handle = own_buffer, .size = 16, .data_ptr = (uintptr_t)target};
    require(write(go[1], "g", 1) == 1, "the child has gone");
  }
  int status = -1;
  waitpid(child, &status, 0);
  int refused = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (word == 'r') {
    refused = refused && memcmp(target, secret, sizeof(secret)) == 0;
    munmap(target, page);
  }
  expect_refused(name, refused);
  close(ready[0]);
  close(go[0]);
  close(go[1]);
}

int main(void) {
  node = open_node();
  require(serves_clients(node), "the owner does not answer a client");
  own_buffer = create_buffer(node, page);
  secret_buffer = create_buffer(node, page);
  inherited = map_buffer(node, own_buffer, page);
  memset(inherited, 7, page);
  unsigned char* const hidden = map_buffer(node, secret_buffer, page);
  memcpy(hidden, secret, sizeof(secret));
  target = (unsigned char*)0x200000000000;  // nothing else is there
  run("a child reads memory of the owner through PWRITE", read_owner);
  require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, owners_pair) == 0, "no pair of sockets");
  run("a child writes memory of the owner through a pair of sockets that the owner made", write_owner_in_disguise);
  run("a message names memory of the owner", claim_owners_memory);
  run("a child inherits the memory of the device", scan_inherited);
  run("a child enlarges its mapping of a buffer", enlarge);
  // No client has mapped these, so nothing has moved them so far. The secret lies on both sides.
  unsigned char* pages[3];
  for (int i = 0; i < 3; ++i) pages[i] = map_buffer(node, create_buffer(node, page), page);
  memcpy(pages[0], secret, sizeof(secret));
  memcpy(pages[2], secret, sizeof(secret));
  inherited = pages[1];
  memset(inherited, 7, page);
  run("a child enlarges a mapping that it inherited", enlarge_inherited);
  run("a child loses a mapping that it inherited", share_inherited);
  expect_refused("a write of a child gets lost", inherited[2] == 8);
  expect_refused("the owner is harmed", is_served(node) && serves_clients(node));
  return finish_attacks();
}
