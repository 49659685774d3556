// The node with the screen while nothing is shown. The guest's machine has no connector, so modes cannot be set; frame
// buffers, blobs, properties, clients, names and refusals are the same with and without a connector.
#include <drm_fourcc.h>
#include <drm_mode.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

static uint32_t crtc;

// Returns the first CRTC of the card; a chip without a display does not have the call.
static void find_crtc(void) {
  uint32_t crtcs[16];
  struct drm_mode_card_res request = {.crtc_id_ptr = (uintptr_t)crtcs, .count_crtcs = 16};
  if (call(DRM_IOCTL_MODE_GETRESOURCES, &request) != 0 || request.count_crtcs == 0) skip("no display");
  crtc = crtcs[0];
}

static void clients(void) {
  find_crtc();
  for (uint64_t number = 0; number <= 7; ++number) {
    for (uint64_t value = 0; value <= 3; ++value) {
      struct drm_set_client_cap request = {.capability = number, .value = value};
      observe(key("capability %u to %u", (unsigned)number, (unsigned)value), call(DRM_IOCTL_SET_CLIENT_CAP, &request));
    }
  }
  for (int number = 0; number <= 2; ++number) {
    struct drm_client request = {.idx = number};
    observe(key("client %d", number), call(DRM_IOCTL_GET_CLIENT, &request));
    if (number != 0) continue;
    observe_number("let in", (uint64_t)request.auth);
    observe_number("magic", request.magic);
    expect_true("process", request.pid == (unsigned long)getpid());
  }
  struct drm_stats statistics = {.count = 7};
  expect("statistics", call(DRM_IOCTL_GET_STATS, &statistics), 0);
  observe_number("counters", statistics.count);
}

static void masters(void) {
  find_crtc();
  const int other = open_device();
  struct drm_auth magic = {0}, wrong = {.magic = 12345};
  struct drm_client client = {0};
  struct drm_mode_crtc off = {.crtc_id = crtc};
  expect("other asks to show", call_on(other, DRM_IOCTL_MODE_SETCRTC, &off), -EACCES);
  observe("other takes the screen", call_on(other, DRM_IOCTL_SET_MASTER, NULL));
  observe("other gives the screen", call_on(other, DRM_IOCTL_DROP_MASTER, NULL));
  expect("magic", call_on(other, DRM_IOCTL_GET_MAGIC, &magic), 0);
  expect("unknown magic", call(DRM_IOCTL_AUTH_MAGIC, &wrong), -EINVAL);
  expect("other lets itself in", call_on(other, DRM_IOCTL_AUTH_MAGIC, &magic), -EACCES);
  call_on(other, DRM_IOCTL_GET_CLIENT, &client);
  observe_number("other is not in", (uint64_t)client.auth);
  expect("let in", call(DRM_IOCTL_AUTH_MAGIC, &magic), 0);
  call_on(other, DRM_IOCTL_GET_CLIENT, &client);
  observe_number("other is in", (uint64_t)client.auth);
  observe("let in twice", call(DRM_IOCTL_AUTH_MAGIC, &magic));
  observe("drop", call(DRM_IOCTL_DROP_MASTER, NULL));
  observe("drop twice", call(DRM_IOCTL_DROP_MASTER, NULL));
  observe("show without", call(DRM_IOCTL_MODE_SETCRTC, &off));
  observe("take back", call(DRM_IOCTL_SET_MASTER, NULL));
  observe("take twice", call(DRM_IOCTL_SET_MASTER, NULL));
  close(other);
}

static void names(void) {
  find_crtc();
  const int other = open_device();
  const struct object object = create(8192);
  struct drm_gem_flink name = {.handle = object.handle}, again = name, wrong = {.handle = 999};
  expect("name", call(DRM_IOCTL_GEM_FLINK, &name), 0);
  expect("name again", call(DRM_IOCTL_GEM_FLINK, &again), 0);
  expect_true("the same", name.name == again.name && name.name != 0);
  expect("unknown handle", call(DRM_IOCTL_GEM_FLINK, &wrong), -ENOENT);
  struct drm_gem_open open = {.name = name.name}, unknown = {.name = 999};
  expect("open", call(DRM_IOCTL_GEM_OPEN, &open), 0);
  observe_number("size", open.size);
  observe_number("another handle", open.handle != object.handle);
  expect("unknown name", call(DRM_IOCTL_GEM_OPEN, &unknown), -ENOENT);
  expect("of one that is not in", call_on(other, DRM_IOCTL_GEM_OPEN, &open), -EACCES);
  put(&object, 0, "abcd", 4);
  char text[4] = {0};
  const struct object opened = {.handle = open.handle, .bytes = 8192};
  get(&opened, 0, text, 4);
  expect_true("the same bytes", memcmp(text, "abcd", 4) == 0);
  close_object(&object);
  struct drm_gem_open second = {.name = name.name};
  observe("open while one handle is left", call(DRM_IOCTL_GEM_OPEN, &second));
  close_object(&opened);
  if (second.handle != 0) close_object(&(struct object){.handle = second.handle, .bytes = 8192});
  observe("open when none is", call(DRM_IOCTL_GEM_OPEN, &second));
  close(other);
}

static void dumb(void) {
  find_crtc();
  static const uint32_t sizes[][3] = {{64, 64, 32},     {1, 1, 32},         {63, 3, 16},   {100, 10, 8},
                                      {1024, 768, 32},  {0, 64, 32},        {64, 0, 32},   {64, 64, 0},
                                      {64, 64, 24},     {64, 64, 1},        {64, 64, 64},  {5000, 16, 32},
                                      {1, 1u << 31, 8}, {1u << 31, 16, 32}, {~0u, ~0u, 32}};
  for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    struct drm_mode_create_dumb request = {.width = sizes[i][0], .height = sizes[i][1], .bpp = sizes[i][2]};
    const char* const name = key("%u x %u, %u bits", sizes[i][0], sizes[i][1], sizes[i][2]);
    const int result = call(DRM_IOCTL_MODE_CREATE_DUMB, &request);
    observe(name, result);
    if (result != 0) continue;
    observe_number(key("%s pitch", name), request.pitch);
    observe_number(key("%s size", name), request.size);
    struct drm_mode_destroy_dumb destroy = {.handle = request.handle};
    expect(key("%s goes", name), call(DRM_IOCTL_MODE_DESTROY_DUMB, &destroy), 0);
    observe(key("%s goes twice", name), call(DRM_IOCTL_MODE_DESTROY_DUMB, &destroy));
  }
  struct drm_mode_map_dumb map = {.handle = 999};
  expect("map unknown", call(DRM_IOCTL_MODE_MAP_DUMB, &map), -ENOENT);
}

static int add_picture(struct drm_mode_fb_cmd2* picture) {
  picture->fb_id = 0;
  const int result = call(DRM_IOCTL_MODE_ADDFB2, picture);
  if (result == 0) call(DRM_IOCTL_MODE_RMFB, &picture->fb_id);
  return result;
}

static void pictures(void) {
  find_crtc();
  const struct object object = create(1 << 20);
  const struct drm_mode_fb_cmd2 good = {
      .width = 256, .height = 128, .pixel_format = DRM_FORMAT_XRGB8888, .handles = {object.handle}, .pitches = {1024}};
  struct drm_mode_fb_cmd2 one = good;
  expect("good", add_picture(&one), 0);
  static const struct {
    const char* name;
    uint32_t format;
  } formats[] = {{"C8", DRM_FORMAT_C8},
                 {"RGB565", DRM_FORMAT_RGB565},
                 {"XBGR8888", DRM_FORMAT_XBGR8888},
                 {"RGB888", DRM_FORMAT_RGB888},
                 {"RGBX8888", DRM_FORMAT_RGBX8888},
                 {"BGR565", DRM_FORMAT_BGR565},
                 {"nothing", 0},
                 {"NV12", DRM_FORMAT_NV12},
                 {"R8", DRM_FORMAT_R8},
                 {"ARGB8888", DRM_FORMAT_ARGB8888},
                 {"unknown", 0x20202020}};
  for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); ++i) {
    one = good;
    one.pixel_format = formats[i].format;
    observe(key("format %s", formats[i].name), add_picture(&one));
  }
  static const uint32_t pitches[] = {0, 512, 1000, 1016, 1020, 1028, 1056, 1088, 1536, 4096, 32768, 65536};
  for (unsigned i = 0; i < sizeof(pitches) / sizeof(pitches[0]); ++i) {
    one = good;
    one.pitches[0] = pitches[i];
    one.height = 4;
    observe(key("pitch %u", pitches[i]), add_picture(&one));
  }
  static const uint32_t sizes[][2] = {{0, 4}, {4, 0}, {256, 1024}, {256, 1025}, {~0u, 4}, {4, ~0u}, {20000, 1}};
  for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    one = good;
    one.width = sizes[i][0];
    one.height = sizes[i][1];
    observe(key("%u x %u", sizes[i][0], sizes[i][1]), add_picture(&one));
  }
  one = good, one.handles[0] = 0;
  observe("no handle", add_picture(&one));
  one = good, one.handles[0] = 999;
  observe("unknown handle", add_picture(&one));
  one = good, one.handles[1] = object.handle;
  observe("second handle", add_picture(&one));
  one = good, one.pitches[1] = 64;
  observe("second pitch", add_picture(&one));
  one = good, one.flags = DRM_MODE_FB_INTERLACED;
  observe("interlaced", add_picture(&one));
  one = good, one.flags = 1u << 7;
  observe("unknown flag", add_picture(&one));
  one = good, one.modifier[0] = I915_FORMAT_MOD_X_TILED;
  observe("modifier without its flag", add_picture(&one));
  static const uint64_t modifiers[] = {DRM_FORMAT_MOD_LINEAR,    I915_FORMAT_MOD_X_TILED, I915_FORMAT_MOD_Y_TILED,
                                       I915_FORMAT_MOD_Yf_TILED, DRM_FORMAT_MOD_INVALID,  fourcc_mod_code(NVIDIA, 5)};
  for (unsigned i = 0; i < sizeof(modifiers) / sizeof(modifiers[0]); ++i) {
    one = good, one.flags = DRM_MODE_FB_MODIFIERS, one.modifier[0] = modifiers[i];
    observe(key("modifier %u", i), add_picture(&one));
  }
  for (uint32_t offset = 0; offset <= 8192; offset += offset < 64 ? 4 : offset == 64 ? 4032 : 4096) {
    one = good, one.offsets[0] = offset, one.height = 4;
    observe(key("offset %u", offset), add_picture(&one));
  }
}

static void old_pictures(void) {
  find_crtc();
  const struct object object = create(1 << 20);
  for (uint32_t bits = 0; bits <= 32; bits += 8) {
    static const uint32_t depths[] = {0, 8, 15, 16, 24, 30, 32};
    for (unsigned i = 0; i < sizeof(depths) / sizeof(depths[0]); ++i) {
      struct drm_mode_fb_cmd request = {
          .width = 64, .height = 64, .pitch = 256, .bpp = bits, .depth = depths[i], .handle = object.handle};
      const int result = call(DRM_IOCTL_MODE_ADDFB, &request);
      observe(key("%u bits, depth %u", bits, depths[i]), result);
      if (result != 0) continue;
      struct drm_mode_fb_cmd read = {.fb_id = request.fb_id};
      expect(key("%u bits, depth %u, read", bits, depths[i]), call(DRM_IOCTL_MODE_GETFB, &read), 0);
      observe_number(key("%u bits, depth %u, bits", bits, depths[i]), read.bpp);
      observe_number(key("%u bits, depth %u, depth", bits, depths[i]), read.depth);
      observe_number(key("%u bits, depth %u, pitch", bits, depths[i]), read.pitch);
      struct drm_i915_gem_set_tiling tiling = {.handle = object.handle, .tiling_mode = I915_TILING_X, .stride = 512};
      observe(key("%u bits, depth %u, tiling", bits, depths[i]), call(DRM_IOCTL_I915_GEM_SET_TILING, &tiling));
      expect("goes", call(DRM_IOCTL_MODE_RMFB, &request.fb_id), 0);
      expect("goes twice", call(DRM_IOCTL_MODE_RMFB, &request.fb_id), -ENOENT);
    }
  }
  struct drm_mode_fb_cmd unknown = {.fb_id = 999};
  expect("read unknown", call(DRM_IOCTL_MODE_GETFB, &unknown), -ENOENT);
}

static void blobs(void) {
  find_crtc();
  char bytes[16] = "fifteen letters";
  struct drm_mode_create_blob blob = {.data = (uintptr_t)bytes, .length = sizeof(bytes)}, wrong = blob, none = blob;
  none.length = 0;
  wrong.data = 8;
  expect("create", call(DRM_IOCTL_MODE_CREATEPROPBLOB, &blob), 0);
  observe("empty", call(DRM_IOCTL_MODE_CREATEPROPBLOB, &none));
  expect("wild", call(DRM_IOCTL_MODE_CREATEPROPBLOB, &wrong), -EFAULT);
  char read[16] = {0};
  struct drm_mode_get_blob get_blob = {.blob_id = blob.blob_id, .data = (uintptr_t)read, .length = sizeof(read)};
  expect("read", call(DRM_IOCTL_MODE_GETPROPBLOB, &get_blob), 0);
  expect_true("bytes", memcmp(bytes, read, sizeof(bytes)) == 0);
  memset(read, 0, sizeof(read));
  get_blob.length = 4;
  observe("read less", call(DRM_IOCTL_MODE_GETPROPBLOB, &get_blob));
  observe_number("length", get_blob.length);
  observe_number("letters", (uint64_t)(unsigned char)read[0]);
  const int other = open_device();
  struct drm_mode_destroy_blob destroy = {.blob_id = blob.blob_id};
  expect("by another", call_on(other, DRM_IOCTL_MODE_DESTROYPROPBLOB, &destroy), -EPERM);
  expect("destroy", call(DRM_IOCTL_MODE_DESTROYPROPBLOB, &destroy), 0);
  expect("destroy twice", call(DRM_IOCTL_MODE_DESTROYPROPBLOB, &destroy), -ENOENT);
  close(other);
}

static void properties(void) {
  find_crtc();
  const struct object object = create(1 << 20);
  struct drm_mode_fb_cmd picture = {
      .width = 64, .height = 64, .pitch = 256, .bpp = 32, .depth = 24, .handle = object.handle};
  expect("picture", call(DRM_IOCTL_MODE_ADDFB, &picture), 0);
  const struct {
    const char* name;
    uint32_t id, type;
  } objects[] = {{"crtc", crtc, DRM_MODE_OBJECT_CRTC},
                 {"crtc as anything", crtc, DRM_MODE_OBJECT_ANY},
                 {"crtc as plane", crtc, DRM_MODE_OBJECT_PLANE},
                 {"picture", picture.fb_id, DRM_MODE_OBJECT_FB},
                 {"picture as anything", picture.fb_id, DRM_MODE_OBJECT_ANY},
                 {"unknown", 9999, DRM_MODE_OBJECT_ANY}};
  for (unsigned i = 0; i < sizeof(objects) / sizeof(objects[0]); ++i) {
    struct drm_mode_obj_get_properties get = {.obj_id = objects[i].id, .obj_type = objects[i].type};
    observe(key("get of %s", objects[i].name), call(DRM_IOCTL_MODE_OBJ_GETPROPERTIES, &get));
    struct drm_mode_obj_set_property set = {.obj_id = objects[i].id, .obj_type = objects[i].type, .prop_id = 9999};
    observe(key("set of %s", objects[i].name), call(DRM_IOCTL_MODE_OBJ_SETPROPERTY, &set));
  }
  struct drm_mode_get_property unknown = {.prop_id = 9999};
  expect("unknown property", call(DRM_IOCTL_MODE_GETPROPERTY, &unknown), -ENOENT);
}

// Calls that are refused while nothing is shown.
static void refusals(void) {
  find_crtc();
  const struct object object = create(1 << 20);
  struct drm_mode_fb_cmd picture = {
      .width = 64, .height = 64, .pitch = 256, .bpp = 32, .depth = 24, .handle = object.handle};
  expect("picture", call(DRM_IOCTL_MODE_ADDFB, &picture), 0);
  const struct drm_mode_crtc_page_flip good = {.crtc_id = crtc, .fb_id = picture.fb_id};
  struct drm_mode_crtc_page_flip flip = good;
  observe("flip", call(DRM_IOCTL_MODE_PAGE_FLIP, &flip));
  flip = good, flip.fb_id = 999;
  observe("flip to unknown", call(DRM_IOCTL_MODE_PAGE_FLIP, &flip));
  flip = good, flip.crtc_id = 9999;
  observe("flip of unknown", call(DRM_IOCTL_MODE_PAGE_FLIP, &flip));
  flip = good, flip.flags = 0x80;
  observe("flip with unknown flag", call(DRM_IOCTL_MODE_PAGE_FLIP, &flip));
  flip = good, flip.reserved = 1;
  observe("flip with reserved", call(DRM_IOCTL_MODE_PAGE_FLIP, &flip));
  struct drm_mode_crtc set = {.crtc_id = crtc, .fb_id = picture.fb_id};
  observe("picture without a mode", call(DRM_IOCTL_MODE_SETCRTC, &set));
  struct drm_mode_crtc off = {.crtc_id = crtc};
  expect("off", call(DRM_IOCTL_MODE_SETCRTC, &off), 0);
  struct drm_mode_crtc unknown = {.crtc_id = 9999};
  expect("off, unknown", call(DRM_IOCTL_MODE_SETCRTC, &unknown), -ENOENT);
  struct drm_mode_crtc mode = {.crtc_id = crtc, .fb_id = picture.fb_id, .mode_valid = 1};
  observe("an empty mode", call(DRM_IOCTL_MODE_SETCRTC, &mode));
  union drm_wait_vblank wait = {.request = {.type = _DRM_VBLANK_RELATIVE, .sequence = 1}};
  observe("wait for a blank", call(DRM_IOCTL_WAIT_VBLANK, &wait));
  wait.request.type = _DRM_VBLANK_RELATIVE | _DRM_VBLANK_SIGNAL;
  observe("wait with a signal", call(DRM_IOCTL_WAIT_VBLANK, &wait));
  wait.request.type = _DRM_VBLANK_RELATIVE | (9 << _DRM_VBLANK_HIGH_CRTC_SHIFT);
  observe("wait, unknown", call(DRM_IOCTL_WAIT_VBLANK, &wait));
  struct drm_crtc_get_sequence sequence = {.crtc_id = crtc}, nowhere = {.crtc_id = 9999};
  observe("sequence", call(DRM_IOCTL_CRTC_GET_SEQUENCE, &sequence));
  observe("sequence, unknown", call(DRM_IOCTL_CRTC_GET_SEQUENCE, &nowhere));
  struct drm_mode_cursor cursor = {.crtc_id = crtc};
  observe("cursor without a flag", call(DRM_IOCTL_MODE_CURSOR, &cursor));
  cursor.flags = 0x80;
  observe("cursor with an unknown flag", call(DRM_IOCTL_MODE_CURSOR, &cursor));
  cursor.flags = DRM_MODE_CURSOR_BO, cursor.crtc_id = 9999;
  observe("cursor, unknown", call(DRM_IOCTL_MODE_CURSOR, &cursor));
  struct drm_mode_atomic atomic = {.flags = 0};
  observe("atomic without asking", call(DRM_IOCTL_MODE_ATOMIC, &atomic));
  struct drm_set_client_cap ask = {.capability = DRM_CLIENT_CAP_ATOMIC, .value = 1};
  observe("asks for atomic", call(DRM_IOCTL_SET_CLIENT_CAP, &ask));
  observe("atomic, empty", call(DRM_IOCTL_MODE_ATOMIC, &atomic));
  atomic.flags = 0x8000;
  observe("atomic, unknown flag", call(DRM_IOCTL_MODE_ATOMIC, &atomic));
  atomic.flags = 0, atomic.reserved = 1;
  observe("atomic, reserved", call(DRM_IOCTL_MODE_ATOMIC, &atomic));
  const uint32_t nobody = 9999, one = 1, number = 9999;
  const uint64_t value = 0;
  atomic = (struct drm_mode_atomic){.count_objs = 1,
                                    .objs_ptr = (uintptr_t)&nobody,
                                    .count_props_ptr = (uintptr_t)&one,
                                    .props_ptr = (uintptr_t)&number,
                                    .prop_values_ptr = (uintptr_t)&value};
  observe("atomic, unknown object", call(DRM_IOCTL_MODE_ATOMIC, &atomic));
  atomic.objs_ptr = (uintptr_t)&crtc;
  observe("atomic, unknown property", call(DRM_IOCTL_MODE_ATOMIC, &atomic));
  atomic.objs_ptr = (uintptr_t)&picture.fb_id;
  observe("atomic, of a picture", call(DRM_IOCTL_MODE_ATOMIC, &atomic));
}

const struct test screen_tests[] = {{"screen.clients", clients, 2},   {"screen.masters", masters, 2},
                                    {"screen.names", names, 2},       {"screen.dumb", dumb, 2},
                                    {"screen.pictures", pictures, 2}, {"screen.old-pictures", old_pictures, 2},
                                    {"screen.blobs", blobs, 2},       {"screen.properties", properties, 2},
                                    {"screen.refusals", refusals, 2}, {0}};
