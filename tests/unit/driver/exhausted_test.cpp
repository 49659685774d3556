// Memory that runs out at any page: calls return ENOMEM or ENOSPC, nothing leaks, and everything works when memory is
// available again. On chips of each kind of mapping and submission.
#include <fcntl.h>
#include <libdrm/drm_mode.h>
#include <unistd.h>

#include <array>

#include "driver/kms/kms.h"
#include "unit/driver/screen_door.h"

namespace halogen::driver {
namespace {

class Exhausted : public ScreenDoor {
 protected:
  uint64_t free_pages() {
    uint64_t pages = 0;
    driver->with_lock([&] {
      Hardware& hardware = driver->gpu().hardware();
      pages = (hardware.pages(false).free_bytes() + hardware.pages(true).free_bytes()) / kPageBytes;
    });
    return pages;
  }
  // Allocates all pages but these, in each kind of memory.
  void leave_pages(uint64_t pages) {
    driver->with_lock([&] {
      for (const bool where : {false, true}) {
        PageAllocator& memory = driver->gpu().hardware().pages(where);
        for (uint64_t part = uint64_t{1} << 30; part >= kPageBytes; part /= 2) {
          while (memory.free_bytes() >= part + pages * kPageBytes) {
            const std::optional<uint64_t> address = memory.take(part);
            if (!address) break;
            taken.push_back({*address, part, where, false});
          }
        }
      }
    });
  }
  void give_back() {
    driver->with_lock([&] {
      for (const PageRun& each : taken) driver->gpu().hardware().pages(each.local).give(each.address, each.bytes);
    });
    taken.clear();
  }
  // Runs the calls of a typical program. Returns how many failed for lack of memory; any other failure is a test
  // failure.
  unsigned live() {
    unsigned failed = 0;
    const auto other = driver->open();
    if (!other) return 1;
    const auto try_to = [&](const char* what, unsigned long request, auto& argument) {
      const int result = call_on(*other, request, argument);
      EXPECT_TRUE(result == 0 || result == -ENOMEM || result == -ENOSPC) << what << " " << result;
      if (result != 0) ++failed;
      return result == 0;
    };
    drm_i915_gem_create batch{.size = 4096, .handle = 0, .pad = 0};
    drm_i915_gem_create large{.size = 16 * 4096, .handle = 0, .pad = 0};
    if (!try_to("create", DRM_IOCTL_I915_GEM_CREATE, batch) || !try_to("create", DRM_IOCTL_I915_GEM_CREATE, large)) {
      driver->close(other);
      return failed;
    }
    if (BufferRef buffer = other->buffers.find(batch.handle); buffer->need_pages()) {
      const uint32_t commands[] = {0, 0x0500'0000};
      std::memcpy(buffer->bytes().data(), commands, sizeof commands);
    } else {
      ++failed;  // the executed batch is all zeros, as far as it was allocated
    }
    drm_i915_gem_context_create_ext context{};
    if (!execlists() || try_to("context", DRM_IOCTL_I915_GEM_CONTEXT_CREATE_EXT, context)) {
      std::array<drm_i915_gem_exec_object2, 2> objects{};
      objects[0].handle = large.handle;
      objects[1].handle = batch.handle;
      if (!driver->shared_space()) {  // a page table boundary inside the buffer
        objects[0].offset = (uint64_t{1} << 21) - 8 * 4096;
        objects[0].flags = EXEC_OBJECT_PINNED;
      }
      drm_i915_gem_execbuffer2 execute{};
      execute.buffers_ptr = reinterpret_cast<uintptr_t>(objects.data());
      execute.buffer_count = objects.size();
      execute.rsvd1 = context.ctx_id;
      if (failed == 0 && try_to("execute", DRM_IOCTL_I915_GEM_EXECBUFFER2, execute)) {
        drm_i915_gem_wait wait{.bo_handle = batch.handle, .flags = 0, .timeout_ns = -1};
        EXPECT_TRUE(try_to("wait", DRM_IOCTL_I915_GEM_WAIT, wait));
      }
    }
    drm_i915_gem_vm_control space{};
    if (execlists()) try_to("space", DRM_IOCTL_I915_GEM_VM_CREATE, space);
    drm_prime_handle prime{.handle = large.handle, .flags = DRM_CLOEXEC, .fd = -1};
    if (try_to("share", DRM_IOCTL_PRIME_HANDLE_TO_FD, prime)) ::close(prime.fd);
    drm_mode_create_dumb dumb{};
    dumb.width = dumb.height = 64;
    dumb.bpp = 32;
    if (try_to("dumb", DRM_IOCTL_MODE_CREATE_DUMB, dumb)) {
      drm_mode_map_dumb map{};
      map.handle = dumb.handle;
      EXPECT_TRUE(try_to("map", DRM_IOCTL_MODE_MAP_DUMB, map));
      void* const place = driver->map_here(*other, nullptr, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, map.offset);
      if (place == MAP_FAILED) {
        EXPECT_EQ(errno, ENOMEM);
        ++failed;
      } else {
        unmap(place, dumb.size);
      }
    }
    driver->close(other);
    return failed;
  }

  // The same with the screen, user memory and a mapping through the aperture. `batch` does nothing.
  unsigned show_and_lend(uint32_t batch, void* memory, uint64_t bytes) {
    unsigned failed = 0;
    const auto is_good = [&](const char* what, int result) {
      EXPECT_TRUE(result == 0 || result == -ENOMEM || result == -ENOSPC) << what << " " << result;
      if (result != 0) ++failed;
      return result == 0;
    };
    std::array<drm_mode_create_dumb, 2> dumb{};
    std::array<drm_mode_fb_cmd, 2> pictures{};
    bool complete = true;
    for (size_t i = 0; i < dumb.size(); ++i) {
      dumb[i].width = kWidth;
      dumb[i].height = kHeight;
      dumb[i].bpp = 32;
      complete = is_good("dumb", call(DRM_IOCTL_MODE_CREATE_DUMB, dumb[i])) && complete;
      if (dumb[i].handle == 0) continue;
      pictures[i] = {.fb_id = 0,
                     .width = kWidth,
                     .height = kHeight,
                     .pitch = dumb[i].pitch,
                     .bpp = 32,
                     .depth = 24,
                     .handle = dumb[i].handle};
      complete = is_good("picture", call(DRM_IOCTL_MODE_ADDFB, pictures[i])) && complete;
    }
    if (complete && is_good("mode", set(pictures[0].fb_id))) is_good("flip", flip(pictures[1].fb_id));
    driver->finish_display();
    drm_mode_crtc off{};
    off.crtc_id = kCrtcId;
    EXPECT_EQ(call(DRM_IOCTL_MODE_SETCRTC, off), 0) << "a screen can always be turned off";
    for (size_t i = 0; i < dumb.size(); ++i) {
      if (pictures[i].fb_id != 0) {
        EXPECT_EQ(call(DRM_IOCTL_MODE_RMFB, pictures[i].fb_id), 0);
      }
      if (dumb[i].handle != 0) {
        EXPECT_EQ(close(dumb[i].handle), 0);
      }
    }
    drm_i915_gem_userptr lent{};
    lent.user_ptr = reinterpret_cast<uintptr_t>(memory);
    lent.user_size = bytes;
    const int lends = call(DRM_IOCTL_I915_GEM_USERPTR, lent);
    if (lends != -ENODEV && is_good("lend", lends)) {  // not supported on some chips
      std::vector<drm_i915_gem_exec_object2> objects(2);
      objects[0].handle = lent.handle;
      objects[1].handle = batch;
      if (!driver->shared_space()) {
        objects[0].offset = uint64_t{1} << 22;
        objects[0].flags = EXEC_OBJECT_PINNED;
      }
      if (is_good("execute", execute(objects))) {
        EXPECT_EQ(wait(batch), 0);
      }
      EXPECT_EQ(close(lent.handle), 0);
    }
    if (local()) return failed;  // no aperture for programs
    drm_i915_gem_create tiled{.size = 16 * 4096, .handle = 0, .pad = 0};
    if (!is_good("create", call(DRM_IOCTL_I915_GEM_CREATE, tiled))) return failed;
    drm_i915_gem_set_tiling tiling{};
    tiling.handle = tiled.handle;
    tiling.tiling_mode = I915_TILING_X;
    tiling.stride = 512;
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_TILING, tiling), 0);
    drm_i915_gem_mmap_gtt map{};
    map.handle = tiled.handle;
    if (is_good("offset", call(DRM_IOCTL_I915_GEM_MMAP_GTT, map))) {
      void* const place = driver->map_here(*file, nullptr, tiled.size, PROT_READ | PROT_WRITE, MAP_SHARED, map.offset);
      if (place == MAP_FAILED) {
        is_good("map", -errno);
      } else {
        static_cast<char*>(place)[4096] = 1;
        unmap(place, tiled.size);
      }
    }
    EXPECT_EQ(close(tiled.handle), 0);
    return failed;
  }

  std::vector<PageRun> taken;
};
INSTANTIATE_TEST_SUITE_P(Kinds, Exhausted, ::testing::Values("g45", "snb", "chv", "icl", "dg1"), chip_name);

TEST_P(Exhausted, OutOfMemoryAtAnyPageFailsCleanly) {
  const uint32_t empty = make_empty();
  std::vector<drm_i915_gem_exec_object2> objects(1);
  objects[0].handle = empty;
  ASSERT_EQ(execute(objects), 0);  // objects of the first use now exist
  ASSERT_EQ(wait(empty), 0);
  ASSERT_EQ(live(), 0u);
  ASSERT_EQ(execute(objects), 0);  // the engine releases earlier work when it gets new work
  ASSERT_EQ(wait(empty), 0);
  const uint64_t before = free_pages();
  unsigned failures = 0;
  uint64_t pages = 0;
  for (unsigned failed = 1; failed != 0 && pages < 400; ++pages) {
    SCOPED_TRACE(pages);
    leave_pages(pages);
    failed = live();
    failures += failed;
    give_back();
    ASSERT_EQ(execute(objects), 0);
    ASSERT_EQ(wait(empty), 0);
    ASSERT_EQ(free_pages(), before);
  }
  EXPECT_GT(failures, 20u);
  EXPECT_LT(pages, 400u) << "enough memory at some point";
  EXPECT_EQ(live(), 0u);
}

TEST_P(Exhausted, OutOfMemoryInScreenAndUserMemoryFailsCleanly) {
  constexpr uint64_t kBytes = 8 * 4096;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const uint32_t empty = make_empty();
  ASSERT_EQ(show_and_lend(empty, memory, kBytes), 0u);
  const uint64_t before = free_pages();
  unsigned failures = 0;
  uint64_t pages = 0;
  constexpr uint64_t kMax = 800;  // two framebuffers of 300 pages, and the rest
  for (unsigned failed = 1; failed != 0 && pages < kMax; pages += pages < 24 ? 1 : 37) {
    SCOPED_TRACE(pages);
    leave_pages(pages);
    failed = show_and_lend(empty, memory, kBytes);
    failures += failed;
    give_back();
    ASSERT_EQ(free_pages(), before);
  }
  EXPECT_GT(failures, 20u);
  EXPECT_LT(pages, kMax) << "enough memory at some point";
  EXPECT_EQ(show_and_lend(empty, memory, kBytes), 0u);
  unmap(memory, kBytes);
}

// A partly filled table must leave no entries: its pages will be reused.
TEST_P(Exhausted, FailedMappingLeavesNoPageTableEntries) {
  if (driver->shared_space()) GTEST_SKIP() << "tables are allocated at the start";
  Hardware& hardware = driver->gpu().hardware();
  Space space(driver->gpu());
  auto buffer = std::make_shared<Buffer>(hardware, 16 * kPageBytes, local());
  ASSERT_TRUE(buffer->need_pages());
  // Memory for the tables of the first half only.
  const uint64_t address = (uint64_t{1} << 21) - 8 * kPageBytes;
  auto small = std::make_shared<Buffer>(hardware, kPageBytes, local());
  ASSERT_EQ(space.bind_at(small, 0x1000), 0);
  leave_pages(0);
  EXPECT_EQ(space.bind_at(buffer, address), -ENOMEM);
  // Walk by hand from the root: the last table has only the entry of the small buffer.
  const std::array<uint64_t, 4> roots = space.tables()->roots();
  uint64_t table = roots[0];
  const auto entry = [&](uint64_t at, uint64_t index) {
    uint64_t value = 0;
    std::memcpy(&value, hardware.bytes({at, kPageBytes, local(), false}).data() + index * 8, 8);
    return value;
  };
  constexpr uint64_t kAddress = 0x7f'ffff'f000;
  for (int level = model().has(spec::Feature::ppgtt_4level) ? 3 : 1; level > 0; --level) {
    table = entry(table, 0) & kAddress;
  }
  unsigned present = 0;
  for (uint64_t index = 0; index < 512; ++index) present += (entry(table, index) & 1) != 0 ? 1u : 0u;
  EXPECT_EQ(present, 1u);
  give_back();
  EXPECT_EQ(space.bind_at(buffer, address), 0);
}

}  // namespace
}  // namespace halogen::driver
