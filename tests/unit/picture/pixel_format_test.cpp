// Pixel formats compared with values computed by hand and with slow formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "picture/pixel_format.h"

namespace halogen::picture {
namespace {

Rgba one(PixelFormat format, uint64_t pixel) {
  std::byte bytes[8];
  std::memcpy(bytes, &pixel, sizeof bytes);
  Rgba color{1, 2, 3, 4};
  convert_row({.format = format}, std::span(bytes).first(pixel_bytes(format)), std::span(&color, 1));
  return color;
}

TEST(PixelFormats, NamesRoundTrip) {
  std::set<std::string_view> names;
  for (const PixelFormat format : pixel_formats()) {
    EXPECT_EQ(find_format(name_of(format)), format);
    EXPECT_TRUE(names.insert(name_of(format)).second);
    EXPECT_EQ(has_alpha(format), name_of(format)[0] == 'a') << name_of(format);
  }
  EXPECT_EQ(names.size(), kPixelFormats);
  EXPECT_EQ(find_format("rgb888"), std::nullopt);
}

TEST(PixelFormats, ChannelsFollowTheFormatName) {
  EXPECT_EQ(one(PixelFormat::xrgb8888, 0x12345678), (Rgba{0x34, 0x56, 0x78, 255}));
  EXPECT_EQ(one(PixelFormat::argb8888, 0x12345678), (Rgba{0x34, 0x56, 0x78, 0x12}));
  EXPECT_EQ(one(PixelFormat::xbgr8888, 0x12345678), (Rgba{0x78, 0x56, 0x34, 255}));
  EXPECT_EQ(one(PixelFormat::abgr8888, 0x12345678), (Rgba{0x78, 0x56, 0x34, 0x12}));
  EXPECT_EQ(one(PixelFormat::rgb565, 0xf800), (Rgba{255, 0, 0, 255}));
  EXPECT_EQ(one(PixelFormat::rgb565, 0x07e0), (Rgba{0, 255, 0, 255}));
  EXPECT_EQ(one(PixelFormat::rgb565, 0x001f), (Rgba{0, 0, 255, 255}));
  EXPECT_EQ(one(PixelFormat::rgb565, 0x8410), (Rgba{0x84, 0x82, 0x84, 255}));  // 10000 -> 10000100, 100000 -> 10000010
  EXPECT_EQ(one(PixelFormat::xrgb1555, 0xfc00), (Rgba{255, 0, 0, 255}));
  EXPECT_EQ(one(PixelFormat::argb1555, 0x7c00), (Rgba{255, 0, 0, 0}));
  EXPECT_EQ(one(PixelFormat::argb1555, 0x801f), (Rgba{0, 0, 255, 255}));
  EXPECT_EQ(one(PixelFormat::xrgb2101010, 0x3ff00000), (Rgba{255, 0, 0, 255}));
  EXPECT_EQ(one(PixelFormat::xrgb2101010, 0x200u), (Rgba{0, 0, 0x80, 255}));
  EXPECT_EQ(one(PixelFormat::xbgr2101010, 0x200u), (Rgba{0x80, 0, 0, 255}));
  EXPECT_EQ(one(PixelFormat::argb2101010, 0x80000000), (Rgba{0, 0, 0, 0xaa}));
  EXPECT_EQ(one(PixelFormat::abgr2101010, 0x40000000), (Rgba{0, 0, 0, 0x55}));
  EXPECT_EQ(one(PixelFormat::r8, 0x7f), (Rgba{0x7f, 0x7f, 0x7f, 255}));
}

TEST(PixelFormats, ShortChannelsWidenToFullRange) {
  for (unsigned value = 0; value < 32; ++value) {
    EXPECT_NEAR(one(PixelFormat::xrgb1555, value).blue, std::round(value * 255.0 / 31), 1) << value;
  }
  for (unsigned value = 0; value < 64; ++value) {
    EXPECT_NEAR(one(PixelFormat::rgb565, value << 5).green, std::round(value * 255.0 / 63), 1) << value;
  }
}

TEST(PixelFormats, HalfFloatsAreClampedToZeroAndOne) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const int exponent = static_cast<int>(half >> 10 & 31);
    const double mantissa = half & 1023;
    double value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
    if (exponent == 31) value = mantissa == 0 ? 2 : 0;
    if ((half & 0x8000) != 0) value = 0;
    const auto expected = static_cast<uint8_t>(std::floor(std::min(value, 1.0) * 255 + 0.5));
    ASSERT_EQ(one(PixelFormat::xbgr16161616f, half).red, expected) << std::hex << half;
  }
  EXPECT_EQ(one(PixelFormat::xbgr16161616f, uint64_t{0x3c00} << 32), (Rgba{0, 0, 255, 255}));
  EXPECT_EQ(one(PixelFormat::xrgb16161616f, uint64_t{0x3c00} << 32), (Rgba{255, 0, 0, 255}));
  EXPECT_EQ(one(PixelFormat::abgr16161616f, uint64_t{0x3c00} << 16), (Rgba{0, 255, 0, 0}));
  EXPECT_EQ(one(PixelFormat::argb16161616f, uint64_t{0x3c00} << 48), (Rgba{0, 0, 0, 255}));
}

// The matrices of the two standards for limited range, in floating point.
Rgba slow_yuv(YuvMatrix matrix, int y, int u, int v) {
  const double kr = matrix == YuvMatrix::bt601 ? 0.299 : 0.2126;
  const double kb = matrix == YuvMatrix::bt601 ? 0.114 : 0.0722;
  const double kg = 1 - kr - kb;
  const double luma = (y - 16) / 219.0;
  const double cb = (u - 128) / 224.0;
  const double cr = (v - 128) / 224.0;
  const auto eight = [](double x) { return static_cast<uint8_t>(std::lround(std::min(1.0, std::max(0.0, x)) * 255)); };
  return {eight(luma + 2 * (1 - kr) * cr), eight(luma - 2 * (1 - kb) * kb / kg * cb - 2 * (1 - kr) * kr / kg * cr),
          eight(luma + 2 * (1 - kb) * cb), 255};
}

void expect_near(Rgba a, Rgba b) {
  EXPECT_NEAR(a.red, b.red, 1);
  EXPECT_NEAR(a.green, b.green, 1);
  EXPECT_NEAR(a.blue, b.blue, 1);
}

TEST(PixelFormats, YuvFollowsTheStandards) {
  for (const YuvMatrix matrix : {YuvMatrix::bt601, YuvMatrix::bt709}) {
    for (int y = 0; y < 256; y += 15) {
      for (int u = 0; u < 256; u += 17) {
        for (int v = 0; v < 256; v += 17) {
          const auto b = [](int value) { return static_cast<std::byte>(value); };
          const struct {
            PixelFormat format;
            std::byte bytes[4];
          } pairs[] = {{PixelFormat::yuyv, {b(y), b(u), b(255 - y), b(v)}},
                       {PixelFormat::uyvy, {b(u), b(y), b(v), b(255 - y)}},
                       {PixelFormat::yvyu, {b(y), b(v), b(255 - y), b(u)}},
                       {PixelFormat::vyuy, {b(v), b(y), b(u), b(255 - y)}}};
          for (const auto& pair : pairs) {
            Rgba two[2];
            convert_row({.format = pair.format, .matrix = matrix}, pair.bytes, two);
            expect_near(two[0], slow_yuv(matrix, y, u, v));
            expect_near(two[1], slow_yuv(matrix, 255 - y, u, v));
          }
          const std::byte packed[4] = {b(v), b(u), b(y), b(0)};
          Rgba pixel;
          convert_row({.format = PixelFormat::xyuv8888, .matrix = matrix}, packed, std::span(&pixel, 1));
          expect_near(pixel, slow_yuv(matrix, y, u, v));
        }
      }
      if (HasFailure()) return;
    }
  }
}

TEST(PixelFormats, IndicesGoThroughThePalette) {
  const Rgba palette[] = {{1, 2, 3, 255}, {4, 5, 6, 255}};
  const std::byte from[] = {std::byte{1}, std::byte{0}, std::byte{9}};
  Rgba to[3];
  convert_row({.format = PixelFormat::c8, .palette = palette}, from, to);
  EXPECT_EQ(to[0], palette[1]);
  EXPECT_EQ(to[1], palette[0]);
  EXPECT_EQ(to[2], Rgba{});
}

TEST(PixelFormats, ConversionStaysWithinBothSpans) {
  for (const PixelFormat format : pixel_formats()) {
    const std::vector<std::byte> from(pixel_bytes(format) * 3 - 1,
                                      std::byte{0xff});  // two whole pixels and a part of the next
    std::vector<Rgba> to(5, Rgba{9, 9, 9, 9});
    convert_row({.format = format}, from, to);
    for (size_t n = 2; n < to.size(); ++n) {
      EXPECT_EQ(to[n], (Rgba{9, 9, 9, 9})) << name_of(format) << " " << n;
    }
  }
}

}  // namespace
}  // namespace halogen::picture
