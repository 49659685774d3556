// QUERY: one call for the size, one for the data.
#include <stdlib.h>
#include <string.h>

#include "suite.h"

static int query(struct drm_i915_query_item* item) {
  struct drm_i915_query request = {.num_items = 1, .items_ptr = (uintptr_t)item};
  return call(DRM_IOCTL_I915_QUERY, &request);
}

// Returns zeroed memory that is never freed.
static void* ask(uint64_t id, uint32_t flags, int32_t* length) {
  struct drm_i915_query_item item = {.query_id = id, .flags = flags};
  if (query(&item) != 0 || item.length <= 0) {
    *length = item.length;
    return NULL;
  }
  void* data = calloc(1, (size_t)item.length);
  item.data_ptr = (uintptr_t)data;
  require(query(&item) == 0 && item.length > 0, "the second call fails");
  *length = item.length;
  return data;
}

static void lengths(void) {
  for (uint64_t id = 0; id <= 8; ++id) {
    for (uint32_t flags = 0; flags <= 3; ++flags) {
      struct drm_i915_query_item item = {.query_id = id, .flags = flags};
      expect(key("call %u flags %u", (unsigned)id, flags), query(&item), id == 0 ? -EINVAL : 0);
      observe(key("%u flags %u", (unsigned)id, flags), item.length);
    }
  }
  struct drm_i915_query_item item = {.query_id = 1ull << 40};
  expect("call huge", query(&item), 0);
  expect("huge", item.length, -EINVAL);
}

static void wrong(void) {
  struct drm_i915_query_item item = {.query_id = DRM_I915_QUERY_ENGINE_INFO};
  struct drm_i915_query request = {.num_items = 0};
  expect("no items", call(DRM_IOCTL_I915_QUERY, &request), 0);
  request = (struct drm_i915_query){.num_items = 1, .flags = 1, .items_ptr = (uintptr_t)&item};
  expect("flags", call(DRM_IOCTL_I915_QUERY, &request), -EINVAL);
  request = (struct drm_i915_query){.num_items = 1};
  expect("null", call(DRM_IOCTL_I915_QUERY, &request), -EFAULT);
  request.items_ptr = 0x1000;
  expect("wild", call(DRM_IOCTL_I915_QUERY, &request), -EFAULT);
  struct drm_i915_query_item items[3] = {
      {.query_id = 99}, {.query_id = DRM_I915_QUERY_ENGINE_INFO}, {.query_id = 77, .length = 5}};
  request = (struct drm_i915_query){.num_items = 3, .items_ptr = (uintptr_t)items};
  expect("three", call(DRM_IOCTL_I915_QUERY, &request), 0);
  expect("first", items[0].length, -EINVAL);
  expect_true("second", items[1].length > 0);
  expect("third", items[2].length, -EINVAL);
  items[1].query_id = 0;
  items[2].length = 5;
  expect("with number 0", call(DRM_IOCTL_I915_QUERY, &request), -EINVAL);
  expect("first again", items[0].length, -EINVAL);
  expect("third is not reached", items[2].length, 5);
}

// Invalid arguments of each query.
static void buffers(void) {
  for (uint64_t id = 1; id <= 6; ++id) {
    struct drm_i915_query_item item = {.query_id = id, .flags = id == DRM_I915_QUERY_PERF_CONFIG ? 1 : 0};
    query(&item);
    const int32_t length = item.length;
    if (length <= 0) continue;
    uint8_t* data = calloc(2, (size_t)length);
    const unsigned number = (unsigned)id;
    item.length = length - 1;
    item.data_ptr = (uintptr_t)data;
    expect(key("%u short call", number), query(&item), 0);
    observe(key("%u short", number), item.length);
    item.length = 1;
    query(&item);
    observe(key("%u one byte", number), item.length);
    item.length = -5;
    query(&item);
    observe(key("%u negative", number), item.length);
    item.length = length;
    item.data_ptr = 0;
    query(&item);
    observe(key("%u null", number), item.length);
    item.length = length;
    item.data_ptr = 0x1000;
    query(&item);
    observe(key("%u wild", number), item.length);
    memset(data, 0xff, 2 * (size_t)length);
    item.length = length;
    item.data_ptr = (uintptr_t)data;
    query(&item);
    observe(key("%u full of ones", number), item.length);
    memset(data, 0, 2 * (size_t)length);
    item.length = 2 * length;
    query(&item);
    observe(key("%u longer", number), item.length);
    free(data);
  }
}

static void topology(void) {
  int32_t length = 0;
  const struct drm_i915_query_topology_info* info = ask(DRM_I915_QUERY_TOPOLOGY_INFO, 0, &length);
  observe("length", length);
  if (info == NULL) return;
  observe_number("flags", info->flags);
  observe_number("slices", info->max_slices);
  observe_number("subslices", info->max_subslices);
  observe_number("execution units", info->max_eus_per_subslice);
  observe_number("subslice offset", info->subslice_offset);
  observe_number("subslice stride", info->subslice_stride);
  observe_number("unit offset", info->eu_offset);
  observe_number("unit stride", info->eu_stride);
  const size_t bytes = (size_t)length - sizeof(*info);
  for (size_t i = 0; i < bytes; ++i) observe_number(key("mask %02u", (unsigned)i), info->data[i]);
}

static void engine_list(void) {
  int32_t length = 0;
  const struct drm_i915_query_engine_info* info = ask(DRM_I915_QUERY_ENGINE_INFO, 0, &length);
  observe("length", length);
  if (info == NULL) return;
  expect_true("length fits", (size_t)length == sizeof(*info) + info->num_engines * sizeof(info->engines[0]));
  for (unsigned i = 0; i < info->num_engines; ++i) {
    const struct drm_i915_engine_info* engine = &info->engines[i];
    observe_text(key("%u", i), key("class %u instance %u flags %x capabilities %x logical %u",
                                   engine->engine.engine_class, engine->engine.engine_instance, (unsigned)engine->flags,
                                   (unsigned)engine->capabilities, engine->logical_instance));
  }
}

static void regions(void) {
  int32_t length = 0;
  const struct drm_i915_query_memory_regions* info = ask(DRM_I915_QUERY_MEMORY_REGIONS, 0, &length);
  observe("length", length);
  if (info == NULL) return;
  for (unsigned i = 0; i < info->num_regions; ++i) {
    const struct drm_i915_memory_region_info* region = &info->regions[i];
    observe_text(key("%u", i),
                 key("class %u instance %u", region->region.memory_class, region->region.memory_instance));
    expect_true(key("%u has a size", i), region->probed_size > 0 && region->probed_size % 4096 == 0);
    observe_text(key("%u all is free to those without right", i),
                 region->unallocated_size == region->probed_size ? "yes" : "no");
    const uint64_t visible = region->probed_cpu_visible_size;
    observe_text(key("%u processor sees", i), visible == region->probed_size ? "all"
                                              : visible == 0                 ? "unknown"
                                                                             : "a part");
  }
  expect_number("regions", info->num_regions, chip.has_local_memory ? 2 : 1);
}

const struct test query_tests[] = {{"query.lengths", lengths, 0},
                                   {"query.wrong", wrong, 0},
                                   {"query.buffers", buffers, 0},
                                   {"query.topology", topology, 0},
                                   {"query.engines", engine_list, 0},
                                   {"query.regions", regions, 0},
                                   {0}};
