// Parallel engines: one call submits a batch for each, and completes when all are done.
#include <cerrno>
#include <cstring>

#include "door.h"

namespace halogen::driver {
namespace {

class Parallel : public Door {
 protected:
  static constexpr uint16_t kWidth = 2;

  // Creates a context with one parallel slot of the first video engines. Returns 0 or an errno.
  int make_context(uint16_t siblings, uint32_t& number) {
    I915_DEFINE_CONTEXT_ENGINES_PARALLEL_SUBMIT(both, kWidth){};
    both.base.name = I915_CONTEXT_ENGINES_EXT_PARALLEL_SUBMIT;
    both.width = kWidth;
    both.num_siblings = siblings;
    for (uint16_t i = 0; i < kWidth; ++i) both.engines[i] = {I915_ENGINE_CLASS_VIDEO, i};
    struct {
      uint64_t extensions;
      i915_engine_class_instance engine;
    } map{};
    map.extensions = reinterpret_cast<uintptr_t>(&both);
    map.engine = {static_cast<uint16_t>(I915_ENGINE_CLASS_INVALID),
                  static_cast<uint16_t>(I915_ENGINE_CLASS_INVALID_NONE)};
    drm_i915_gem_context_create_ext_setparam set{};
    set.base.name = I915_CONTEXT_CREATE_EXT_SETPARAM;
    set.param.param = I915_CONTEXT_PARAM_ENGINES;
    set.param.value = reinterpret_cast<uintptr_t>(&map);
    set.param.size = sizeof map.extensions + sizeof map.engine;
    drm_i915_gem_context_create_ext create{};
    create.flags = I915_CONTEXT_CREATE_FLAGS_USE_EXTENSIONS;
    create.extensions = reinterpret_cast<uintptr_t>(&set);
    const int result = call(DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, create);
    number = create.ctx_id;
    return result;
  }
  drm_i915_gem_exec_object2 pinned(uint32_t handle, uint32_t place, uint64_t flags = 0) {
    drm_i915_gem_exec_object2 object{};
    object.handle = handle;
    object.offset = place;
    object.flags = EXEC_OBJECT_PINNED | flags;
    return object;
  }
};

TEST_P(Parallel, EachParallelEngineRunsItsBatch) {
  if (driver->gpu().find_user(I915_ENGINE_CLASS_VIDEO, 1) == nullptr) GTEST_SKIP() << "one video engine";
  uint32_t context = 0;
  EXPECT_EQ(make_context(2, context), -EINVAL) << "needs firmware";
  ASSERT_EQ(make_context(1, context), 0);
  constexpr uint32_t kData = 0x10'0000, kBatches = 0x20'0000;
  const uint32_t data = create(4096);
  std::vector<drm_i915_gem_exec_object2> objects{pinned(data, kData, EXEC_OBJECT_WRITE)};
  for (uint32_t i = 0; i < kWidth; ++i) {
    const uint32_t batch = create(4096);
    fill(batch, {0x1000'0002, kData + 4 * i, 0, 0x55 + i, 0x0500'0000, 0});  // a store
    objects.push_back(pinned(batch, kBatches + 0x1000 * i));
  }
  ASSERT_EQ(execute(objects, 0, context), 0);
  EXPECT_EQ(wait(data), 0);
  uint32_t words[kWidth];
  std::memcpy(words, content(data).data(), sizeof words);
  EXPECT_EQ(words[0], 0x55u);
  EXPECT_EQ(words[1], 0x56u);
  objects.resize(1);
  EXPECT_EQ(execute(objects, 0, context), -EINVAL) << "one batch per engine is required";
}

INSTANTIATE_TEST_SUITE_P(Chips, Parallel, ::testing::ValuesIn(all_chips()), chip_name);

}  // namespace
}  // namespace halogen::driver
