// One buffer has the same bytes through every kind of mapping, for an engine and on the screen.
#include <sys/mman.h>

#include <mutex>

#include "covers.h"
#include "picture/image.h"
#include "unit/driver/screen_door.h"

namespace halogen::driver {
namespace {

class Coherent : public ScreenDoor {
 protected:
  void SetUp() override {
    DriverOptions options;
    options.frames = [this](const picture::Image& image) {
      const std::lock_guard lock(lock_);
      last_ = image.at(3, 2);
    };
    boot(options);
    driver->close(file);
    file = driver->open({.render = false});
  }
  uint32_t* map(uint32_t handle, uint64_t kind, uint64_t bytes) {
    drm_i915_gem_mmap_offset offset{};
    offset.handle = handle;
    offset.flags = kind;
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_MMAP_OFFSET, offset), 0);
    void* const place = driver->map_here(*file, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, offset.offset);
    EXPECT_NE(place, MAP_FAILED);
    return static_cast<uint32_t*>(place);
  }
  // An engine stores a dword at an offset of the buffer.
  void store(uint32_t handle, uint32_t offset, uint32_t value) {
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = handle;
    objects[0].flags = EXEC_OBJECT_WRITE;
    objects[1].handle = create(4096);
    drm_i915_gem_relocation_entry relocation{};
    relocation.target_handle = handle;
    relocation.delta = offset;
    relocation.presumed_offset = ~uint64_t{0};
    const bool relocated = driver->shared_space() != nullptr;
    constexpr uint32_t kPlace = 0x4000'0000;
    if (!relocated) {
      objects[0].offset = kPlace;
      objects[1].offset = kPlace / 2;
      objects[0].flags |= EXEC_OBJECT_PINNED;
      objects[1].flags |= EXEC_OBJECT_PINNED;
    }
    if (!atomic_there()) {  // Gen4 drops stores of batches: XY_COLOR_BLT of one pixel
      relocation.offset = 16;
      fill(objects[1].handle, {0x5430'0004, 0x03f0'0000 | 4096, 0, 1u << 16 | 1, 0, value, 0x0500'0000, 0});
    } else if (narrow()) {
      relocation.offset = 8;
      fill(objects[1].handle, {0x1000'0002, 0, kPlace + offset, value, 0x0500'0000, 0});
    } else {
      fill(objects[1].handle, {0x1000'0002, kPlace + offset, 0, value, 0x0500'0000, 0});
    }
    if (relocated) {
      objects[1].relocation_count = 1;
      objects[1].relocs_ptr = reinterpret_cast<uintptr_t>(&relocation);
    }
    ASSERT_EQ(execute(objects), 0);
    ASSERT_EQ(wait(handle), 0);
  }

  std::mutex lock_;
  picture::Rgba last_{};
};
INSTANTIATE_TEST_SUITE_P(All, Coherent, ::testing::ValuesIn(all_chips()), chip_name);

// The first use of a buffer as a framebuffer, not its registration, makes it uncached; what the program wrote before,
// through a cached view, is on the screen.
TEST_P(Coherent, FirstScanOutMakesTheBufferUncached) {
  COVERS("NOTES-DRV-03");
  const Picture shown = make_picture(), other = make_picture();
  drm_i915_gem_caching level{.handle = shown.handle, .caching = I915_CACHING_CACHED};
  const int answer = call(DRM_IOCTL_I915_GEM_SET_CACHING, level);
  if (local()) {
    EXPECT_EQ(answer, -ENODEV) << "buffers of local memory have no cache level";
    return;
  }
  const auto level_of = [&](const Picture& picture) {
    drm_i915_gem_caching got{.handle = picture.handle, .caching = ~0u};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_GET_CACHING, got), 0);
    return got.caching;
  };
  const uint32_t first = answer == 0 ? I915_CACHING_CACHED : I915_CACHING_NONE;
  EXPECT_EQ(level_of(shown), first);
  const uint32_t before = level_of(other);
  const uint64_t bytes = uint64_t{shown.pitch} * kHeight;
  uint32_t* const view = map(shown.handle, I915_MMAP_OFFSET_WB, bytes);
  view[(2 * shown.pitch + 3 * 4) / 4] = 0x0056'789a;
  ASSERT_EQ(set(shown.id), 0);
  EXPECT_EQ(level_of(shown), uint32_t{I915_CACHING_NONE});
  EXPECT_EQ(level_of(other), before) << "a framebuffer that is not shown yet";
  driver->finish_display();
  {
    const std::lock_guard lock(lock_);
    EXPECT_EQ(uint32_t{last_.red} << 16 | uint32_t{last_.green} << 8 | last_.blue, 0x0056'789au);
  }
  ASSERT_EQ(set(other.id), 0);
  EXPECT_EQ(level_of(shown), uint32_t{I915_CACHING_NONE}) << "the level stays";
  unmap(view, bytes);
}

TEST_P(Coherent, EveryViewHasTheSameBytes) {
  COVERS("NOTES-DRV-05");
  const Picture shown = make_picture(), other = make_picture();
  const uint32_t at = 2 * shown.pitch + 3 * 4;
  const uint64_t bytes = uint64_t{shown.pitch} * kHeight;
  const std::vector<uint64_t> kinds =
      local() ? std::vector<uint64_t>{I915_MMAP_OFFSET_FIXED}
              : std::vector<uint64_t>{I915_MMAP_OFFSET_WB, I915_MMAP_OFFSET_WC, I915_MMAP_OFFSET_UC};
  std::vector<uint32_t*> views;
  for (const uint64_t kind : kinds) {
    views.push_back(map(shown.handle, kind, bytes));
  }
  ASSERT_EQ(set(other.id), 0);
  const auto on_screen = [&] {
    EXPECT_EQ(set(shown.id), 0);  // the first use as a framebuffer, and each later one
    driver->finish_display();
    picture::Rgba pixel;
    {
      const std::lock_guard lock(lock_);
      pixel = last_;
    }
    EXPECT_EQ(set(other.id), 0);
    return uint32_t{pixel.red} << 16 | uint32_t{pixel.green} << 8 | pixel.blue;
  };
  uint32_t value = 0x0012'3456;
  for (uint32_t* const writer : views) {
    value += 0x0001'0101;
    writer[at / 4] = value;
    EXPECT_EQ(on_screen(), value) << "the program's write, without a flush";
    for (const uint32_t* const reader : views) {
      EXPECT_EQ(reader[at / 4], value);
    }
    value += 0x0001'0101;
    store(shown.handle, at, value);
    EXPECT_EQ(on_screen(), value) << "the engine's write";
    for (const uint32_t* const reader : views) {
      EXPECT_EQ(reader[at / 4], value);
    }
  }
  for (uint32_t* const view : views) {
    unmap(view, bytes);
  }
}

}  // namespace
}  // namespace halogen::driver
