#include "display/plane_formats.h"

#include "hw/display_color.h"
#include "hw/display_plane.h"
#include "hw/display_plane_gen9.h"
#include "hw/display_sprite.h"
#include "hw/enums.h"
#include "spec/packing.h"

namespace halogen::display {

namespace {

using picture::PixelFormat;
using picture::YuvMatrix;
using spec::unpack_register;

// Formats with both channel orders, with and without alpha.
enum class Depth : uint8_t { ten, eight, half };
PixelFormat rgb_format(Depth depth, bool xbgr, bool alpha) {
  constexpr PixelFormat kFormats[3][2][2] = {
      {{PixelFormat::xrgb2101010, PixelFormat::argb2101010}, {PixelFormat::xbgr2101010, PixelFormat::abgr2101010}},
      {{PixelFormat::xrgb8888, PixelFormat::argb8888}, {PixelFormat::xbgr8888, PixelFormat::abgr8888}},
      {{PixelFormat::xrgb16161616f, PixelFormat::argb16161616f},
       {PixelFormat::xbgr16161616f, PixelFormat::abgr16161616f}},
  };
  return kFormats[static_cast<unsigned>(depth)][xbgr ? 1 : 0][alpha ? 1 : 0];
}

// Display planes, which have no video formats (`yuv` is empty), and sprites of Cherryview, which have fewer formats.
std::optional<PixelFormat> format_of(hw::DisplayPlaneFormat code, std::optional<PixelFormat> yuv) {
  using Code = hw::DisplayPlaneFormat;
  const bool sprite = yuv.has_value();
  switch (code) {
    case Code::YUV422:
      return yuv;
    case Code::indexed_8bpp:
      return PixelFormat::c8;
    case Code::BGRA555:
      return sprite ? std::nullopt : std::optional(PixelFormat::argb1555);
    case Code::BGRX555:
      return sprite ? std::nullopt : std::optional(PixelFormat::xrgb1555);
    case Code::BGRX565:
      return PixelFormat::rgb565;
    case Code::BGRX888:
    case Code::BGRA888:
      return rgb_format(Depth::eight, false, code == Code::BGRA888);
    case Code::RGBX888:
    case Code::RGBA888:
      return rgb_format(Depth::eight, true, code == Code::RGBA888);
    case Code::BGRX101010:
    case Code::BGRA101010:
      return rgb_format(Depth::ten, false, code == Code::BGRA101010);
    case Code::RGBX101010:
    case Code::RGBA101010:
      return rgb_format(Depth::ten, true, code == Code::RGBA101010);
    case Code::RGBX161616:
      return sprite ? std::nullopt : std::optional(PixelFormat::xbgr16161616f);
  }
  return std::nullopt;
}

// Video sprites, and sprites of Broadwell, which have two more codes.
template <class Code>
std::optional<PixelFormat> sprite_format(Code code, bool xbgr, PixelFormat yuv) {
  if constexpr (requires { Code::YUV444; }) {
    if (code == Code::YUV444) return PixelFormat::xyuv8888;
  }
  if (code == Code::YUV422) return yuv;
  if (code == Code::RGBX101010) return rgb_format(Depth::ten, xbgr, false);
  if (code == Code::RGBX888) return rgb_format(Depth::eight, xbgr, false);
  return code == Code::RGBX161616 ? std::optional(rgb_format(Depth::half, xbgr, false)) : std::nullopt;
}

std::optional<PixelFormat> format_of(hw::UniversalPlaneFormat code, bool xbgr, bool alpha, PixelFormat yuv) {
  using Code = hw::UniversalPlaneFormat;
  switch (code) {
    case Code::YUV422:
      return yuv;
    case Code::XRGB2101010:
      return rgb_format(Depth::ten, xbgr, alpha);
    case Code::XRGB8888:
      return rgb_format(Depth::eight, xbgr, alpha);
    case Code::XRGB16161616F:
      return rgb_format(Depth::half, xbgr, alpha);
    case Code::XYUV8888:
      return PixelFormat::xyuv8888;
    case Code::indexed_8bpp:
      return PixelFormat::c8;
    case Code::RGB565:
      return PixelFormat::rgb565;
    case Code::NV12:
    case Code::P010:
    case Code::P012:
    case Code::P016:
      break;
  }
  return std::nullopt;
}

// The four YUV orders have the same codes in every register.
template <class Order>
PixelFormat yuv_format(Order order) {
  constexpr PixelFormat kOrders[] = {PixelFormat::yuyv, PixelFormat::uyvy, PixelFormat::yvyu, PixelFormat::vyuy};
  return kOrders[static_cast<unsigned>(order) & 3];
}

YuvMatrix matrix_of(bool bt709) {
  return bt709 ? YuvMatrix::bt709 : YuvMatrix::bt601;
}

std::optional<PlanePixels> pixels_of(std::optional<PixelFormat> format, bool bt709, bool multiply, bool gamma,
                                     bool keyed) {
  if (!format) {
    return std::nullopt;
  }
  const AlphaMode alpha = !picture::has_alpha(*format) ? AlphaMode::opaque
                          : multiply                   ? AlphaMode::straight
                                                       : AlphaMode::premultiplied;
  return PlanePixels{*format, matrix_of(bt709), alpha, gamma, keyed};
}

// Both kinds of sprites share a layout.
template <class Control>
std::optional<PlanePixels> sprite_pixels(const Control& control) {
  return pixels_of(sprite_format(control.source_pixel_format, control.rgb_order_xbgr, yuv_format(control.yuv_order)),
                   control.yuv_bt709, false, control.gamma_enable,
                   control.source_key_enable || control.destination_key_enable);
}

std::optional<PlanePixels> universal_pixels(spec::GenId gen, uint32_t value, std::optional<uint32_t> color_control) {
  const auto control = unpack_register<hw::PLANE_CTL_1>(gen, value);
  auto mode = static_cast<unsigned>(control.alpha_mode);
  bool gamma = control.gamma_enable;
  if (color_control) {
    const auto color = unpack_register<hw::PLANE_COLOR_CTL_1>(gen, *color_control);
    mode = static_cast<unsigned>(color.alpha_mode);
    gamma = true;  // the gamma mode of the pipe applies to all planes
  }
  const auto premultiplied = static_cast<unsigned>(hw::PLANE_CTL_1::AlphaMode::premultiplied);
  const bool alpha = mode >= premultiplied;
  if (control.packed_yuv) {
    return std::nullopt;
  }
  return pixels_of(format_of(control.source_pixel_format, control.rgb_order_xbgr, alpha, yuv_format(control.yuv_order)),
                   control.yuv_bt709, mode != premultiplied, gamma,
                   control.key_enable != hw::PLANE_CTL_1::KeyEnable::none);
}

}  // namespace

// Planes of one kind share their layout, whatever the name of the item is.
std::optional<PlanePixels> plane_pixels(const PlaneModel& plane, spec::GenId gen, uint32_t control,
                                        std::optional<uint32_t> color_control) {
  switch (plane.kind) {
    case PlaneKind::display: {
      const auto reg = unpack_register<hw::DSPCNTR>(gen, control);
      return pixels_of(format_of(reg.source_pixel_format, std::nullopt), false, reg.alpha_premultiply, reg.gamma_enable,
                       reg.source_key_enable);
    }
    case PlaneKind::video_sprite:
      return sprite_pixels(unpack_register<hw::DVSCNTR>(gen, control));
    case PlaneKind::sprite:
      return sprite_pixels(unpack_register<hw::SPRCTL>(gen, control));
    case PlaneKind::paired_sprite: {
      const auto reg = unpack_register<hw::SPCNTR>(gen, control);
      return pixels_of(format_of(reg.source_pixel_format, yuv_format(reg.yuv_order)), reg.yuv_bt709,
                       reg.alpha_premultiply, reg.gamma_enable, reg.source_key_enable);
    }
    case PlaneKind::universal:
      return universal_pixels(gen, control, color_control);
  }
  return std::nullopt;
}

}  // namespace halogen::display
