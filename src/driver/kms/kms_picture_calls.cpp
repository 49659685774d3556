// Calls on dumb buffers and framebuffers.
#include <libdrm/drm_fourcc.h>

#include <algorithm>
#include <cerrno>

#include "driver/gem/user_memory.h"
#include "driver/kms/kms_calls.h"
#include "spec/interface_model.h"

namespace halogen::driver {
namespace {

constexpr uint32_t kLinearUnit = 64;
constexpr uint32_t kLongestPitch = 32 * 1024;
constexpr uint32_t kXTileWidth = 512, kYTileWidth = 128;

// Returns the size of a pixel. 0: neither the primary plane nor the cursor supports the format.
uint32_t bytes_of(Kms& kms, uint32_t format) {
  return format == DRM_FORMAT_ARGB8888 ? 4 : kms.pipe().pixel_bytes(format);
}

// Without the modifiers flag, programs may leave any value in unused fields.
bool unused_is_zero(const drm_mode_fb_cmd2& fb) {
  const bool strict = (fb.flags & DRM_MODE_FB_MODIFIERS) != 0;
  for (size_t i = 1; i < std::size(fb.handles); ++i) {
    if (fb.modifier[i] != 0) return false;
    if (strict && (fb.handles[i] != 0 || fb.pitches[i] != 0 || fb.offsets[i] != 0)) return false;
  }
  return true;
}

// Returns the tiling of a modifier; without one, that of the buffer. No value: it cannot be displayed.
std::optional<Tiling> tiling_of(const Kms& kms, const drm_mode_fb_cmd2& fb, const Buffer& buffer) {
  if ((fb.flags & DRM_MODE_FB_MODIFIERS) == 0) {
    if (buffer.tiling == Tiling::y) return std::nullopt;
    return buffer.tiling;
  }
  switch (fb.modifier[0]) {
    case DRM_FORMAT_MOD_LINEAR:
      return buffer.tiling == Tiling::linear ? std::optional(Tiling::linear) : std::nullopt;
    case I915_FORMAT_MOD_X_TILED:
      return buffer.tiling != Tiling::y ? std::optional(Tiling::x) : std::nullopt;
    case I915_FORMAT_MOD_Y_TILED:
      return buffer.tiling != Tiling::x && kms.knows_y() ? std::optional(Tiling::y) : std::nullopt;
    default:
      return std::nullopt;
  }
}

int check_size(Kms& kms, const drm_mode_fb_cmd2& fb, Tiling tiling, const Buffer& buffer) {
  const uint32_t pixel = bytes_of(kms, fb.pixel_format);
  const uint32_t unit = tiling == Tiling::x ? kXTileWidth : tiling == Tiling::y ? kYTileWidth : kLinearUnit;
  const uint32_t pitch = fb.pitches[0];
  if (fb.width > kms.largest_edge() || fb.height > kms.largest_edge()) return -EINVAL;
  if (pitch < uint64_t{fb.width} * pixel || pitch % unit != 0 || pitch > kLongestPitch) return -EINVAL;
  if (buffer.tiling != Tiling::linear && buffer.stride != pitch) return -EINVAL;
  if (fb.offsets[0] != 0) return -EINVAL;
  const uint32_t tile_lines = tiling == Tiling::x ? 8 : tiling == Tiling::y ? 32 : 1;
  const uint64_t lines = (uint64_t{fb.height} + tile_lines - 1) / tile_lines * tile_lines;
  const uint64_t last = tiling == Tiling::linear ? uint64_t{fb.width} * pixel : pitch;
  return (lines - 1) * pitch + last > buffer.size() ? -EINVAL : 0;
}

FramebufferRef make_fb(Call& call, const drm_mode_fb_cmd2& fb, int& error) {
  Kms& kms = call.driver.kms();
  error = -EINVAL;
  if ((fb.flags & ~uint32_t{DRM_MODE_FB_INTERLACED | DRM_MODE_FB_MODIFIERS}) != 0) return nullptr;
  if (fb.width == 0 || fb.height == 0 || bytes_of(kms, fb.pixel_format) == 0 || fb.handles[0] == 0) return nullptr;
  if ((fb.flags & DRM_MODE_FB_MODIFIERS) == 0 && fb.modifier[0] != 0) return nullptr;
  if (!unused_is_zero(fb) || fb.pitches[0] < uint64_t{fb.width} * bytes_of(kms, fb.pixel_format)) return nullptr;
  const BufferRef buffer = call.file.buffers.find(fb.handles[0]);
  if (!buffer) {
    error = -ENOENT;
    return nullptr;
  }
  if (spec::interface_of(call.driver.model().id).local_framebuffers && !buffer->local()) {
    error = -EREMOTE;
    return nullptr;
  }
  const std::optional<Tiling> tiling = tiling_of(kms, fb, *buffer);
  if (!tiling) return nullptr;
  error = check_size(kms, fb, *tiling, *buffer);
  if (error != 0) return nullptr;
  auto made = std::make_shared<Framebuffer>(call.driver.gpu().global(), buffer);
  made->owner = &call.file;
  made->width = fb.width;
  made->height = fb.height;
  made->format = fb.pixel_format;
  made->pitch = fb.pitches[0];
  made->offset = fb.offsets[0];
  made->tiling = *tiling;
  made->modifier = *tiling == Tiling::x   ? I915_FORMAT_MOD_X_TILED
                   : *tiling == Tiling::y ? I915_FORMAT_MOD_Y_TILED
                                          : DRM_FORMAT_MOD_LINEAR;
  return made;
}

struct LegacyFormat {
  uint32_t bits, depth, format;
};
constexpr LegacyFormat kLegacyFormats[] = {{8, 8, DRM_FORMAT_C8},           {16, 16, DRM_FORMAT_RGB565},
                                           {32, 24, DRM_FORMAT_XRGB8888},   {32, 30, DRM_FORMAT_XRGB2101010},
                                           {32, 32, DRM_FORMAT_ARGB8888},   {32, 24, DRM_FORMAT_XBGR8888},
                                           {32, 30, DRM_FORMAT_XBGR2101010}};

// Returns a handle to the master or an administrator only.
uint32_t handle_of(Call& call, const Framebuffer& fb) {
  const bool may = call.driver.kms().master == &call.file || call.driver.privileged();
  return may ? call.file.buffers.add(fb.buffer) : 0;
}

}  // namespace

// Creates a buffer in memory that the display reads, with a pitch that it accepts.
int create_dumb(Call& call, drm_mode_create_dumb& dumb) {
  if (dumb.width == 0 || dumb.height == 0 || dumb.bpp == 0 || dumb.bpp > UINT32_MAX - 8) return -EINVAL;
  const uint64_t pixel = (uint64_t{dumb.bpp} + 7) / 8;
  if (pixel > UINT32_MAX / dumb.width || pixel * dumb.width > UINT32_MAX / dumb.height) return -EINVAL;
  if (pixel != 1 && pixel != 2 && pixel != 4) return -EINVAL;
  const uint64_t pitch = (pixel * dumb.width + kLinearUnit - 1) / kLinearUnit * kLinearUnit;
  const uint64_t bytes = (pitch * dumb.height + kPageBytes - 1) / kPageBytes * kPageBytes;
  Hardware& hardware = call.driver.gpu().hardware();
  const bool local = spec::interface_of(hardware.model().id).local_framebuffers;
  if (pitch > UINT32_MAX || bytes == 0) return -EINVAL;
  if (local && bytes > hardware.pages(local).all_bytes()) return -E2BIG;
  dumb.handle = call.file.buffers.add(std::make_shared<Buffer>(hardware, bytes, local));
  dumb.pitch = static_cast<uint32_t>(pitch);
  dumb.size = bytes;
  return 0;
}

int map_dumb(Call& call, drm_mode_map_dumb& dumb) {
  const BufferRef buffer = call.file.buffers.find(dumb.handle);
  if (!buffer) return -ENOENT;
  dumb.offset = call.driver.offset_of(buffer, false);
  return 0;
}

int destroy_dumb(Call& call, drm_mode_destroy_dumb& dumb) {
  drm_gem_close close{.handle = dumb.handle, .pad = 0};
  return close_buffer(call, close);
}

int add_fb2(Call& call, drm_mode_fb_cmd2& fb) {
  int error = 0;
  const FramebufferRef made = make_fb(call, fb, error);
  if (!made) return error;
  fb.fb_id = call.driver.kms().add(made);
  return 0;
}

int add_fb(Call& call, drm_mode_fb_cmd& fb) {
  const auto* const found = std::find_if(std::begin(kLegacyFormats), std::end(kLegacyFormats), [&](const auto& each) {
    return each.bits == fb.bpp && each.depth == fb.depth;
  });
  if (found == std::end(kLegacyFormats)) return -EINVAL;
  drm_mode_fb_cmd2 full{};
  full.width = fb.width;
  full.height = fb.height;
  full.pixel_format = found->format;
  full.handles[0] = fb.handle;
  full.pitches[0] = fb.pitch;
  const int result = add_fb2(call, full);
  fb.fb_id = full.fb_id;
  return result;
}

int get_fb(Call& call, drm_mode_fb_cmd& fb) {
  const FramebufferRef found = call.driver.kms().find_fb(fb.fb_id);
  if (!found) return -ENOENT;
  fb.width = found->width;
  fb.height = found->height;
  fb.pitch = found->pitch;
  for (const LegacyFormat& each : kLegacyFormats) {
    if (each.format != found->format) continue;
    fb.bpp = each.bits;
    fb.depth = each.depth;
  }
  fb.handle = handle_of(call, *found);
  return 0;
}

int get_fb2(Call& call, drm_mode_fb_cmd2& fb) {
  const FramebufferRef found = call.driver.kms().find_fb(fb.fb_id);
  if (!found) return -ENOENT;
  fb = {};
  fb.fb_id = found->id;
  fb.width = found->width;
  fb.height = found->height;
  fb.pixel_format = found->format;
  fb.flags = DRM_MODE_FB_MODIFIERS;
  fb.handles[0] = handle_of(call, *found);
  fb.pitches[0] = found->pitch;
  fb.offsets[0] = found->offset;
  fb.modifier[0] = found->modifier;
  return 0;
}

int remove_fb(Call& call, unsigned& id) {
  return call.driver.kms().remove_fb(call.file, id);
}

// Has no effect, because the display reads memory itself.
int mark_dirty(Call& call, drm_mode_fb_dirty_cmd& dirty) {
  if (!call.driver.kms().find_fb(dirty.fb_id)) return -ENOENT;
  if ((dirty.flags & ~uint32_t{DRM_MODE_FB_DIRTY_FLAGS}) != 0) return -EINVAL;
  if ((dirty.num_clips == 0) != (dirty.clips_ptr == 0)) return -EINVAL;
  return dirty.num_clips > DRM_MODE_FB_DIRTY_MAX_CLIPS ? -EINVAL : 0;
}

FramebufferRef cursor_picture(Call& call, uint32_t handle, uint32_t width, uint32_t height, int& error) {
  drm_mode_fb_cmd2 fb{};
  fb.width = width;
  fb.height = height;
  fb.pixel_format = DRM_FORMAT_ARGB8888;
  fb.handles[0] = handle;
  fb.pitches[0] = width <= kLongestPitch ? width * 4 : 0;
  return make_fb(call, fb, error);
}

}  // namespace halogen::driver
