// Mode setting through a primary node on all chips: framebuffers that the display model shows, flips and their events,
// vertical blanks, and refused calls.
#include <fcntl.h>
#include <libdrm/drm_fourcc.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <mutex>

#include "picture/image.h"
#include "unit/driver/screen_door.h"

namespace halogen::driver {
namespace {

// A test picture by a formula; each number gives a different one.
uint32_t pixel_of(uint32_t number, uint32_t x, uint32_t y) {
  return (x * 0x0101'0305u + y * 0x0407'1109u + number * 0x0035'7913u) & 0x00ff'ffff;
}

class Screen : public EventDoor {
 protected:
  void SetUp() override { show_frames({}); }
  void show_frames(DriverOptions options) {
    options.frames = [this](const picture::Image& image) {
      const std::lock_guard lock(frames_lock);
      frames.push_back(image);
    };
    start(options);
  }
  Picture make(uint32_t number, uint32_t width = kWidth, uint32_t height = kHeight) {
    const Picture made = make_picture(width, height);
    draw(made.handle, number, width, height, made.pitch);
    return made;
  }
  void draw(uint32_t handle, uint32_t number, uint32_t width, uint32_t height, uint32_t pitch) {
    const std::span<std::byte> bytes = content(handle);
    for (uint32_t y = 0; y < height; ++y) {
      for (uint32_t x = 0; x < width; ++x) {
        const uint32_t pixel = pixel_of(number, x, y);
        std::memcpy(bytes.data() + y * pitch + x * 4, &pixel, 4);
      }
    }
  }
  bool event_there() {
    pollfd one{.fd = ends[0], .events = POLLIN, .revents = 0};
    return poll(&one, 1, 0) == 1;
  }
  void expect_last(uint32_t number, uint32_t x0 = 0, uint32_t y0 = 0) {
    driver->finish_display();
    const std::lock_guard lock(frames_lock);
    ASSERT_FALSE(frames.empty());
    const picture::Image& image = frames.back();
    ASSERT_EQ(image.width, kWidth);
    ASSERT_EQ(image.height, kHeight);
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        const uint32_t pixel = pixel_of(number, x + x0, y + y0);
        const picture::Rgba wanted{static_cast<uint8_t>(pixel >> 16), static_cast<uint8_t>(pixel >> 8),
                                   static_cast<uint8_t>(pixel), 255};
        ASSERT_EQ(image.at(x, y), wanted) << x << " " << y;
      }
    }
  }
  size_t shown() {
    const std::lock_guard lock(frames_lock);
    return frames.size();
  }

  std::mutex frames_lock;
  std::vector<picture::Image> frames;
};
INSTANTIATE_TEST_SUITE_P(All, Screen, ::testing::ValuesIn(all_chips()), chip_name);

TEST_P(Screen, ModesetShowsFramebuffer) {
  const Picture one = make(1);
  ASSERT_EQ(set(one.id), 0);
  EXPECT_EQ(shown(), 1u);
  expect_last(1);
}

TEST_P(Screen, FlipSendsEventWithTime) {
  const Picture one = make(1), two = make(2);
  ASSERT_EQ(set(one.id), 0);
  ASSERT_EQ(flip(two.id, DRM_MODE_PAGE_FLIP_EVENT, 0x1234'5678'9abc), 0);
  const drm_event_vblank event = next_event();
  EXPECT_EQ(event.base.type, unsigned{DRM_EVENT_FLIP_COMPLETE});
  EXPECT_EQ(event.base.length, sizeof event);
  EXPECT_EQ(event.user_data, 0x1234'5678'9abcu);
  EXPECT_EQ(event.crtc_id, uint32_t{kCrtcId});
  expect_last(2);
  ASSERT_EQ(flip(one.id, DRM_MODE_PAGE_FLIP_EVENT), 0);
  EXPECT_EQ(next_event().sequence, event.sequence + 1);
  expect_last(1);
  EXPECT_EQ(shown(), 3u);
}

// The framebuffer is being written by work that the test ends: until then the flip is pending.
TEST_P(Screen, SecondFlipBeforeCompletionIsBusy) {
  DriverOptions patient;
  patient.hang_after = std::chrono::hours(1);
  Door::TearDown();
  file = nullptr;
  ::close(ends[0]);
  ::close(ends[1]);
  show_frames(patient);
  const Picture one = make(1), two = make(2), three = make(3);
  ASSERT_EQ(set(one.id), 0);
  const size_t before = shown();
  const uint32_t batch = keep_writing(two);
  ASSERT_EQ(flip(two.id, DRM_MODE_PAGE_FLIP_EVENT, 7), 0);
  EXPECT_EQ(flip(three.id), -EBUSY);
  EXPECT_FALSE(event_there());
  EXPECT_EQ(shown(), before);
  end_writing(batch);
  const drm_event_vblank event = next_event();
  EXPECT_EQ(event.user_data, 7u);
  expect_last(2);
  ASSERT_EQ(flip(three.id, DRM_MODE_PAGE_FLIP_EVENT), 0);
  EXPECT_EQ(next_event().sequence, event.sequence + 1);
  expect_last(3);
}

// Hung work is removed, and the flip that waits for it completes, whichever thread runs the device.
TEST_P(Screen, FramebufferOfHungWriterIsShown) {
  const Picture one = make(1), two = make(2);
  ASSERT_EQ(set(one.id), 0);
  for (const bool waits : {false, true}) {
    drm_i915_gem_relocation_entry relocation{};
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = waits ? one.handle : two.handle;
    objects[0].flags = EXEC_OBJECT_WRITE;
    objects[1] = make_endless(relocation);
    ASSERT_EQ(execute(objects), 0);
    if (waits) {
      ASSERT_EQ(set(one.id), 0);
      expect_last(1);
    } else {
      ASSERT_EQ(flip(two.id, DRM_MODE_PAGE_FLIP_EVENT, 5), 0);
      EXPECT_EQ(next_event().user_data, 5u);
      expect_last(2);
    }
  }
}

TEST_P(Screen, ShowsPartOfLargerFramebuffer) {
  const Picture large = make(3, 800, 600);
  ASSERT_EQ(set(large.id, 100, 50), 0);
  expect_last(3, 100, 50);
  EXPECT_EQ(set(large.id, 161, 0), -ENOSPC);
}

}  // namespace
}  // namespace halogen::driver
