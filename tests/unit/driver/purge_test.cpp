// MADVISE: content that a display, another process, a mapping or work in flight uses is never discarded, and pages
// never reach another file with their old content, on every chip.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "picture/image.h"
#include "unit/driver/screen_door.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kSecret = 0x00ba'5eba;  // content of the other file; as a pixel it is not black
constexpr uint32_t kShown = 0x0012'3456;

class Purge : public ScreenDoor {
 protected:
  void SetUp() override {
    boot({});
    other = driver->open({.render = true});
  }
  void TearDown() override {
    if (other) driver->close(other);
    ScreenDoor::TearDown();
  }
  bool advise(uint32_t handle, uint32_t advice) {
    drm_i915_gem_madvise call_it{.handle = handle, .madv = advice, .retained = 77};
    EXPECT_EQ(call(DRM_IOCTL_I915_GEM_MADVISE, call_it), 0);
    return call_it.retained != 0;
  }
  void paint(uint32_t handle, uint32_t value) {
    const std::span<std::byte> bytes = content(handle);
    const std::vector<uint32_t> words(bytes.size() / 4, value);
    std::memcpy(bytes.data(), words.data(), words.size() * 4);
  }
  // Allocates memory for the other file until it is used up (or `count` buffers), and fills it with the secret.
  void spread_secret(size_t count = 16) {
    const auto where = local() ? std::vector{false, true} : std::vector{false};
    for (const bool there : where) {
      driver->with_lock([&] {
        Hardware& hardware = driver->gpu().hardware();
        for (size_t i = 0; i < count; ++i) {
          // Sizes of a framebuffer first, then smaller pieces.
          const uint64_t bytes = i % 3 == 0 ? uint64_t{300} * kPageBytes : (i % 3 == 1 ? 16 * kPageBytes : kPageBytes);
          auto buffer = std::make_shared<Buffer>(hardware, bytes, there);
          if (!buffer->need_pages()) break;
          const std::span<std::byte> content = buffer->bytes();
          const std::vector<std::byte> nothing(content.size());
          ASSERT_EQ(std::memcmp(content.data(), nothing.data(), nothing.size()), 0) << "a new buffer is empty";
          const std::vector<uint32_t> words(content.size() / 4, kSecret);
          std::memcpy(content.data(), words.data(), content.size());
          other->buffers.add(buffer);
        }
      });
    }
  }
  // Returns the number of pixels on the screen that are `value`.
  size_t count_on_screen(uint32_t value) {
    size_t found = 0;
    driver->with_lock([&] {
      const auto image = driver->gpu().hardware().device().take_frame(0);
      if (!image) return;
      const picture::Rgba pixel{static_cast<uint8_t>(value >> 16), static_cast<uint8_t>(value >> 8),
                                static_cast<uint8_t>(value), 255};
      found = static_cast<size_t>(std::count(image->pixels.begin(), image->pixels.end(), pixel));
    });
    return found;
  }
  void pass_blanks() {
    driver->with_lock([&] { driver->gpu().work(40'000'000); });
  }
  Picture show() {
    const Picture made = make_picture();
    paint(made.handle, kShown);
    EXPECT_EQ(set(made.id), 0);
    driver->finish_display();
    EXPECT_EQ(count_on_screen(kShown), size_t{kWidth} * kHeight);
    return made;
  }
  // Makes calls of this file run out of memory, which purges what may be purged.
  void run_out_of_memory() {
    for (const bool there : {false, true}) {
      if (there && !local()) continue;
      driver->with_lock([&] {
        PageAllocator& memory = driver->gpu().hardware().pages(there);
        for (uint64_t part = uint64_t{1} << 30; part >= kPageBytes; part /= 2) {
          while (const auto address = memory.take(part)) taken.push_back({*address, part, there, false});
        }
      });
    }
    drm_i915_gem_create create{.size = 4096, .handle = 0, .pad = 0};
    ASSERT_EQ(call_on(*other, DRM_IOCTL_I915_GEM_CREATE, create), 0);
    drm_prime_handle prime{.handle = create.handle, .flags = DRM_CLOEXEC, .fd = -1};
    EXPECT_EQ(call_on(*other, DRM_IOCTL_PRIME_HANDLE_TO_FD, prime), -ENOMEM);
    drm_gem_close close{.handle = create.handle, .pad = 0};
    EXPECT_EQ(call_on(*other, DRM_IOCTL_GEM_CLOSE, close), 0);
  }
  void give_back() {
    driver->with_lock([&] {
      for (const PageRun& each : taken) driver->gpu().hardware().pages(each.local).give(each.address, each.bytes);
    });
    taken.clear();
  }

  std::shared_ptr<File> other;
  std::vector<PageRun> taken;
};
INSTANTIATE_TEST_SUITE_P(All, Purge, ::testing::ValuesIn(all_chips()), chip_name);

// On chips of each kind of memory and submission.
class PurgeOfKinds : public Purge {};
INSTANTIATE_TEST_SUITE_P(Kinds, PurgeOfKinds, ::testing::Values("i965", "snb", "chv", "icl", "dg1"), chip_name);

TEST_P(Purge, FramebufferOnScreenKeepsItsContent) {
  const Picture picture = show();
  EXPECT_TRUE(advise(picture.handle, I915_MADV_DONTNEED)) << "the display uses it";
  spread_secret(16);
  EXPECT_EQ(count_on_screen(kSecret), 0u);
  EXPECT_EQ(count_on_screen(kShown), size_t{kWidth} * kHeight);
  EXPECT_TRUE(advise(picture.handle, I915_MADV_WILLNEED));
}

// The framebuffer alone keeps the buffer alive.
TEST_P(Purge, FramebufferOnScreenWithoutHandleKeepsItsContent) {
  const Picture picture = show();
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = picture.handle;
  objects[1].handle = make_empty();
  ASSERT_EQ(execute(objects), 0);
  ASSERT_EQ(wait(objects[1].handle), 0);
  EXPECT_TRUE(advise(picture.handle, I915_MADV_DONTNEED));
  ASSERT_EQ(close(picture.handle), 0);
  run_out_of_memory();
  give_back();
  spread_secret(16);
  EXPECT_EQ(count_on_screen(kSecret), 0u);
  EXPECT_EQ(count_on_screen(kShown), size_t{kWidth} * kHeight);
}

TEST_P(Purge, CursorOnScreenKeepsItsContent) {
  show();
  const uint32_t cursor = make_picture(64, 64).handle;
  paint(cursor, 0xff00'0000 | kShown / 2);
  drm_mode_cursor on{};
  on.flags = DRM_MODE_CURSOR_BO;
  on.crtc_id = kCrtcId;
  on.width = on.height = 64;
  on.handle = cursor;
  ASSERT_EQ(call(DRM_IOCTL_MODE_CURSOR, on), 0);
  pass_blanks();
  const size_t before = count_on_screen(kShown / 2);
  EXPECT_EQ(before, 64u * 64u);
  EXPECT_TRUE(advise(cursor, I915_MADV_DONTNEED));
  spread_secret(16);
  EXPECT_EQ(count_on_screen(kSecret), 0u);
  EXPECT_EQ(count_on_screen(kShown / 2), before);
}

// Removing a framebuffer disables its plane at the next vertical blank; until then the plane scans out the scratch
// page.
TEST_P(Purge, RemovedFramebufferDoesNotShowOtherFiles) {
  Picture picture = show();
  ASSERT_EQ(call(DRM_IOCTL_MODE_RMFB, picture.id), 0);
  ASSERT_EQ(close(picture.handle), 0);
  spread_secret(16);
  EXPECT_EQ(count_on_screen(kSecret), 0u);
  pass_blanks();
  EXPECT_EQ(count_on_screen(kSecret), 0u);
}

// Another process has the pages mapped: the driver cannot know until when.
TEST_P(PurgeOfKinds, MappingOfAnotherProcessDoesNotShowOtherFiles) {
  drm_mode_create_dumb dumb{};
  dumb.width = dumb.height = 64;
  dumb.bpp = 32;
  ASSERT_EQ(call(DRM_IOCTL_MODE_CREATE_DUMB, dumb), 0);
  drm_mode_map_dumb map{};
  map.handle = dumb.handle;
  ASSERT_EQ(call(DRM_IOCTL_MODE_MAP_DUMB, map), 0);
  Mapping mapping;
  ASSERT_EQ(driver->map(*file, map.offset, dumb.size, mapping), 0);
  void* const there = mmap(nullptr, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, mapping.descriptor,
                           static_cast<off_t>(mapping.offset));
  ASSERT_NE(there, MAP_FAILED);
  const auto* const words = static_cast<const uint32_t*>(there);
  *static_cast<uint32_t*>(there) = kShown;
  EXPECT_TRUE(advise(dumb.handle, I915_MADV_DONTNEED));
  run_out_of_memory();
  give_back();
  spread_secret(64);
  EXPECT_EQ(words[0], kShown);
  EXPECT_EQ(std::count(words, words + dumb.size / 4, kSecret), 0);
  EXPECT_TRUE(advise(dumb.handle, I915_MADV_WILLNEED));
  munmap(there, dumb.size);
}

TEST_P(PurgeOfKinds, MappingOfTheProgramKeepsItsContent) {
  drm_mode_create_dumb dumb{};
  dumb.width = dumb.height = 64;
  dumb.bpp = 32;
  ASSERT_EQ(call(DRM_IOCTL_MODE_CREATE_DUMB, dumb), 0);
  drm_mode_map_dumb map{};
  map.handle = dumb.handle;
  ASSERT_EQ(call(DRM_IOCTL_MODE_MAP_DUMB, map), 0);
  void* const there = driver->map_here(*file, nullptr, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, map.offset);
  ASSERT_NE(there, MAP_FAILED);
  const auto* const words = static_cast<const uint32_t*>(there);
  *static_cast<uint32_t*>(there) = kShown;
  EXPECT_TRUE(advise(dumb.handle, I915_MADV_DONTNEED));
  ASSERT_EQ(close(dumb.handle), 0) << "the mapping keeps the buffer";
  run_out_of_memory();
  give_back();
  spread_secret(64);
  EXPECT_EQ(words[0], kShown);
  EXPECT_EQ(std::count(words, words + dumb.size / 4, kSecret), 0);
  unmap(there, dumb.size);
}

TEST_P(PurgeOfKinds, ExportedBufferKeepsItsContent) {
  const uint32_t handle = create(4096);
  paint(handle, kShown);
  drm_prime_handle prime{.handle = handle, .flags = DRM_CLOEXEC, .fd = -1};
  ASSERT_EQ(call(DRM_IOCTL_PRIME_HANDLE_TO_FD, prime), 0);
  EXPECT_TRUE(advise(handle, I915_MADV_DONTNEED));
  run_out_of_memory();
  give_back();
  spread_secret(16);
  uint32_t value = 0;
  ASSERT_EQ(pread(prime.fd, &value, 4, 0), 4);
  EXPECT_EQ(value, kShown);
  EXPECT_TRUE(advise(handle, I915_MADV_WILLNEED));
  ::close(prime.fd);
}

TEST_P(PurgeOfKinds, BufferInFlightKeepsItsContent) {
  drm_i915_gem_relocation_entry relocation{};
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = create(4096);
  paint(objects[0].handle, kShown);
  objects[1] = make_endless(relocation);
  ASSERT_EQ(execute(objects), 0);
  EXPECT_TRUE(advise(objects[0].handle, I915_MADV_DONTNEED));
  const BufferRef buffer = file->buffers.find(objects[0].handle);
  run_out_of_memory();
  give_back();
  driver->with_lock([&] {
    ASSERT_TRUE(buffer->is_used_here());
    EXPECT_FALSE(buffer->purged);
  });
  fill(objects[1].handle, {0x0500'0000});
  EXPECT_EQ(wait(objects[1].handle), 0);
}

// A batch that runs reads a buffer of earlier work without listing it. Its translation must not outlive the buffer.
TEST_P(Purge, RunningBatchDoesNotReadPagesOfClosedBuffer) {
  if (driver->shared_space()) GTEST_SKIP() << "all contexts share one address space";
  constexpr uint64_t kVictim = 0x40'0000, kResult = 0x50'0000, kLoop = 0x60'0000;
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = create(4096);
  paint(objects[0].handle, kShown);
  objects[0].offset = kVictim;
  objects[1].handle = make_empty();
  objects[1].offset = kLoop + 0x1000;
  for (auto& each : objects) each.flags = EXEC_OBJECT_PINNED;
  ASSERT_EQ(execute(objects), 0);
  ASSERT_EQ(wait(objects[1].handle), 0);
  std::vector<drm_i915_gem_exec_object2> running(2);
  running[0].handle = create(4096);
  running[0].offset = kResult;
  running[0].flags = EXEC_OBJECT_PINNED | EXEC_OBJECT_WRITE;
  running[1].handle = create(4096);
  running[1].offset = kLoop;
  running[1].flags = EXEC_OBJECT_PINNED;
  constexpr uint32_t kRegister = 0x2600;  // a general purpose register of the render engine
  // MI_LOAD_REGISTER_MEM, MI_STORE_REGISTER_MEM, and a jump to the start.
  fill(running[1].handle,
       {0x1480'0002, kRegister, kVictim, 0, 0x1200'0002, kRegister, kResult, 0, 0x1880'0101, kLoop, 0});
  ASSERT_EQ(execute(running), 0);
  const auto result = [&] {
    uint32_t value = 0;
    driver->with_lock([&] {
      driver->gpu().work(50'000);
      std::memcpy(&value, file->buffers.find(running[0].handle)->bytes().data(), 4);
    });
    return value;
  };
  for (int i = 0; i < 100 && result() != kShown; ++i) continue;
  ASSERT_EQ(result(), kShown) << "the batch reads the buffer";
  ASSERT_EQ(close(objects[0].handle), 0);
  spread_secret(16);
  for (int i = 0; i < 20; ++i) ASSERT_NE(result(), kSecret);
  fill(running[1].handle, {0x0500'0000});
  EXPECT_EQ(wait(running[1].handle), 0);
}

// The errors are those of i915 (i915_gem_madvise_ioctl and what calls __i915_gem_object_get_pages).
TEST_P(PurgeOfKinds, UseOfPurgedBufferFailsWithTheErrorsOfLinux) {
  const Picture shown = show();
  const Picture lost = make_picture();
  EXPECT_FALSE(advise(lost.handle, I915_MADV_DONTNEED)) << "the device never used it";
  EXPECT_FALSE(advise(lost.handle, I915_MADV_WILLNEED));
  EXPECT_EQ(flip(lost.id), -EFAULT);
  EXPECT_EQ(set(lost.id), -EFAULT);
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = lost.handle;
  objects[1].handle = make_empty();
  EXPECT_EQ(execute(objects), -EFAULT);
  drm_prime_handle prime{.handle = lost.handle, .flags = DRM_CLOEXEC, .fd = -1};
  EXPECT_EQ(call(DRM_IOCTL_PRIME_HANDLE_TO_FD, prime), -EFAULT);
  driver->finish_display();
  EXPECT_EQ(count_on_screen(kShown), size_t{kWidth} * kHeight) << "the screen stays";
  EXPECT_EQ(set(shown.id), 0);
}

}  // namespace
}  // namespace halogen::driver
