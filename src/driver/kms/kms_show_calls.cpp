// Calls that change the screen, and calls that wait for vertical blanks.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/exhaustion.h"
#include "driver/gem/foreign_call.h"
#include "driver/gem/user_memory.h"
#include "driver/kms/kms_calls.h"
#include "driver/kms/kms_properties.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kSlowestClock = 5'000, kFastestClock = 400'000;  // kHz; limits of any monitor

uint64_t millionths(uint32_t pixels) {
  return uint64_t{pixels} << 16;
}

}  // namespace

int check_mode(const Kms& kms, const drm_mode_modeinfo& mode) {
  if (mode.clock > INT32_MAX || mode.vrefresh > INT32_MAX) return -ERANGE;
  constexpr uint32_t kUnknown = DRM_MODE_FLAG_INTERLACE | DRM_MODE_FLAG_DBLSCAN | DRM_MODE_FLAG_DBLCLK;
  if ((mode.flags & kUnknown) != 0 || mode.hskew != 0 || mode.vscan > 1) return -EINVAL;
  const bool ordered = mode.hdisplay != 0 && mode.hdisplay <= mode.hsync_start && mode.hsync_start < mode.hsync_end &&
                       mode.hsync_end <= mode.htotal && mode.vdisplay != 0 && mode.vdisplay <= mode.vsync_start &&
                       mode.vsync_start < mode.vsync_end && mode.vsync_end <= mode.vtotal;
  if (!ordered || mode.htotal > 8192 || mode.vtotal > 8192) return -EINVAL;
  if (mode.hdisplay > kms.largest_screen() || mode.vdisplay > kms.largest_screen()) return -EINVAL;
  return mode.clock < kSlowestClock || mode.clock > kFastestClock ? -EINVAL : 0;
}

BlobRef mode_blob(Kms& kms, const drm_mode_modeinfo& mode) {
  std::vector<std::byte> bytes(sizeof mode);
  std::memcpy(bytes.data(), &mode, sizeof mode);
  return kms.add_blob(nullptr, std::move(bytes));
}

void fill_screen(PlaneState& plane, FramebufferRef fb, const drm_mode_modeinfo& mode, uint32_t x, uint32_t y) {
  plane = {};
  if (!fb) return;
  plane.fb = std::move(fb);
  plane.on_crtc = true;
  plane.w = mode.hdisplay;
  plane.h = mode.vdisplay;
  plane.src_x = x << 16;
  plane.src_y = y << 16;
  plane.src_w = static_cast<uint32_t>(millionths(plane.w));
  plane.src_h = static_cast<uint32_t>(millionths(plane.h));
}

// Releases the lock while earlier commits become visible: read the state only after this call.
void wait_for_screen(Call& call) {
  Kms& kms = call.driver.kms();
  kms.follow_device();
  call.driver.wait(
      call.lock, [&] { return !kms.busy(); }, std::nullopt);
}

int commit_state(Call& call, KmsState next, std::vector<KmsEvent> events, WhenBusy busy, bool modeset, bool async,
                 FenceRef done) {
  Kms& kms = call.driver.kms();
  kms.follow_device();
  if (const int result = kms.check(next, modeset); result != 0) return result;
  if (kms.busy()) return -EBUSY;
  const int result = kms.commit(std::move(next), std::move(events), async, std::move(done));
  if (result == 0 && busy == WhenBusy::wait) wait_for_screen(call);
  return result;
}

int set_crtc(Call& call, drm_mode_crtc& crtc) {
  Kms& kms = call.driver.kms();
  if ((crtc.x & 0xffff'0000) != 0 || (crtc.y & 0xffff'0000) != 0) return -ERANGE;
  if (crtc.crtc_id != kCrtcId) return -ENOENT;
  wait_for_screen(call);
  KmsState next = kms.state();
  FramebufferRef fb;
  if (crtc.mode_valid != 0) {
    fb = crtc.fb_id == ~uint32_t{0} ? kms.state().primary.fb : kms.find_fb(crtc.fb_id);
    if (!fb) return crtc.fb_id == ~uint32_t{0} ? -EINVAL : -ENOENT;
    if (const int result = check_mode(kms, crtc.mode); result != 0) return result;
    if (!kms.pipe().knows(fb->format) || crtc.x % KmsPipe::pixel_step(fb->format) != 0) return -EINVAL;
    if (crtc.x + uint32_t{crtc.mode.hdisplay} > fb->width || crtc.y + uint32_t{crtc.mode.vdisplay} > fb->height) {
      return -ENOSPC;
    }
  }
  if (crtc.count_connectors > 0 && !fb) return -EINVAL;
  if (crtc.count_connectors == 0 && crtc.mode_valid != 0) return -EINVAL;
  if (crtc.count_connectors > 1) return -EINVAL;
  if (crtc.count_connectors == 1) {
    const auto connector = read_user<uint32_t>(crtc.set_connectors_ptr);
    if (!connector) return -EFAULT;
    if (*connector != kConnectorId) return -ENOENT;
  }
  BlobRef made;
  const AtEnd undo([&] {
    if (made && made != kms.state().mode && kms.find_blob(made->id) == made) kms.drop(made);
  });
  if (fb) {
    const drm_mode_modeinfo before = kms.state().timing();
    if (!next.mode || std::memcmp(&before, &crtc.mode, sizeof before) != 0) {
      next.mode = made = mode_blob(kms, crtc.mode);
    }
    next.active = next.connected = true;
    fill_screen(next.primary, fb, crtc.mode, crtc.x, crtc.y);
  } else {
    next.active = next.connected = false;
    next.mode = nullptr;
    next.primary = {};
  }
  return commit_state(call, std::move(next), {}, WhenBusy::wait, true);
}

int flip_page(Call& call, drm_mode_crtc_page_flip_target& flip) {
  Kms& kms = call.driver.kms();
  if ((flip.flags & ~uint32_t{DRM_MODE_PAGE_FLIP_FLAGS}) != 0) return -EINVAL;
  if (flip.sequence != 0 && (flip.flags & DRM_MODE_PAGE_FLIP_TARGET) == 0) return -EINVAL;
  const bool async = (flip.flags & DRM_MODE_PAGE_FLIP_ASYNC) != 0;
  if (async && !kms.pipe().knows_async()) return -EINVAL;
  if (flip.crtc_id != kCrtcId) return -ENOENT;
  if ((flip.flags & DRM_MODE_PAGE_FLIP_TARGET) != 0) return -EINVAL;
  kms.follow_device();
  const PlaneState& shown = kms.state().primary;
  if (!shown.fb) return -EBUSY;
  const FramebufferRef fb = kms.find_fb(flip.fb_id);
  if (!fb) return -ENOENT;
  if (uint64_t{shown.src_x} + shown.src_w > millionths(fb->width) ||
      uint64_t{shown.src_y} + shown.src_h > millionths(fb->height)) {
    return -ENOSPC;
  }
  if (fb->format != shown.fb->format) return -EINVAL;
  if (!kms.state().active) return -EINVAL;
  // An asynchronous flip changes the address only.
  if (async && (fb->pitch != shown.fb->pitch || fb->tiling != shown.fb->tiling || fb->offset != shown.fb->offset)) {
    return -EINVAL;
  }
  std::vector<KmsEvent> events;
  if ((flip.flags & DRM_MODE_PAGE_FLIP_EVENT) != 0) {
    if (!kms.reserve_event(call.file)) return -ENOMEM;
    events.push_back({&call.file, DRM_EVENT_FLIP_COMPLETE, flip.user_data});
  }
  KmsState next = kms.state();
  next.primary.fb = fb;
  return commit_state(call, std::move(next), std::move(events), WhenBusy::refuse, false, async);
}

int set_plane(Call& call, drm_mode_set_plane& plane) {
  Kms& kms = call.driver.kms();
  if (plane.plane_id != kPrimaryId && plane.plane_id != kCursorId) return -ENOENT;
  wait_for_screen(call);
  KmsState next = kms.state();
  PlaneState& state = plane.plane_id == kCursorId ? next.cursor : next.primary;
  if (plane.fb_id == 0) {
    state = {};
    return commit_state(call, std::move(next), {}, WhenBusy::wait, false);
  }
  const FramebufferRef fb = kms.find_fb(plane.fb_id);
  if (!fb || plane.crtc_id != kCrtcId) return -ENOENT;
  if (plane.crtc_w > INT32_MAX || plane.crtc_h > INT32_MAX ||
      plane.crtc_x > INT32_MAX - static_cast<int32_t>(plane.crtc_w) ||
      plane.crtc_y > INT32_MAX - static_cast<int32_t>(plane.crtc_h)) {
    return -ERANGE;
  }
  state = {.fb = fb,
           .on_crtc = true,
           .x = plane.crtc_x,
           .y = plane.crtc_y,
           .w = plane.crtc_w,
           .h = plane.crtc_h,
           .src_x = plane.src_x,
           .src_y = plane.src_y,
           .src_w = plane.src_w,
           .src_h = plane.src_h,
           .fence = nullptr};
  return commit_state(call, std::move(next), {}, WhenBusy::wait, false);
}

int set_cursor2(Call& call, drm_mode_cursor2& cursor) {
  Kms& kms = call.driver.kms();
  if (cursor.flags == 0 || (cursor.flags & ~uint32_t{DRM_MODE_CURSOR_FLAGS}) != 0) return -EINVAL;
  if (cursor.crtc_id != kCrtcId) return -ENOENT;
  KmsState next = kms.state();
  PlaneState& plane = next.cursor;
  if ((cursor.flags & DRM_MODE_CURSOR_BO) != 0) {
    const int32_t x = plane.x, y = plane.y;
    plane = {};
    plane.x = x;
    plane.y = y;
    if (cursor.handle != 0) {
      int error = 0;
      plane.fb = cursor_picture(call, cursor.handle, cursor.width, cursor.height, error);
      if (!plane.fb) return error;
      plane.on_crtc = true;
      plane.w = cursor.width;
      plane.h = cursor.height;
      plane.src_w = static_cast<uint32_t>(millionths(cursor.width));
      plane.src_h = static_cast<uint32_t>(millionths(cursor.height));
    }
  }
  if ((cursor.flags & DRM_MODE_CURSOR_MOVE) != 0) {
    plane.x = cursor.x;
    plane.y = cursor.y;
  }
  if (const int result = kms.check(next, false); result != 0) return result;
  return kms.move_cursor(std::move(plane));
}

int set_cursor(Call& call, drm_mode_cursor& cursor) {
  drm_mode_cursor2 full{};
  std::memcpy(&full, &cursor, sizeof cursor);
  return set_cursor2(call, full);
}

// Also for clients without atomic: DPMS, and properties that the legacy calls may set.
int set_object_property(Call& call, drm_mode_obj_set_property& property) {
  Kms& kms = call.driver.kms();
  wait_for_screen(call);
  AtomicChange change{.state = kms.state()};
  if (property.obj_id == kConnectorId && property.prop_id == kPropertyDpms) {
    if (property.value > DRM_MODE_DPMS_OFF) return -EINVAL;
    if (!change.state.connected) return 0;
    change.state.active = property.value == DRM_MODE_DPMS_ON;
    return commit_state(call, std::move(change.state), {}, WhenBusy::wait, true);
  }
  if (!has_object(kms, property.obj_id, property.obj_type)) return -ENOENT;
  if (!has_property(property.obj_id, property.prop_id)) return -EINVAL;
  const int result = set_property(call, change, property.obj_id, property.prop_id, property.value);
  if (result != 0) return result;
  return commit_state(call, std::move(change.state), {}, WhenBusy::wait, false);
}

int set_connector_property(Call& call, drm_mode_connector_set_property& property) {
  drm_mode_obj_set_property full{};
  full.value = property.value;
  full.prop_id = property.prop_id;
  full.obj_id = property.connector_id;
  if (property.connector_id != kConnectorId) return -ENOENT;
  return set_object_property(call, full);
}

int commit_atomic(Call& call, drm_mode_atomic& atomic) {
  constexpr uint32_t kMaxObjects = 64, kMaxProperties = 4096;  // more than can be named
  Kms& kms = call.driver.kms();
  if (!kms.atomic()) return -EOPNOTSUPP;
  if (!call.file.atomic) return -EINVAL;
  const bool test = (atomic.flags & DRM_MODE_ATOMIC_TEST_ONLY) != 0;
  const bool wants_event = (atomic.flags & DRM_MODE_PAGE_FLIP_EVENT) != 0;
  if ((atomic.flags & ~uint32_t{DRM_MODE_ATOMIC_FLAGS}) != 0 || atomic.reserved != 0) return -EINVAL;
  if ((atomic.flags & DRM_MODE_PAGE_FLIP_ASYNC) != 0 || (test && wants_event)) return -EINVAL;
  if (atomic.count_objs > kMaxObjects) return -EINVAL;
  const auto objects = read_user_array<uint32_t>(atomic.objs_ptr, atomic.count_objs);
  const auto counts = read_user_array<uint32_t>(atomic.count_props_ptr, atomic.count_objs);
  if (!objects || !counts) return -EFAULT;
  const WhenBusy busy = (atomic.flags & DRM_MODE_ATOMIC_NONBLOCK) != 0 ? WhenBusy::refuse : WhenBusy::wait;
  if (busy == WhenBusy::wait && !test) wait_for_screen(call);
  kms.follow_device();
  AtomicChange change{.state = kms.state()};
  uint64_t at = 0;
  for (size_t i = 0; i < objects->size(); ++i) {
    if ((*counts)[i] > kMaxProperties) return -EINVAL;
    const auto ids = read_user_array<uint32_t>(atomic.props_ptr + at * 4, (*counts)[i]);
    const auto values = read_user_array<uint64_t>(atomic.prop_values_ptr + at * 8, (*counts)[i]);
    if (!ids || !values) return -EFAULT;
    for (size_t j = 0; j < ids->size(); ++j) {
      const int result = set_property(call, change, (*objects)[i], (*ids)[j], (*values)[j]);
      if (result != 0) return result;
    }
    at += (*counts)[i];
  }
  if (wants_event && !change.crtc) return -EINVAL;
  const bool modeset = (atomic.flags & DRM_MODE_ATOMIC_ALLOW_MODESET) != 0;
  if (const int result = kms.check(change.state, modeset); result != 0) return result;
  if ((wants_event || change.out_fence != 0) && !kms.state().active && !change.state.active) return -EINVAL;
  if (test) return 0;
  std::vector<KmsEvent> events;
  if (wants_event) {
    if (!kms.reserve_event(call.file)) return -ENOMEM;
    events.push_back({&call.file, DRM_EVENT_FLIP_COMPLETE, atomic.user_data});
  }
  FenceRef done;
  int descriptor = -1;
  if (change.out_fence != 0) {
    done = std::make_shared<Fence>();
    descriptor = call.driver.sync_files().create(done);
    if (const int result = give_at(descriptor, change.out_fence); result != 0) return result;
  }
  const int result = commit_state(call, std::move(change.state), std::move(events), busy, modeset, false, done);
  if (result != 0 && descriptor >= 0) take_back(descriptor, change.out_fence);
  return result;
}

// ---- vertical blanks

namespace {

constexpr std::chrono::seconds kLongestWait{3};

// Extends a 32-bit sequence to 64 bits, nearest to `near`.
uint64_t widened(uint32_t sequence, uint64_t near) {
  return near + static_cast<uint64_t>(int64_t{static_cast<int32_t>(sequence - static_cast<uint32_t>(near))});
}

bool wait_for(Call& call, uint64_t target) {
  Kms& kms = call.driver.kms();
  kms.block(1);
  const AtEnd release([&] { kms.block(-1); });
  return call.driver.wait(
      call.lock, [&] { return kms.vblanks() >= target || !kms.pipe().running(); }, kLongestWait);
}

}  // namespace

int wait_vblank(Call& call, drm_wait_vblank& wait) {
  Kms& kms = call.driver.kms();
  const unsigned type = wait.request.type;
  if ((type & _DRM_VBLANK_SIGNAL) != 0) return -EINVAL;
  if ((type & ~unsigned{_DRM_VBLANK_TYPES_MASK | _DRM_VBLANK_FLAGS_MASK | _DRM_VBLANK_HIGH_CRTC_MASK}) != 0) {
    return -EINVAL;
  }
  const unsigned high = (type & _DRM_VBLANK_HIGH_CRTC_MASK) >> _DRM_VBLANK_HIGH_CRTC_SHIFT;
  if (high != 0 || (type & _DRM_VBLANK_SECONDARY) != 0) return -EINVAL;  // there is only one pipe
  if (!kms.pipe().running()) return -EINVAL;
  kms.follow_device();
  const uint64_t now = kms.vblanks();
  uint64_t target =
      (type & _DRM_VBLANK_RELATIVE) != 0 ? now + wait.request.sequence : widened(wait.request.sequence, now);
  if ((type & _DRM_VBLANK_NEXTONMISS) != 0 && static_cast<int64_t>(now - target) >= 0) target = now + 1;
  const bool event = (type & _DRM_VBLANK_EVENT) != 0;
  const uint64_t user_data = wait.request.signal;
  if (event) {
    const int result =
        kms.wait_event(call.file, static_cast<int64_t>(target) < 0 ? 0 : target, DRM_EVENT_VBLANK, user_data);
    wait.reply.sequence =
        static_cast<unsigned>(std::max<int64_t>(static_cast<int64_t>(target), static_cast<int64_t>(now)));
    return result;
  }
  if (static_cast<int64_t>(target - now) > 0 && !wait_for(call, target)) return -EBUSY;
  const uint64_t when = kms.vblank_time_ns();
  wait.reply.sequence = static_cast<unsigned>(kms.vblanks());
  wait.reply.tval_sec = static_cast<long>(when / 1'000'000'000);
  wait.reply.tval_usec = static_cast<long>(when % 1'000'000'000 / 1000);
  return 0;
}

int get_sequence(Call& call, drm_crtc_get_sequence& sequence) {
  Kms& kms = call.driver.kms();
  if (sequence.crtc_id != kCrtcId) return -ENOENT;
  kms.follow_device();
  sequence.active = kms.state().active ? 1 : 0;
  sequence.sequence = kms.vblanks();
  sequence.sequence_ns = static_cast<int64_t>(kms.vblank_time_ns());
  return kms.pipe().running() ? 0 : -EINVAL;
}

int queue_sequence(Call& call, drm_crtc_queue_sequence& sequence) {
  Kms& kms = call.driver.kms();
  if (sequence.crtc_id != kCrtcId) return -ENOENT;
  constexpr uint32_t kFlags = DRM_CRTC_SEQUENCE_RELATIVE | DRM_CRTC_SEQUENCE_NEXT_ON_MISS;
  if ((sequence.flags & ~kFlags) != 0) return -EINVAL;
  if (!kms.pipe().running()) return -EINVAL;
  kms.follow_device();
  const uint64_t now = kms.vblanks();
  uint64_t target = sequence.sequence;
  if ((sequence.flags & DRM_CRTC_SEQUENCE_RELATIVE) != 0) target += now;
  if ((sequence.flags & DRM_CRTC_SEQUENCE_NEXT_ON_MISS) != 0 && target <= now) target = now + 1;
  const int result = kms.wait_event(call.file, target, DRM_EVENT_CRTC_SEQUENCE, sequence.user_data);
  sequence.sequence = std::max(target, now);
  return result;
}

}  // namespace halogen::driver
