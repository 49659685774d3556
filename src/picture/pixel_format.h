// Pixel formats of surfaces and their conversion to eight bits per channel. Names are those of Linux: channels from the
// most significant bit of a little-endian pixel down. Short channels are widened by repeating their upper bits, long
// ones are truncated. Not supported: formats with more than one surface (NV12 and similar).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "picture/image.h"

namespace halogen::picture {

enum class PixelFormat : uint8_t {
  r8,  // grey
  c8,  // an index into a palette
  xrgb1555,
  argb1555,
  rgb565,
  xrgb8888,
  argb8888,
  xbgr8888,
  abgr8888,
  xrgb2101010,
  argb2101010,
  xbgr2101010,
  abgr2101010,
  xrgb16161616f,
  argb16161616f,
  xbgr16161616f,
  abgr16161616f,
  yuyv,  // two pixels in four bytes, in the order of the name
  uyvy,
  yvyu,
  vyuy,
  xyuv8888,
};
inline constexpr unsigned kPixelFormats = 22;

std::string_view name_of(PixelFormat format);
std::optional<PixelFormat> find_format(std::string_view name);
std::span<const PixelFormat> pixel_formats();
unsigned pixel_bytes(PixelFormat format);
bool has_alpha(PixelFormat format);

enum class YuvMatrix : uint8_t { bt601, bt709 };  // of limited range

struct Conversion {
  PixelFormat format = PixelFormat::xrgb8888;
  YuvMatrix matrix = YuvMatrix::bt601;
  std::span<const Rgba> palette = {};  // of c8; an index beyond it is black
};

// Converts as many pixels as both sides hold; a pair that is cut off at the end counts as complete.
void convert_row(const Conversion& conversion, std::span<const std::byte> from, std::span<Rgba> to);

}  // namespace halogen::picture
