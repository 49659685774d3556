// A flip from the registers to the program: what a vertical blank latches together, the event, and a second flip that
// comes too early.
#include <libdrm/drm_fourcc.h>

#include "covers.h"
#include "device/device.h"
#include "unit/driver/screen_door.h"

namespace halogen::driver {
namespace {

class FlipSequence : public EventDoor {
 protected:
  void SetUp() override {
    DriverOptions options;
    options.hang_after = std::chrono::hours(1);
    start(options);
  }
};
INSTANTIATE_TEST_SUITE_P(All, FlipSequence, ::testing::ValuesIn(all_chips()), chip_name);

TEST_P(FlipSequence, FlipTakesEffectAtVblankAndSecondFlipIsBusy) {
  COVERS("NOTES-DRV-02");
  const Picture one = make_picture(), two = make_picture(), three = make_picture();
  ASSERT_EQ(set(one.id), 0);
  driver->finish_display();
  // Address and stride are written, and take effect together at the next vertical blank.
  driver->with_lock([&] {
    device::Device& device = driver->gpu().hardware().device();
    KmsPipe& pipe = driver->kms().pipe();
    const display::PlaneImage before = *device.display().active_image(0);
    const uint32_t frame = pipe.frame();
    const PlaneView elsewhere{.address = static_cast<uint32_t>(before.surface) + 0x4'0000,
                              .stride_B = one.pitch * 2,
                              .format = DRM_FORMAT_XRGB8888};
    pipe.show(elsewhere);
    EXPECT_EQ(device.display().active_image(0)->surface, before.surface);
    EXPECT_EQ(device.display().active_image(0)->stride, before.stride);
    EXPECT_EQ(pipe.frame(), frame);
    device.advance(pipe.until_vblank_ns());
    EXPECT_EQ(device.display().active_image(0)->surface, before.surface + 0x4'0000);
    EXPECT_EQ(device.display().active_image(0)->stride, before.stride * 2);
    EXPECT_EQ(pipe.frame(), frame + 1);
    pipe.show({.address = static_cast<uint32_t>(before.surface), .stride_B = one.pitch, .format = DRM_FORMAT_XRGB8888});
  });
  // A flip to a framebuffer that is still being written stays pending until the test ends the work.
  const uint32_t batch = keep_writing(two);
  ASSERT_EQ(flip(two.id, DRM_MODE_PAGE_FLIP_EVENT, 7), 0);
  EXPECT_EQ(flip(three.id), -EBUSY);
  end_writing(batch);
  const drm_event_vblank event = next_event();
  EXPECT_EQ(event.base.type, unsigned{DRM_EVENT_FLIP_COMPLETE});
  EXPECT_EQ(event.user_data, 7u);
  EXPECT_EQ(flip(three.id, DRM_MODE_PAGE_FLIP_EVENT, 8), 0) << "the first is complete";
  EXPECT_EQ(next_event().sequence, event.sequence + 1) << "each flip takes one vertical blank";
}

}  // namespace
}  // namespace halogen::driver
