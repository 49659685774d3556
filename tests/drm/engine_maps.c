// Contexts with an engine map.
#include <string.h>

#include "suite.h"

enum { most = 8 };
struct map {
  uint64_t extensions;
  struct i915_engine_class_instance engines[most];
};

static int create_with(const struct map* map, uint32_t bytes, uint32_t* context) {
  struct drm_i915_gem_context_create_ext_setparam set = {
      .base = {.name = I915_CONTEXT_CREATE_EXT_SETPARAM},
      .param = {.param = I915_CONTEXT_PARAM_ENGINES, .size = bytes, .value = (uintptr_t)map}};
  struct drm_i915_gem_context_create_ext request = {.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS,
                                                    .extensions = (uintptr_t)&set};
  const int result = call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, &request);
  if (context != NULL) *context = request.ctx_id;
  return result;
}

static int execute_nothing(uint64_t flags, uint32_t context) {
  struct batch batch;
  start_batch(&batch);
  return submit(&batch, flags, context);
}

static void wrong(void) {
  struct map map = {.engines = {{0, 0}, {0, 0}}};
  static const uint32_t sizes[] = {0, 4, 7, 8, 9, 10, 12, 16, 40};
  for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    observe(key("size %u", sizes[i]), create_with(&map, sizes[i], NULL));
  }
  observe("null", create_with(NULL, 12, NULL));
  observe("wild", create_with((void*)0x10, 12, NULL));
  static const struct i915_engine_class_instance rows[] = {
      {0, 1},           {1, 9},      {9, 0},      {5, 0},      {0xffff, 0xffff},
      {0xffff, 0xfffe}, {0xffff, 0}, {0, 0xffff}, {0, 0xfffe}, {4, 0}};
  for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    map.engines[0] = rows[i];
    observe(key("engine %x:%x", rows[i].engine_class, rows[i].engine_instance), create_with(&map, 12, NULL));
  }
  map = (struct map){.extensions = 0x10, .engines = {{0, 0}}};
  observe("wild extension", create_with(&map, 12, NULL));
  struct i915_user_extension extension = {.name = 77};
  map.extensions = (uintptr_t)&extension;
  observe("unknown extension", create_with(&map, 12, NULL));
}

static void maps(void) {
  const struct map map = {.engines = {{0, 0}, {0xffff, 0xffff}, {0, 0}}};
  uint32_t context = 0;
  const int made = create_with(&map, 8 + 4 * 3, &context);
  expect("create", made, 0);
  if (made < 0) return;
  const struct object target = create(4096);
  expect("first", store(0, context, &target, 0, 0x11), 0);
  expect("hole", execute_nothing(1, context), -EINVAL);
  expect("third", store(2, context, &target, 4, 0x22), 0);
  expect("behind", execute_nothing(3, context), -EINVAL);
  expect("far behind", execute_nothing(63, context), -EINVAL);
  observe("with a flag of the video engine", execute_nothing(2 | 1 << 13, context));
  wait_for(&target);
  expect_number("first word", word_at(&target, 0), 0x11);
  expect_number("second word", word_at(&target, 4), 0x22);
  struct map seen = {0};
  struct drm_i915_gem_context_param request = {.ctx_id = context, .param = I915_CONTEXT_PARAM_ENGINES};
  observe("get size", call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &request));
  observe_number("size", request.size);
  request.size = sizeof(seen);
  request.value = (uintptr_t)&seen;
  const int got = call(DRM_IOCTL_I915_GEM_CONTEXT_GETPARAM, &request);
  observe("get", got);
  observe_number("size told", request.size);
  for (unsigned i = 0; i < 3 && got == 0; ++i) {
    observe_text(key("engine %u", i), key("%x:%x", seen.engines[i].engine_class, seen.engines[i].engine_instance));
  }
  request = (struct drm_i915_gem_context_param){
      .ctx_id = context, .param = I915_CONTEXT_PARAM_ENGINES, .size = 12, .value = (uintptr_t)&map};
  observe("set when it was used", call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &request));
  expect("empty map", create_with(&map, 8, &context), 0);
  expect("nothing to execute on", execute_nothing(0, context), -EINVAL);
  request = (struct drm_i915_gem_context_param){
      .ctx_id = create_context(), .param = I915_CONTEXT_PARAM_ENGINES, .size = 12, .value = (uintptr_t)&map};
  observe("set on a new context", call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &request));
  request.ctx_id = 0;
  observe("set on the default", call(DRM_IOCTL_I915_GEM_CONTEXT_SETPARAM, &request));
}

// Tests a balanced engine, which is one of several.
static void balanced(void) {
  struct {
    struct i915_context_engines_load_balance base;
    struct i915_engine_class_instance engines[2];
  } balance = {.base = {.base = {.name = I915_CONTEXT_ENGINES_EXT_LOAD_BALANCE}, .num_siblings = 2},
               .engines = {{I915_ENGINE_CLASS_VIDEO, 0}, {I915_ENGINE_CLASS_VIDEO, 1}}};
  struct map map = {.extensions = (uintptr_t)&balance, .engines = {{0xffff, 0xffff}, {0, 0}}};
  uint32_t context = 0;
  const int made = create_with(&map, 16, &context);
  observe("two video engines", made);
  if (made == 0) {
    const struct object target = create(4096);
    expect("store", store(0, context, &target, 0, 0x33), 0);
    wait_for(&target);
    expect_number("word", word_at(&target, 0), 0x33);
  }
  balance.base.num_siblings = 1;
  balance.engines[0] = (struct i915_engine_class_instance){0, 0};
  observe("one engine", create_with(&map, 16, NULL));
  balance.base.engine_index = 1;
  observe("place taken", create_with(&map, 16, NULL));
  balance.base.engine_index = 2;
  observe("no such place", create_with(&map, 16, NULL));
  balance.base.engine_index = 0;
  balance.base.flags = 1;
  observe("flags", create_with(&map, 16, NULL));
  balance.base.flags = 0;
  balance.base.num_siblings = 0;
  observe("none", create_with(&map, 16, NULL));
  balance.base.num_siblings = 2;
  balance.engines[1] = (struct i915_engine_class_instance){1, 0};
  observe("mixed", create_with(&map, 16, NULL));
}

// All engines that QUERY names accept work by their index in a map.
static void every_engine(void) {
  struct {
    struct drm_i915_query_engine_info info;
    struct drm_i915_engine_info engines[16];
  } data;
  memset(&data, 0, sizeof(data));
  struct drm_i915_query_item item = {
      .query_id = DRM_I915_QUERY_ENGINE_INFO, .length = sizeof(data), .data_ptr = (uintptr_t)&data};
  struct drm_i915_query query = {.num_items = 1, .items_ptr = (uintptr_t)&item};
  require(call(DRM_IOCTL_I915_QUERY, &query) == 0, "the engines cannot be asked for");
  if (item.length < 0) {
    observe("query", item.length);
    return;
  }
  struct map map = {0};
  const unsigned count = data.info.num_engines < most ? data.info.num_engines : most;
  for (unsigned i = 0; i < count; ++i) map.engines[i] = data.info.engines[i].engine;
  uint32_t context = 0;
  expect("create", create_with(&map, 8 + 4 * count, &context), 0);
  const struct object target = create(4096);
  for (unsigned i = 0; i < count; ++i) {
    if (chip.generation == 4 && map.engines[i].engine_class != 0) continue;
    expect(key("store %u", i), store(i, context, &target, 4 * i, 0x70 + i), 0);
    wait_for(&target);
    expect_number(key("word %u", i), word_at(&target, 4 * i), 0x70 + i);
  }
}

const struct test engine_map_tests[] = {{"engine-maps.wrong", wrong, 0},
                                        {"engine-maps.used", maps, 0},
                                        {"engine-maps.balanced", balanced, 0},
                                        {"engine-maps.every-engine", every_engine, 0},
                                        {0}};
