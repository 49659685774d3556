// A client that may map one buffer reaches for the rest of the device's memory, or changes the size of shared files.
#define _GNU_SOURCE
#include "attack.h"

enum { page = 4096 };
static int node;
static uint32_t own_buffer;
static uint64_t own_offset, foreign_offset;
static struct stat info;
static const char secret[] = "another buffer of the device";

static uint64_t offset_of(int file, uint32_t handle) {
  struct drm_i915_gem_mmap_offset map = {.handle = handle, .flags = I915_MMAP_OFFSET_WB};
  if (ioctl(file, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &map) != 0) {
    map.flags = I915_MMAP_OFFSET_FIXED;
    require(ioctl(file, DRM_IOCTL_I915_GEM_MMAP_OFFSET, &map) == 0, "no offset of a buffer");
  }
  return map.offset;
}

// Asks for a mapping in both formats of the protocol. Returns the descriptor or -1.
static int ask_for_map(uint64_t offset, uint64_t bytes) {
  int file = -1;
  struct channel channel;
  if (open_channel(node, &channel)) {
    struct request head = {.ask = ask_map, .request = bytes, .argument = offset};
    memcpy((void*)(uintptr_t)(channel.memory + head_bytes), &head, sizeof(head));
    return ask(&channel, sizeof(head), NULL, 0, &file) ? file : -1;
  }
  const struct first_call call = {.ask = ask_map, .request = bytes, .argument = offset};
  struct first_answer answer;
  first_ask(node, &call, -1, &answer, &file);
  return file;
}

static int read_all(void) {
  const int file = ask_for_map(own_offset, page);
  if (file < 0 || fstat(file, &info) != 0) return 0;
  static char block[page];
  for (off_t at = 0; at < info.st_size && at < (256 << 20); at += page) {
    if (pread(file, block, page, at) == page && memcmp(block, secret, sizeof(secret)) == 0) return 1;
  }
  return info.st_size > 16 * page;
}
static int change_size(void) {
  const int file = ask_for_map(own_offset, page);
  if (file < 0 || fstat(file, &info) != 0) return 0;
  return ftruncate(file, 2 * info.st_size) == 0 || ftruncate(file, 0) == 0;
}
// A file that the client can reach may not lose its seals, nor get one that stops the owner.
static int add_seal(void) {
  const int file = ask_for_map(own_offset, page);
  return file >= 0 && fcntl(file, F_ADD_SEALS, F_SEAL_WRITE) == 0;
}
static int change_size_of_exported(void) {
  const int file = export_buffer(node, own_buffer);
  return ftruncate(file, 1 << 20) == 0 || ftruncate(file, 0) == 0;
}
static int change_size_of_sync_object(void) {
  struct drm_syncobj_create create = {0};
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_CREATE, &create) != 0) return 0;
  struct drm_syncobj_handle handle = {.handle = create.handle};
  if (ioctl(node, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle) != 0) return 0;
  return ftruncate(handle.fd, 1 << 20) == 0 || ftruncate(handle.fd, 0) == 0;
}
static int change_size_of_purged(void) {
  const uint32_t purged = create_buffer(node, page);
  struct drm_i915_gem_madvise advice = {.handle = purged, .madv = I915_MADV_DONTNEED};
  const uint64_t offset = offset_of(node, purged);
  if (ioctl(node, DRM_IOCTL_I915_GEM_MADVISE, &advice) != 0) return 0;
  const int file = ask_for_map(offset, page);
  return file >= 0 && ftruncate(file, 1 << 20) == 0;
}
static int map_foreign(void) {
  return ask_for_map(foreign_offset, page) >= 0;
}
static int map_beyond(void) {
  const uint64_t wrong[] = {0, page, own_offset + page, own_offset - page, ~0ull, ~0ull << 12, 1ull << 63};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    if (ask_for_map(wrong[i], page) >= 0) return 1;
  }
  return ask_for_map(own_offset, 16 * page) >= 0 || ask_for_map(own_offset, ~0ull) >= 0;
}

// mremap(2) with an old length of zero maps the same memory once more, as long as one likes, also after the buffer.
static int map_twice(const char* own) {
  char* const place = mremap((void*)(uintptr_t)own, 0, 64 * page, MREMAP_MAYMOVE);
  if (place == MAP_FAILED) return 0;
  int found = 0;
  for (int i = 0; i < 64; ++i) found |= memcmp(place + i * page, secret, sizeof(secret)) == 0;
  munmap(place, 64 * page);
  return found;
}

int main(void) {
  node = open_node();
  require(serves_clients(node), "the owner does not answer a client");
  const int other_node = open_node();
  own_buffer = create_buffer(node, page);
  own_offset = offset_of(node, own_buffer);
  const uint32_t foreign = create_buffer(other_node, page);
  foreign_offset = offset_of(other_node, foreign);
  char* const own = map_buffer(node, own_buffer, page);
  own[0] = 1;
  char* const content = map_buffer(other_node, foreign, page);
  memcpy(content, secret, sizeof(secret));
  expect_refused("a second mapping of a buffer shows the memory after it", !map_twice(own));
  expect_refused("the file of a mapping shows other buffers", in_child(read_all));
  expect_refused("a client changes the size of a buffer's file", in_child(change_size));
  own[1] = 2;  // ends this program if the file has shrunk
  expect_refused("a client seals a buffer's file against the device", in_child(add_seal));
  expect_refused("a client changes the size of an exported buffer", in_child(change_size_of_exported));
  expect_refused("a client changes the size of a sync object's log", in_child(change_size_of_sync_object));
  expect_refused("a client maps a buffer of another file", in_child(map_foreign));
  expect_refused("a client maps beyond its buffer", in_child(map_beyond));
  expect_refused("a client changes the size of the file of purged buffers", in_child(change_size_of_purged));
  expect_refused("the owner is harmed", is_served(node) && serves_clients(node) && memcmp(content, secret, sizeof(secret)) == 0);
  return finish_attacks();
}
