// A flip from the registers up to the program: what a vertical blank takes together, the event, and who comes too
// early.
#include <libdrm/drm_fourcc.h>
#include <sys/socket.h>
#include <unistd.h>

#include "covers.h"
#include "device/device.h"
#include "unit/driver/screen_door.h"

namespace halogen::driver {
namespace {

class FlipStory : public ScreenDoor {
 protected:
  void SetUp() override {
    KernelOptions options;
    options.hang_after = std::chrono::hours(1);
    boot(options);
    kernel->close(file);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_), 0);
    file = kernel->open({.render = false, .events = ends_[1]});
  }
  void TearDown() override {
    Door::TearDown();
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  drm_event_vblank next_event() {
    drm_event_vblank event{};
    EXPECT_EQ(read(ends_[0], &event, sizeof event), static_cast<ssize_t>(sizeof event));
    return event;
  }
  int ends_[2] = {-1, -1};
};
INSTANTIATE_TEST_SUITE_P(All, FlipStory, ::testing::ValuesIn(all_chips()), chip_name);

TEST_P(FlipStory, RegistersWaitForTheBlankAndASecondFlipIsBusy) {
  COVERS("NOTES-DRV-02");
  const Picture one = make_picture(), two = make_picture(), three = make_picture();
  ASSERT_EQ(set(one.id), 0);
  kernel->finish_display();
  // Address and stride are written, and shown together at the next vertical blank.
  kernel->while_still([&] {
    Device& device = kernel->gpu().hardware().device();
    KmsPipe& pipe = kernel->kms().pipe();
    const PlaneImage before = *device.display().active_image(0);
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
  // A flip to a picture that is still being written is under way until the test ends the work.
  drm_i915_gem_relocation_entry relocation{};
  std::vector<drm_i915_gem_exec_object2> objects(2);
  objects[0].handle = two.handle;
  objects[0].flags = EXEC_OBJECT_WRITE;
  objects[1] = make_endless(relocation);
  ASSERT_EQ(execute(objects), 0);
  ASSERT_EQ(flip(two.id, DRM_MODE_PAGE_FLIP_EVENT, 7), 0);
  EXPECT_EQ(flip(three.id), -EBUSY);
  fill(objects[1].handle, {0x0500'0000});  // in the place of the jump
  const drm_event_vblank event = next_event();
  EXPECT_EQ(event.base.type, unsigned{DRM_EVENT_FLIP_COMPLETE});
  EXPECT_EQ(event.user_data, 7u);
  EXPECT_EQ(flip(three.id, DRM_MODE_PAGE_FLIP_EVENT, 8), 0) << "the first is complete";
  EXPECT_EQ(next_event().sequence, event.sequence + 1) << "each takes a vertical blank";
}

}  // namespace
}  // namespace halogen::driver
