// A primary node with helpers for tests of the screen: framebuffers, a mode, flips.
#pragma once

#include <libdrm/drm_mode.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string_view>

#include "driver/kms/kms.h"
#include "unit/driver/door.h"

namespace halogen::driver {

class ScreenDoor : public Door {
 protected:
  static constexpr uint32_t kWidth = 640, kHeight = 480;

  // i915 has atomic commits from Sandy Bridge on.
  bool atomic_there() const {
    for (const std::string_view without : {"i965", "gm965", "g45", "gm45"}) {
      if (is(without)) return false;
    }
    return true;
  }

  // A framebuffer over a dumb buffer, 32 bits per pixel.
  struct Picture {
    uint32_t handle = 0, id = 0, pitch = 0;
  };
  Picture make_picture(uint32_t width = kWidth, uint32_t height = kHeight) {
    drm_mode_create_dumb dumb{};
    dumb.width = width;
    dumb.height = height;
    dumb.bpp = 32;
    EXPECT_EQ(call(DRM_IOCTL_MODE_CREATE_DUMB, dumb), 0);
    drm_mode_fb_cmd fb{};
    fb.width = width;
    fb.height = height;
    fb.pitch = dumb.pitch;
    fb.bpp = 32;
    fb.depth = 24;
    fb.handle = dumb.handle;
    EXPECT_EQ(call(DRM_IOCTL_MODE_ADDFB, fb), 0);
    return {dumb.handle, fb.fb_id, dumb.pitch};
  }
  static drm_mode_modeinfo mode_640() {
    for (const drm_mode_modeinfo& mode : Kms::modes()) {
      if (mode.hdisplay == kWidth) return mode;
    }
    return {};
  }
  drm_mode_crtc crtc_with(uint32_t fb, uint32_t x = 0, uint32_t y = 0) {
    drm_mode_crtc crtc{};
    crtc.crtc_id = kCrtcId;
    crtc.fb_id = fb;
    crtc.x = x;
    crtc.y = y;
    crtc.set_connectors_ptr = reinterpret_cast<uintptr_t>(&connector);
    crtc.count_connectors = 1;
    crtc.mode_valid = 1;
    crtc.mode = mode_640();
    return crtc;
  }
  int set(uint32_t fb, uint32_t x = 0, uint32_t y = 0) {
    drm_mode_crtc crtc = crtc_with(fb, x, y);
    return call(DRM_IOCTL_MODE_SETCRTC, crtc);
  }
  int flip(uint32_t fb, uint32_t flags = 0, uint64_t user_data = 0) {
    drm_mode_crtc_page_flip flip{};
    flip.crtc_id = kCrtcId;
    flip.fb_id = fb;
    flip.flags = flags;
    flip.user_data = user_data;
    return call(DRM_IOCTL_MODE_PAGE_FLIP, flip);
  }

  uint32_t connector = kConnectorId;
};

// Receives the node's events through a socket, as a process does.
class EventDoor : public ScreenDoor {
 protected:
  void start(const DriverOptions& options) {
    boot(options);
    driver->close(file);
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    file = driver->open({.render = false, .events = ends[1]});
  }
  void TearDown() override {
    Door::TearDown();
    ::close(ends[0]);
    ::close(ends[1]);
  }
  // Comes from the thread that runs the device; read(2) waits for it.
  drm_event_vblank next_event() {
    drm_event_vblank event{};
    EXPECT_EQ(read(ends[0], &event, sizeof event), static_cast<ssize_t>(sizeof event));
    return event;
  }

  // Submits work that writes a framebuffer until end_writing(). Flips to that framebuffer wait. Returns the batch.
  uint32_t keep_writing(const Picture& picture) {
    drm_i915_gem_relocation_entry relocation{};
    std::vector<drm_i915_gem_exec_object2> objects(2);
    objects[0].handle = picture.handle;
    objects[0].flags = EXEC_OBJECT_WRITE;
    objects[1] = make_endless(relocation);
    EXPECT_EQ(execute(objects), 0);
    return objects[1].handle;
  }
  void end_writing(uint32_t batch) { fill(batch, {0x0500'0000}); }  // replaces the jump

  int ends[2] = {-1, -1};
};

}  // namespace halogen::driver
