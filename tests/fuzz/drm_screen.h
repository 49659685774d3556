// The part of a call sequence (drm_call_sequence.h) that uses the screen: dumb buffers, frame buffers, modes, flips,
// planes, cursors, properties, blobs, atomic commits, vertical blanks, masters.
#pragma once

#include "fuzz/drm_program.h"

namespace halogen::fuzz {

class DrmScreen : protected DrmProgram {
 public:
  using DrmProgram::DrmProgram;

 protected:
  void picture() {
    switch (one_of(6)) {
      case 0: {
        drm_mode_create_dumb dumb{};
        dumb.width = 64u << one_of(5);
        dumb.height = 64u << one_of(4);
        dumb.bpp = next() % 4 == 0 ? 16 : 32;
        call(DRM_IOCTL_MODE_CREATE_DUMB, dumb);
        break;
      }
      case 1: {
        drm_mode_map_dumb map{};
        map.handle = handle();
        call(DRM_IOCTL_MODE_MAP_DUMB, map);
        break;
      }
      case 2: {
        drm_mode_destroy_dumb destroy{.handle = handle()};
        if (next() % 4 == 0) call(DRM_IOCTL_MODE_DESTROY_DUMB, destroy);
        break;
      }
      case 3: {
        unsigned id = picture_id();
        call(DRM_IOCTL_MODE_RMFB, id);
        break;
      }
      case 4: {
        drm_mode_fb_cmd fb{};
        fb.width = 640;
        fb.height = 480;
        fb.pitch = 2560;
        fb.bpp = 32;
        fb.depth = 24;
        fb.handle = screen_buffer();
        if (call(DRM_IOCTL_MODE_ADDFB, fb) == 0) remember(pictures_, fb.fb_id);
        break;
      }
      default: {
        drm_mode_fb_cmd2 fb{};
        fb.width = 640;
        fb.height = 480;
        fb.pixel_format = next() % 4 == 0 ? DRM_FORMAT_RGB565 : DRM_FORMAT_XRGB8888;
        fb.handles[0] = screen_buffer();
        fb.pitches[0] = 2560;
        if (next() % 4 == 0) {
          fb.flags = DRM_MODE_FB_MODIFIERS;
          fb.modifier[0] = next() % 2 == 0 ? I915_FORMAT_MOD_X_TILED : one_of(8);
        }
        if (call(DRM_IOCTL_MODE_ADDFB2, fb) == 0) remember(pictures_, fb.fb_id);
      }
    }
  }

  void show() {
    uint32_t connector = driver::kConnectorId;
    switch (one_of(5)) {
      case 0: {
        drm_mode_crtc crtc{};
        crtc.crtc_id = driver::kCrtcId;
        crtc.fb_id = picture_id();
        crtc.set_connectors_ptr = address(&connector);
        crtc.count_connectors = 1;
        crtc.mode_valid = 1;
        crtc.mode = driver::Kms::modes().back();
        if (next() % 8 == 0) crtc.fb_id = crtc.count_connectors = crtc.mode_valid = 0;
        call(DRM_IOCTL_MODE_SETCRTC, crtc);
        break;
      }
      case 1: {
        drm_mode_crtc_page_flip flip{};
        flip.crtc_id = driver::kCrtcId;
        flip.fb_id = picture_id();
        flip.flags = one_of(4);
        call(DRM_IOCTL_MODE_PAGE_FLIP, flip);
        break;
      }
      case 2: {
        drm_mode_cursor2 cursor{};
        cursor.flags = 1 + one_of(3);
        cursor.crtc_id = driver::kCrtcId;
        cursor.x = next() * 16 - 1024;
        cursor.y = next() * 16 - 1024;
        cursor.width = cursor.height = 64;
        cursor.handle = one_of(7);
        call(DRM_IOCTL_MODE_CURSOR2, cursor);
        break;
      }
      case 3: {
        drm_mode_set_plane plane{};
        plane.plane_id = next() % 4 == 0 ? driver::kCursorId : driver::kPrimaryId;
        plane.crtc_id = driver::kCrtcId;
        plane.fb_id = next() % 4 == 0 ? 0 : picture_id();
        plane.crtc_w = 640;
        plane.crtc_h = 480;
        plane.src_w = 640 << 16;
        plane.src_h = 480 << 16;
        call(DRM_IOCTL_MODE_SETPLANE, plane);
        break;
      }
      default: {
        drm_mode_fb_dirty_cmd dirty{};
        dirty.fb_id = picture_id();
        call(DRM_IOCTL_MODE_DIRTYFB, dirty);
      }
    }
  }

  // Sets properties of the three objects, mostly to valid values.
  void commit() {
    struct Row {
      uint32_t object, property;
      uint64_t value;
    };
    int32_t out_fence = -1;
    const uint64_t picture = picture_id();
    const std::array<Row, 14> rows = {{{driver::kPrimaryId, driver::kPropertyFb, picture},
                                       {driver::kPrimaryId, driver::kPropertyCrtc, driver::kCrtcId},
                                       {driver::kPrimaryId, driver::kPropertyCrtcX, 0},
                                       {driver::kPrimaryId, driver::kPropertyCrtcW, 640},
                                       {driver::kPrimaryId, driver::kPropertyCrtcH, 480},
                                       {driver::kPrimaryId, driver::kPropertySrcW, 640 << 16},
                                       {driver::kPrimaryId, driver::kPropertySrcH, 480 << 16},
                                       {driver::kConnectorId, driver::kPropertyCrtc, driver::kCrtcId},
                                       {driver::kCrtcId, driver::kPropertyActive, 1},
                                       {driver::kCrtcId, driver::kPropertyMode, blob_id()},
                                       {driver::kPrimaryId, driver::kPropertyInFence, ~uint64_t{0}},
                                       {driver::kCrtcId, driver::kPropertyOutFence, address(&out_fence)},
                                       {driver::kCursorId, driver::kPropertyFb, picture},
                                       {driver::kCursorId, driver::kPropertyCrtc, driver::kCrtcId}}};
    std::vector<uint32_t> objects, counts, properties;
    std::vector<uint64_t> values;
    const bool whole = next() % 2 == 0;  // commits the rows that enable the screen together
    const size_t count = whole ? 10 : 1 + one_of(4);
    for (size_t i = 0; i < count; ++i) {
      Row row = rows[whole ? i : next() % rows.size()];
      if (row.property == driver::kPropertyInFence) row.value = static_cast<uint64_t>(int64_t{descriptor()});
      if (next() % 16 == 0) row.value = wild();
      if (row.property == driver::kPropertyOutFence && row.value != address(&out_fence)) row.value = 0;
      objects.push_back(next() % 32 == 0 ? next() : row.object);
      counts.push_back(1);
      properties.push_back(next() % 32 == 0 ? one_of(20) : row.property);
      values.push_back(row.value);
    }
    drm_mode_atomic atomic{};
    constexpr uint32_t kFlags[] = {0, DRM_MODE_ATOMIC_TEST_ONLY, DRM_MODE_ATOMIC_NONBLOCK,
                                   DRM_MODE_ATOMIC_ALLOW_MODESET,
                                   DRM_MODE_ATOMIC_ALLOW_MODESET | DRM_MODE_PAGE_FLIP_EVENT};
    atomic.flags = kFlags[one_of(std::size(kFlags))];
    atomic.count_objs = static_cast<uint32_t>(objects.size());
    atomic.objs_ptr = address(objects.data());
    atomic.count_props_ptr = address(counts.data());
    atomic.props_ptr = address(properties.data());
    atomic.prop_values_ptr = address(values.data());
    if (call(DRM_IOCTL_MODE_ATOMIC, atomic) == 0) keep(out_fence);
  }

  void screen() {
    const uint64_t room = address(scratch_.data());
    switch (one_of(8)) {
      case 0: {
        drm_mode_create_blob create{.data = room, .length = 1u + next(), .blob_id = 0};
        const drm_mode_modeinfo mode = driver::Kms::modes().back();
        if (next() % 4 != 0) {
          create.data = address(&mode);
          create.length = sizeof mode;
        }
        if (call(DRM_IOCTL_MODE_CREATEPROPBLOB, create) == 0) remember(blobs_, create.blob_id);
        break;
      }
      case 1: {
        drm_mode_destroy_blob destroy{.blob_id = blob_id()};
        plain(DRM_IOCTL_MODE_DESTROYPROPBLOB, destroy);
        break;
      }
      case 2: {
        drm_mode_get_blob look{.blob_id = blob_id(), .length = next(), .data = room};
        call(DRM_IOCTL_MODE_GETPROPBLOB, look);
        break;
      }
      case 3: {
        drm_mode_obj_get_properties list{};
        list.obj_id = driver::kPrimaryId + one_of(13);
        list.count_props = one_of(20);
        list.props_ptr = room;
        list.prop_values_ptr = room + 512;
        call(DRM_IOCTL_MODE_OBJ_GETPROPERTIES, list);
        break;
      }
      case 4: {
        drm_mode_get_connector look{};
        look.connector_id = driver::kConnectorId;
        look.modes_ptr = room;
        look.count_modes = one_of(8);
        look.encoders_ptr = room;
        look.count_encoders = 1;
        call(DRM_IOCTL_MODE_GETCONNECTOR, look);
        break;
      }
      case 5: {
        drm_mode_obj_set_property set{};
        set.value = next() % 2 == 0 ? one_of(4) : wild();
        set.prop_id = one_of(20);
        set.obj_id = driver::kPrimaryId + one_of(13);
        plain(DRM_IOCTL_MODE_OBJ_SETPROPERTY, set);
        break;
      }
      case 6: {
        drm_mode_get_property look{};
        look.prop_id = one_of(20);
        look.values_ptr = room;
        look.enum_blob_ptr = room;
        look.count_values = look.count_enum_blobs = one_of(8);
        call(DRM_IOCTL_MODE_GETPROPERTY, look);
        break;
      }
      default: {
        drm_mode_card_res look{};
        look.fb_id_ptr = look.crtc_id_ptr = look.connector_id_ptr = look.encoder_id_ptr = room;
        look.count_fbs = look.count_crtcs = look.count_connectors = look.count_encoders = one_of(4);
        call(DRM_IOCTL_MODE_GETRESOURCES, look);
      }
    }
  }

  void blanks() {
    switch (one_of(6)) {
      case 0: {
        drm_wait_vblank wait{};
        wait.request.type =
            static_cast<drm_vblank_seq_type>(_DRM_VBLANK_RELATIVE | (next() % 2 == 0 ? _DRM_VBLANK_EVENT : 0));
        wait.request.sequence = one_of(3);
        plain(DRM_IOCTL_WAIT_VBLANK, wait);
        break;
      }
      case 1: {
        drm_crtc_get_sequence sequence{};
        sequence.crtc_id = driver::kCrtcId;
        call(DRM_IOCTL_CRTC_GET_SEQUENCE, sequence);
        break;
      }
      case 2: {
        drm_crtc_queue_sequence queue{};
        queue.crtc_id = driver::kCrtcId;
        queue.flags = one_of(4);
        queue.sequence = one_of(3);
        call(DRM_IOCTL_CRTC_QUEUE_SEQUENCE, queue);
        break;
      }
      case 3: {
        drm_set_client_cap capability{.capability = 1 + one_of(5), .value = one_of(3)};
        call(DRM_IOCTL_SET_CLIENT_CAP, capability);
        break;
      }
      case 4:
        ++calls_;
        driver_.ioctl(*file_, next() % 3 == 0 ? DRM_IOCTL_DROP_MASTER : DRM_IOCTL_SET_MASTER, 0);
        break;
      default: {
        drm_auth magic{.magic = one_of(3)};
        call(next() % 2 == 0 ? DRM_IOCTL_GET_MAGIC : DRM_IOCTL_AUTH_MAGIC, magic);
      }
    }
  }

  uint32_t picture_id() { return pictures_.empty() ? one_of(64) : pictures_[next() % pictures_.size()]; }
  uint32_t blob_id() { return blobs_.empty() ? one_of(64) : blobs_[next() % blobs_.size()]; }
  static void remember(std::deque<uint32_t>& list, uint32_t id) {
    list.push_back(id);
    if (list.size() > 4) list.pop_front();
  }
  // Returns a buffer that is large enough for the smallest mode, or any buffer.
  uint32_t screen_buffer() {
    if (next() % 2 == 0) return handle();
    drm_mode_create_dumb dumb{};
    dumb.width = 640;
    dumb.height = 480;
    dumb.bpp = 32;
    plain(DRM_IOCTL_MODE_CREATE_DUMB, dumb);
    return dumb.handle;
  }

  std::deque<uint32_t> pictures_, blobs_;
};

}  // namespace halogen::fuzz
