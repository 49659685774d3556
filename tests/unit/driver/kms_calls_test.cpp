// Mode setting: which calls are refused with which errors, on chips of each kind.
#include <unistd.h>

#include "unit/driver/screen_door.h"

namespace halogen::driver {
namespace {

class ScreenCalls : public ScreenDoor {};
INSTANTIATE_TEST_SUITE_P(Kinds, ScreenCalls, ::testing::Values("g45", "chv", "dg1"), chip_name);

TEST_P(ScreenCalls, OnlyTheMasterOfACardNodeChangesTheScreen) {
  const uint32_t fb = make_picture().id;
  const auto second = driver->open();
  const auto render = driver->open({.render = true});
  drm_mode_crtc crtc = crtc_with(fb);
  EXPECT_EQ(call_on(*second, DRM_IOCTL_MODE_SETCRTC, crtc), -EACCES);
  EXPECT_EQ(call_on(*render, DRM_IOCTL_MODE_SETCRTC, crtc), -EACCES);
  drm_mode_card_res resources{};
  EXPECT_EQ(call_on(*second, DRM_IOCTL_MODE_GETRESOURCES, resources), 0);
  EXPECT_EQ(resources.count_crtcs, 1u);
  EXPECT_EQ(call_on(*render, DRM_IOCTL_MODE_GETRESOURCES, resources), -EACCES);
  // A file that never was master cannot become it; the first master can drop and regain it.
  EXPECT_EQ(driver->ioctl(*second, DRM_IOCTL_SET_MASTER, 0), -EACCES);
  EXPECT_EQ(driver->ioctl(*file, DRM_IOCTL_DROP_MASTER, 0), 0);
  EXPECT_EQ(call(DRM_IOCTL_MODE_SETCRTC, crtc), -EACCES);
  EXPECT_EQ(driver->ioctl(*file, DRM_IOCTL_SET_MASTER, 0), 0);
  EXPECT_EQ(call(DRM_IOCTL_MODE_SETCRTC, crtc), 0);
  drm_auth auth{};
  EXPECT_EQ(call_on(*second, DRM_IOCTL_GET_MAGIC, auth), 0);
  EXPECT_EQ(call(DRM_IOCTL_AUTH_MAGIC, auth), 0);
  EXPECT_EQ(call(DRM_IOCTL_AUTH_MAGIC, auth), -EINVAL);
  driver->close(second);
  driver->close(render);
}

TEST_P(ScreenCalls, UnknownObjectsAndFlagsAreRefused) {
  const uint32_t fb = make_picture().id;
  EXPECT_EQ(flip(fb), -EBUSY);  // nothing is shown yet
  EXPECT_EQ(set(fb + 100), -ENOENT);
  drm_mode_crtc crtc = crtc_with(fb);
  crtc.crtc_id = 7777;
  EXPECT_EQ(call(DRM_IOCTL_MODE_SETCRTC, crtc), -ENOENT);
  crtc = crtc_with(fb);
  crtc.x = 0x10000;
  EXPECT_EQ(call(DRM_IOCTL_MODE_SETCRTC, crtc), -ERANGE);
  crtc = crtc_with(fb);
  crtc.set_connectors_ptr = 8;
  EXPECT_EQ(call(DRM_IOCTL_MODE_SETCRTC, crtc), -EFAULT);
  crtc = crtc_with(fb);
  crtc.count_connectors = 0;
  EXPECT_EQ(call(DRM_IOCTL_MODE_SETCRTC, crtc), -EINVAL);
  crtc = crtc_with(fb);
  crtc.mode.htotal = 1;
  EXPECT_EQ(call(DRM_IOCTL_MODE_SETCRTC, crtc), -EINVAL);
  crtc = crtc_with(fb);
  crtc.mode.clock = 0;
  EXPECT_EQ(call(DRM_IOCTL_MODE_SETCRTC, crtc), -EINVAL);
  drm_wait_vblank wait{};
  wait.request.type = _DRM_VBLANK_RELATIVE;
  EXPECT_EQ(call(DRM_IOCTL_WAIT_VBLANK, wait), -EINVAL);  // the pipe is off
  ASSERT_EQ(set(fb), 0);
  EXPECT_EQ(flip(fb + 100), -ENOENT);
  EXPECT_EQ(flip(fb, 0x80), -EINVAL);
  EXPECT_EQ(flip(fb, DRM_MODE_PAGE_FLIP_TARGET_RELATIVE), -EINVAL);
  EXPECT_EQ(flip(fb, DRM_MODE_PAGE_FLIP_ASYNC), is("g45") ? -EINVAL : 0);
  EXPECT_EQ(driver->ioctl(*file, DRM_IOCTL_MODE_PAGE_FLIP, 8), -EFAULT);
  drm_mode_obj_get_properties properties{};
  properties.obj_id = 0xffff'ffff;
  EXPECT_EQ(call(DRM_IOCTL_MODE_OBJ_GETPROPERTIES, properties), -ENOENT);
  properties.obj_id = kEncoderId;
  EXPECT_EQ(call(DRM_IOCTL_MODE_OBJ_GETPROPERTIES, properties), -EINVAL);
  drm_mode_create_blob blob{};
  EXPECT_EQ(call(DRM_IOCTL_MODE_CREATEPROPBLOB, blob), -EINVAL);
  blob.length = 16;
  blob.data = 8;
  EXPECT_EQ(call(DRM_IOCTL_MODE_CREATEPROPBLOB, blob), -EFAULT);
}

TEST_P(ScreenCalls, FramebuffersMustFitTheirBuffers) {
  const uint32_t handle = make_picture().handle;
  drm_mode_fb_cmd2 fb{};
  fb.width = 640;
  fb.height = 480;
  fb.pixel_format = 0x34325258;  // XR24
  fb.handles[0] = handle;
  fb.pitches[0] = 2560;
  EXPECT_EQ(call(DRM_IOCTL_MODE_ADDFB2, fb), 0);
  const auto refused = [&](auto change, int error) {
    drm_mode_fb_cmd2 wrong = fb;
    change(wrong);
    EXPECT_EQ(call(DRM_IOCTL_MODE_ADDFB2, wrong), error);
  };
  refused([](auto& f) { f.height = 481; }, -EINVAL);
  refused([](auto& f) { f.offsets[0] = 4; }, -EINVAL);
  refused([](auto& f) { f.pitches[0] = 2556; }, -EINVAL);
  refused([](auto& f) { f.pitches[0] = 0xffff'ffc0; }, -EINVAL);
  refused([](auto& f) { f.width = 0xffff'ffff; }, -EINVAL);
  refused([](auto& f) { f.handles[0] = 999; }, -ENOENT);
  refused([](auto& f) { f.handles[1] = f.pitches[1] = 1; }, 0);  // programs from before modifiers
  refused([](auto& f) { f.handles[1] = 1, f.flags = DRM_MODE_FB_MODIFIERS; }, -EINVAL);
  refused([](auto& f) { f.modifier[1] = 1; }, -EINVAL);
  refused([](auto& f) { f.offsets[0] = 4096, f.height = 1; }, -EINVAL);
  refused([](auto& f) { f.flags = DRM_MODE_FB_INTERLACED; }, 0);
  refused([](auto& f) { f.pixel_format = 0x20202020; }, -EINVAL);
  refused([](auto& f) { f.flags = 0x80; }, -EINVAL);
  drm_mode_create_dumb dumb{};
  dumb.width = dumb.height = 0xffff'ffff;
  dumb.bpp = 32;
  EXPECT_EQ(call(DRM_IOCTL_MODE_CREATE_DUMB, dumb), -EINVAL);
  dumb.width = dumb.height = dumb.bpp = 64;
  EXPECT_EQ(call(DRM_IOCTL_MODE_CREATE_DUMB, dumb), -EINVAL);
}

// The tiling of a buffer with a framebuffer cannot change, but may be set to the same value.
TEST_P(ScreenCalls, TilingOfFramebufferBufferCannotChange) {
  if (local()) return;
  const Picture picture = make_picture();
  drm_i915_gem_set_tiling tiling{};
  tiling.handle = picture.handle;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_TILING, tiling), 0);
  tiling.tiling_mode = I915_TILING_X;
  tiling.stride = 2560;
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_TILING, tiling), -EBUSY);
  uint32_t id = picture.id;
  ASSERT_EQ(call(DRM_IOCTL_MODE_RMFB, id), 0);
  EXPECT_EQ(call(DRM_IOCTL_I915_GEM_SET_TILING, tiling), 0);
}

TEST_P(ScreenCalls, GlobalNamesFindBuffers) {
  const uint32_t handle = make_picture().handle;
  const std::shared_ptr<File> other = driver->open();
  drm_gem_flink name{.handle = handle, .name = 0}, again = name;
  ASSERT_EQ(call(DRM_IOCTL_GEM_FLINK, name), 0);
  ASSERT_EQ(call(DRM_IOCTL_GEM_FLINK, again), 0);
  EXPECT_EQ(name.name, again.name);
  drm_gem_open opened{.name = name.name, .handle = 0, .size = 0};
  ASSERT_EQ(call(DRM_IOCTL_GEM_OPEN, opened), 0);
  EXPECT_NE(opened.handle, handle);
  EXPECT_GE(opened.size, 640u * 480 * 4);
  EXPECT_EQ(call_on(*other, DRM_IOCTL_GEM_OPEN, opened), -EACCES);
  opened.name = 999;
  EXPECT_EQ(call(DRM_IOCTL_GEM_OPEN, opened), -ENOENT);
  name.handle = 999;
  EXPECT_EQ(call(DRM_IOCTL_GEM_FLINK, name), -ENOENT);
  driver->close(other);
}

TEST_P(ScreenCalls, TheOnlyClientIsTheCaller) {
  drm_client client{};
  ASSERT_EQ(call(DRM_IOCTL_GET_CLIENT, client), 0);
  EXPECT_EQ(client.auth, 1);
  EXPECT_EQ(client.pid, static_cast<unsigned long>(getpid()));
  client.idx = 1;
  EXPECT_EQ(call(DRM_IOCTL_GET_CLIENT, client), -EINVAL);
  drm_stats statistics{};
  statistics.count = 7;
  ASSERT_EQ(call(DRM_IOCTL_GET_STATS, statistics), 0);
  EXPECT_EQ(statistics.count, 0u);
}

// For an unknown property the legacy call returns EINVAL where ATOMIC returns ENOENT.
TEST_P(ScreenCalls, LegacyPropertyCallWorks) {
  drm_mode_obj_set_property set{};
  set.obj_id = make_picture().id;
  set.prop_id = 1;
  EXPECT_EQ(call(DRM_IOCTL_MODE_OBJ_SETPROPERTY, set), -EINVAL);
  set.obj_id = kCrtcId;
  set.prop_id = 9999;
  EXPECT_EQ(call(DRM_IOCTL_MODE_OBJ_SETPROPERTY, set), -EINVAL);
  set.obj_type = DRM_MODE_OBJECT_PLANE;
  EXPECT_EQ(call(DRM_IOCTL_MODE_OBJ_SETPROPERTY, set), -ENOENT);
}

// Submits one flip more than can be pending.
TEST_P(ScreenCalls, PendingFlipIsBusyAndVblanksAreCounted) {
  const uint32_t one = make_picture().id, two = make_picture().id;
  ASSERT_EQ(set(one), 0);
  drm_wait_vblank wait{};
  wait.request.type = _DRM_VBLANK_RELATIVE;
  wait.request.sequence = 1;
  ASSERT_EQ(call(DRM_IOCTL_WAIT_VBLANK, wait), 0);
  const unsigned first = wait.reply.sequence;
  wait = {};
  wait.request.type = _DRM_VBLANK_RELATIVE;
  wait.request.sequence = 3;
  ASSERT_EQ(call(DRM_IOCTL_WAIT_VBLANK, wait), 0);
  EXPECT_EQ(wait.reply.sequence, first + 3);
  ASSERT_EQ(flip(two), 0);
  EXPECT_EQ(flip(one) == -EBUSY || driver->kms().vblanks() > first + 3, true);
}

TEST_P(ScreenCalls, AtomicIsOfferedWhereI915OffersIt) {
  drm_set_client_cap cap{.capability = DRM_CLIENT_CAP_ATOMIC, .value = 1};
  EXPECT_EQ(call(DRM_IOCTL_SET_CLIENT_CAP, cap), atomic_there() ? 0 : -EOPNOTSUPP);
  drm_mode_atomic atomic{};
  EXPECT_EQ(call(DRM_IOCTL_MODE_ATOMIC, atomic), atomic_there() ? 0 : -EOPNOTSUPP);
  if (!atomic_there()) return;
  const uint32_t one = make_picture().id, two = make_picture().id;
  ASSERT_EQ(set(one), 0);
  uint32_t object = kPrimaryId, count = 1, property = kPropertyFb;
  uint64_t value = two;
  atomic.count_objs = 1;
  atomic.objs_ptr = reinterpret_cast<uintptr_t>(&object);
  atomic.count_props_ptr = reinterpret_cast<uintptr_t>(&count);
  atomic.props_ptr = reinterpret_cast<uintptr_t>(&property);
  atomic.prop_values_ptr = reinterpret_cast<uintptr_t>(&value);
  atomic.flags = DRM_MODE_ATOMIC_TEST_ONLY;
  EXPECT_EQ(call(DRM_IOCTL_MODE_ATOMIC, atomic), 0);
  EXPECT_EQ(driver->kms().state().primary.fb->id, one);
  atomic.flags = 0;
  EXPECT_EQ(call(DRM_IOCTL_MODE_ATOMIC, atomic), 0);
  EXPECT_EQ(driver->kms().state().primary.fb->id, two);
  object = 12345;
  EXPECT_EQ(call(DRM_IOCTL_MODE_ATOMIC, atomic), -ENOENT);
  object = kCrtcId;
  property = kPropertyActive;
  value = 0;
  EXPECT_EQ(call(DRM_IOCTL_MODE_ATOMIC, atomic), -EINVAL);  // must be enabled first
  value = 2;
  EXPECT_EQ(call(DRM_IOCTL_MODE_ATOMIC, atomic), -EINVAL);
  property = kPropertyType;
  EXPECT_EQ(call(DRM_IOCTL_MODE_ATOMIC, atomic), -ENOENT);
  atomic.flags = DRM_MODE_ATOMIC_TEST_ONLY | DRM_MODE_PAGE_FLIP_EVENT;
  EXPECT_EQ(call(DRM_IOCTL_MODE_ATOMIC, atomic), -EINVAL);
  atomic.flags = 0;
  atomic.objs_ptr = 8;
  EXPECT_EQ(call(DRM_IOCTL_MODE_ATOMIC, atomic), -EFAULT);
}

TEST_P(ScreenCalls, CursorsHaveThreeSizes) {
  const Picture picture = make_picture();
  ASSERT_EQ(set(picture.id), 0);
  drm_mode_cursor cursor{};
  cursor.flags = DRM_MODE_CURSOR_BO;
  cursor.crtc_id = kCrtcId;
  cursor.width = cursor.height = 64;
  cursor.handle = picture.handle;
  EXPECT_EQ(call(DRM_IOCTL_MODE_CURSOR, cursor), 0);
  cursor.width = 65;
  EXPECT_EQ(call(DRM_IOCTL_MODE_CURSOR, cursor), -EINVAL);
  cursor.width = 64;
  cursor.handle = 999;
  EXPECT_EQ(call(DRM_IOCTL_MODE_CURSOR, cursor), -ENOENT);
  cursor.flags = 0;
  EXPECT_EQ(call(DRM_IOCTL_MODE_CURSOR, cursor), -EINVAL);
  cursor.flags = DRM_MODE_CURSOR_MOVE;
  cursor.x = -0x7fff'ffff;
  cursor.y = 0x7fff'ffff;
  EXPECT_EQ(call(DRM_IOCTL_MODE_CURSOR, cursor), 0);
}

}  // namespace
}  // namespace halogen::driver
