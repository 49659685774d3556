// A batch of a file starts the observation unit without a stream. Reports must not reach memory of another file whose
// batches run meanwhile: not the lowest addresses, which are the unit's buffer after a reset.
// devices: bdw chv skl icl
#define _GNU_SOURCE
#include "attack.h"

enum { page = 4096, first_bytes = 128 << 10, untouched = 0x5a5a5a5a };
static const uint64_t pinned = EXEC_OBJECT_PINNED | EXEC_OBJECT_SUPPORTS_48B_ADDRESS;

struct program {
  int node;
  uint32_t batch, first;   // buffers; `first` lies at address 0
  uint32_t* commands;
  uint32_t* content;  // of `first`
};

static struct program start(void) {
  struct program self = {.node = open_node()};
  self.batch = create_buffer(self.node, page);
  self.first = create_buffer(self.node, first_bytes);
  self.commands = map_buffer(self.node, self.batch, page);
  self.content = map_buffer(self.node, self.first, first_bytes);
  for (unsigned i = 0; i < first_bytes / 4; ++i) self.content[i] = untouched;
  self.commands[0] = 0x05000000;  // MI_BATCH_BUFFER_END
  return self;
}
static void run(const struct program* self) {
  struct drm_i915_gem_exec_object2 objects[2] = {{.handle = self->first, .offset = 0, .flags = pinned},
                                                 {.handle = self->batch, .offset = 1 << 24, .flags = pinned}};
  struct drm_i915_gem_execbuffer2 execute = {.buffers_ptr = (uintptr_t)objects, .buffer_count = 2};
  require(ioctl(self->node, DRM_IOCTL_I915_GEM_EXECBUFFER2, &execute) == 0, "cannot execute");
  struct drm_i915_gem_wait wait = {.bo_handle = self->batch, .timeout_ns = -1};
  require(ioctl(self->node, DRM_IOCTL_I915_GEM_WAIT, &wait) == 0, "cannot wait");
}
static int is_untouched(const struct program* self) {
  for (unsigned i = 0; i < first_bytes / 4; ++i) {
    if (self->content[i] != untouched) return 0;
  }
  return 1;
}

int main(void) {
  const struct program victim = start(), attacker = start();
  const uint32_t commands[] = {0x11000001, 0x2360, 3,           // OACTXCONTROL: a fast timer
                               0x11000001, 0x2b00, 1 | 5 << 2,  // OACONTROL: on, reports of 256 bytes
                               0x05000000, 0};
  memcpy(attacker.commands, commands, sizeof(commands));
  for (int i = 0; i < 20; ++i) {
    run(&attacker);
    run(&victim);
  }
  expect_refused("a batch without privilege lets reports reach another file", is_untouched(&victim));
  return finish_attacks();
}
