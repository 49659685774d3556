#include <fcntl.h>
#include <sys/ioctl.h>

#include "suite.h"

struct chip chip;
int device = -1;
const char* node = "/dev/dri/renderD128";

const struct engine engines[engine_kinds] = {
    {"render", I915_EXEC_RENDER, 0, I915_ENGINE_CLASS_RENDER, 0},
    {"blit", I915_EXEC_BLT, I915_PARAM_HAS_BLT, I915_ENGINE_CLASS_COPY, 0},
    {"video", I915_EXEC_BSD, I915_PARAM_HAS_BSD, I915_ENGINE_CLASS_VIDEO, 0},
    {"enhancement", I915_EXEC_VEBOX, I915_PARAM_HAS_VEBOX, I915_ENGINE_CLASS_VIDEO_ENHANCE, 0}};

int call_on(int file, unsigned long request, void* argument) {
  for (int tries = 0;; ++tries) {
    const int result = ioctl(file, request, argument);
    if (result >= 0) return result;
    if ((errno != EINTR && errno != EAGAIN) || tries == 100000) return -errno;
  }
}

int call(unsigned long request, void* argument) {
  return call_on(device, request, argument);
}

int parameter(int number) {
  int value = -1;
  struct drm_i915_getparam request = {.param = number, .value = &value};
  const int result = call(DRM_IOCTL_I915_GETPARAM, &request);
  return result < 0 ? result : value;
}

int has_engine(unsigned number) {
  return engines[number].parameter == 0 || parameter(engines[number].parameter) > 0;
}

static int generation_of(int id) {
  static const struct {
    int family, generation;
  } families[] = {{0x29, 4}, {0x2a, 4}, {0x2e, 4},  {0x01, 6},  {0x16, 8},
                  {0x22, 8}, {0x19, 9}, {0x8a, 11}, {0x9a, 12}, {0x49, 12}};
  for (unsigned i = 0; i < sizeof(families) / sizeof(families[0]); ++i) {
    if (id >> 8 == families[i].family) return families[i].generation;
  }
  return 0;
}

int open_device(void) {
  const int file = open(node, O_RDWR | O_CLOEXEC);
  if (file < 0 || chip.generation != 0) return file;
  device = file;
  chip.id = parameter(I915_PARAM_CHIPSET_ID);
  chip.generation = generation_of(chip.id);
  require(chip.generation != 0, "this chip is not known");
  chip.has_local_memory = chip.id >> 8 == 0x49;
  chip.has_relocations = !chip.has_local_memory;
  chip.has_own_spaces = chip.generation >= 8;
  return file;
}
