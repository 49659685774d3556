// Runs in the guest: the work of a small driver through i915's interface. Prints a line a step; status 0: all is right.
#include <errno.h>
#include <fcntl.h>
#include <i915_drm.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int device = -1;
static int failures = 0;

static int call(unsigned long request, void* argument) {
  int result;
  do {
    result = ioctl(device, request, argument);
  } while (result == -1 && (errno == EINTR || errno == EAGAIN));
  return result;
}

static void expect(int holds, const char* what) {
  printf("%s: %s\n", holds ? "ok" : "FAILED", what);
  failures += !holds;
}

static int parameter(int number) {
  int value = -1;
  struct drm_i915_getparam get = {.param = number, .value = &value};
  return call(DRM_IOCTL_I915_GETPARAM, &get) == 0 ? value : -1;
}

static uint32_t create(uint64_t bytes) {
  struct drm_i915_gem_create object = {.size = bytes};
  return call(DRM_IOCTL_I915_GEM_CREATE, &object) == 0 ? object.handle : 0;
}

// Boards with local memory know objects by mapping only.
static int has_local_memory = 0;

static void* map(uint32_t handle, uint64_t bytes) {
  struct drm_i915_gem_mmap_offset offset = {.handle = handle, .flags = I915_MMAP_OFFSET_FIXED};
  if (call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, &offset) != 0) return MAP_FAILED;
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, device, (off_t)offset.offset);
}

static int move(uint32_t handle, uint64_t offset, void* data, uint64_t bytes, int in) {
  char* memory = map(handle, offset + bytes);
  if (memory == MAP_FAILED) return -1;
  if (in) {
    memcpy(memory + offset, data, bytes);
  } else {
    memcpy(data, memory + offset, bytes);
  }
  return munmap(memory, offset + bytes);
}

static int put(uint32_t handle, uint64_t offset, void* data, uint64_t bytes) {
  if (has_local_memory) return move(handle, offset, data, bytes, 1);
  struct drm_i915_gem_pwrite write = {.handle = handle, .offset = offset, .size = bytes, .data_ptr = (uintptr_t)data};
  return call(DRM_IOCTL_I915_GEM_PWRITE, &write);
}

static int get(uint32_t handle, uint64_t offset, void* data, uint64_t bytes) {
  if (has_local_memory) return move(handle, offset, data, bytes, 0);
  struct drm_i915_gem_pread read = {.handle = handle, .offset = offset, .size = bytes, .data_ptr = (uintptr_t)data};
  return call(DRM_IOCTL_I915_GEM_PREAD, &read);
}

// MI_STORE_DATA_IMM into the start of a target object, in the form of this chip.
static unsigned store(uint32_t* at, int wide, int early, uint32_t value) {
  unsigned n = 0;
  at[n++] = 0x10000002 | (early ? 1u << 22 : 0);
  if (!wide) at[n++] = 0;
  at[n++] = 0;
  if (wide) at[n++] = 0;
  at[n++] = value;
  return n;
}

static int run(uint32_t target, uint32_t batch, int wide, int early, uint64_t engine, uint32_t value) {
  uint32_t words[16] = {0};
  const unsigned n = store(words, wide, early, value);
  const uint64_t target_at = 0x100000, batch_at = 0x200000;  // where there are no relocations
  if (has_local_memory) words[1] = (uint32_t)target_at;
  words[n] = 0x05000000;  // MI_BATCH_BUFFER_END
  if (put(batch, 0, words, sizeof(words)) != 0) return -1;
  struct drm_i915_gem_relocation_entry relocation = {.target_handle = target,
                                                     .offset = wide ? 4 : 8,
                                                     .read_domains = I915_GEM_DOMAIN_INSTRUCTION,
                                                     .write_domain = I915_GEM_DOMAIN_INSTRUCTION,
                                                     .presumed_offset = (uint64_t)-1};
  struct drm_i915_gem_exec_object2 objects[2] = {
      {.handle = target, .flags = EXEC_OBJECT_WRITE | (wide ? EXEC_OBJECT_SUPPORTS_48B_ADDRESS : 0)},
      {.handle = batch, .relocation_count = 1, .relocs_ptr = (uintptr_t)&relocation}};
  if (has_local_memory) {
    objects[0].offset = target_at;
    objects[0].flags |= EXEC_OBJECT_PINNED;
    objects[1].offset = batch_at;
    objects[1].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS;
    objects[1].relocation_count = 0;
  }
  struct drm_i915_gem_execbuffer2 execute = {.buffers_ptr = (uintptr_t)objects,
                                             .buffer_count = 2,
                                             .batch_len = sizeof(words),
                                             .flags = engine | (early ? I915_EXEC_SECURE : 0)};
  if (call(DRM_IOCTL_I915_GEM_EXECBUFFER2, &execute) != 0) {
    execute.flags = engine;
    if (call(DRM_IOCTL_I915_GEM_EXECBUFFER2, &execute) != 0) return -1;
  }
  struct drm_i915_gem_wait wait = {.bo_handle = batch, .timeout_ns = 10000000000ll};
  return call(DRM_IOCTL_I915_GEM_WAIT, &wait);
}

int main(void) {
  device = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
  expect(device >= 0, "the device opens");
  if (device < 0) return 1;
  expect(access("/dev/dri/renderD128", F_OK) == 0, "there is a render node");
  const int id = parameter(I915_PARAM_CHIPSET_ID);
  printf("chip %04x\n", (unsigned)id);
  const int early = (id & 0xff00) == 0x2900 || (id & 0xff00) == 0x2a00 || (id & 0xff00) == 0x2e00;
  const int wide = !early && (id & 0xff00) != 0x0100;
  has_local_memory = id == 0x4905;
  const uint32_t target = create(4096), batch = create(4096);
  expect(target != 0 && batch != 0, "objects are made");
  static const struct {
    const char* name;
    uint64_t flag;
    int parameter;
  } engines[] = {{"render", I915_EXEC_RENDER, 0},
                 {"blit", I915_EXEC_BLT, I915_PARAM_HAS_BLT},
                 {"video", I915_EXEC_BSD, I915_PARAM_HAS_BSD},
                 {"video enhancement", I915_EXEC_VEBOX, I915_PARAM_HAS_VEBOX}};
  for (unsigned i = 0; i < sizeof(engines) / sizeof(engines[0]); ++i) {
    if (engines[i].parameter != 0 && parameter(engines[i].parameter) <= 0) continue;
    if (early && i != 0) continue;  // stores of these streamers need privilege there
    uint32_t value = 0;
    const uint32_t wanted = 0xc0de0001 + i;
    const int done = run(target, batch, wide, early, engines[i].flag, wanted);
    get(target, 0, &value, sizeof(value));
    char text[96];
    snprintf(text, sizeof(text), "%s stores %08x: %d, %08x", engines[i].name, wanted, done, value);
    expect(done == 0 && value == wanted, text);
  }
  return failures != 0;
}
