#include "picture/pixel_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace halogen::picture {

namespace {

enum class Kind : uint8_t { grey, indexed, packed, half, yuv422, yuv444 };

struct Channel {
  uint8_t shift = 0;
  uint8_t bits = 0;
};

struct Layout {
  std::string_view name;
  Kind kind;
  uint8_t bytes;
  Channel red;    // YUV: Y; in 4:2:2, that of the first pixel of a pair
  Channel green;  // YUV: U
  Channel blue;   // YUV: V
  Channel alpha;
};

// In the order of PixelFormat.
constexpr std::array<Layout, kPixelFormats> kLayouts{{
    {"r8", Kind::grey, 1, {}, {}, {}, {}},
    {"c8", Kind::indexed, 1, {}, {}, {}, {}},
    {"xrgb1555", Kind::packed, 2, {10, 5}, {5, 5}, {0, 5}, {}},
    {"argb1555", Kind::packed, 2, {10, 5}, {5, 5}, {0, 5}, {15, 1}},
    {"rgb565", Kind::packed, 2, {11, 5}, {5, 6}, {0, 5}, {}},
    {"xrgb8888", Kind::packed, 4, {16, 8}, {8, 8}, {0, 8}, {}},
    {"argb8888", Kind::packed, 4, {16, 8}, {8, 8}, {0, 8}, {24, 8}},
    {"xbgr8888", Kind::packed, 4, {0, 8}, {8, 8}, {16, 8}, {}},
    {"abgr8888", Kind::packed, 4, {0, 8}, {8, 8}, {16, 8}, {24, 8}},
    {"xrgb2101010", Kind::packed, 4, {20, 10}, {10, 10}, {0, 10}, {}},
    {"argb2101010", Kind::packed, 4, {20, 10}, {10, 10}, {0, 10}, {30, 2}},
    {"xbgr2101010", Kind::packed, 4, {0, 10}, {10, 10}, {20, 10}, {}},
    {"abgr2101010", Kind::packed, 4, {0, 10}, {10, 10}, {20, 10}, {30, 2}},
    {"xrgb16161616f", Kind::half, 8, {32, 16}, {16, 16}, {0, 16}, {}},
    {"argb16161616f", Kind::half, 8, {32, 16}, {16, 16}, {0, 16}, {48, 16}},
    {"xbgr16161616f", Kind::half, 8, {0, 16}, {16, 16}, {32, 16}, {}},
    {"abgr16161616f", Kind::half, 8, {0, 16}, {16, 16}, {32, 16}, {48, 16}},
    {"yuyv", Kind::yuv422, 2, {0, 8}, {8, 8}, {24, 8}, {}},
    {"uyvy", Kind::yuv422, 2, {8, 8}, {0, 8}, {16, 8}, {}},
    {"yvyu", Kind::yuv422, 2, {0, 8}, {24, 8}, {8, 8}, {}},
    {"vyuy", Kind::yuv422, 2, {8, 8}, {16, 8}, {0, 8}, {}},
    {"xyuv8888", Kind::yuv444, 4, {16, 8}, {8, 8}, {0, 8}, {}},
}};

constexpr std::array<PixelFormat, kPixelFormats> kFormats = [] {
  std::array<PixelFormat, kPixelFormats> all{};
  for (unsigned n = 0; n < kPixelFormats; ++n) {
    all[n] = static_cast<PixelFormat>(n);
  }
  return all;
}();

const Layout& layout(PixelFormat format) {
  return kLayouts[static_cast<size_t>(format)];
}

constexpr uint8_t to_eight(uint64_t value, unsigned bits) {
  if (bits >= 8) {
    return static_cast<uint8_t>(value >> (bits - 8));
  }
  uint64_t wide = 0;
  unsigned have = 0;
  for (; have < 8; have += bits) {
    wide = wide << bits | value;
  }
  return static_cast<uint8_t>(wide >> (have - 8));
}

constexpr uint64_t field(uint64_t pixel, Channel channel) {
  return (pixel >> channel.shift) & ((uint64_t{1} << channel.bits) - 1);
}

constexpr uint8_t channel_value(uint64_t pixel, Channel channel, uint8_t absent) {
  return channel.bits == 0 ? absent : to_eight(field(pixel, channel), channel.bits);
}

// Converts a half float, which is clamped to [0, 1]; NaN becomes zero.
uint8_t half_value(uint64_t pixel, Channel channel, uint8_t absent) {
  if (channel.bits == 0) {
    return absent;
  }
  const auto half = static_cast<uint32_t>(field(pixel, channel));
  const uint32_t exponent = half >> 10 & 31;
  const uint32_t mantissa = half & 1023;
  if ((half & 0x8000) != 0 || (exponent == 31 && mantissa != 0)) {
    return 0;
  }
  if (exponent >= 15) {
    return 255;
  }
  // The value is exactly significand / 2^(25 - max(exponent, 1)).
  const uint32_t significand = exponent == 0 ? mantissa : mantissa | 1024;
  const unsigned shift = 25 - std::max(exponent, 1u);
  return static_cast<uint8_t>((uint64_t{significand} * 255 + (uint64_t{1} << (shift - 1))) >> shift);
}

uint8_t clamp(int32_t value) {
  return static_cast<uint8_t>(std::clamp(value, 0, 255));
}

// Coefficients of limited-range video, times 65536.
struct Coefficients {
  int32_t y, v_red, u_green, v_green, u_blue;
};
constexpr Coefficients kBt601 = {76309, 104597, -25675, -53279, 132201};
constexpr Coefficients kBt709 = {76309, 117489, -13975, -34925, 138438};

Rgba from_yuv(YuvMatrix matrix, uint64_t y, uint64_t u, uint64_t v) {
  const Coefficients& by = matrix == YuvMatrix::bt709 ? kBt709 : kBt601;
  constexpr int32_t kHalf = 1 << 15;
  const int32_t luma = (static_cast<int32_t>(y) - 16) * by.y + kHalf;
  const int32_t cb = static_cast<int32_t>(u) - 128;
  const int32_t cr = static_cast<int32_t>(v) - 128;
  return {clamp((luma + cr * by.v_red) >> 16), clamp((luma + cb * by.u_green + cr * by.v_green) >> 16),
          clamp((luma + cb * by.u_blue) >> 16), 255};
}

template <class Word>
Word load(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

template <class Word>
void convert_packed(const Layout& of, const std::byte* from, std::span<Rgba> to) {
  for (Rgba& pixel : to) {
    const uint64_t word = load<Word>(from);
    from += sizeof(Word);
    pixel = {channel_value(word, of.red, 0), channel_value(word, of.green, 0), channel_value(word, of.blue, 0),
             channel_value(word, of.alpha, 255)};
  }
}

void convert_half(const Layout& of, const std::byte* from, std::span<Rgba> to) {
  for (Rgba& pixel : to) {
    const auto word = load<uint64_t>(from);
    from += sizeof word;
    pixel = {half_value(word, of.red, 0), half_value(word, of.green, 0), half_value(word, of.blue, 0),
             half_value(word, of.alpha, 255)};
  }
}

void convert_pairs(const Layout& of, YuvMatrix matrix, std::span<const std::byte> from, std::span<Rgba> to) {
  for (size_t x = 0; x < to.size(); x += 2) {
    uint32_t word = 0;
    std::memcpy(&word, from.data() + x * 2, std::min<size_t>(4, from.size() - x * 2));
    const uint64_t u = field(word, of.green);
    const uint64_t v = field(word, of.blue);
    to[x] = from_yuv(matrix, field(word, of.red), u, v);
    if (x + 1 < to.size()) {
      to[x + 1] = from_yuv(matrix, field(word, {static_cast<uint8_t>(of.red.shift + 16), 8}), u, v);
    }
  }
}

}  // namespace

std::string_view name_of(PixelFormat format) {
  return layout(format).name;
}

std::optional<PixelFormat> find_format(std::string_view name) {
  const auto found = std::ranges::find(kLayouts, name, &Layout::name);
  return found == kLayouts.end() ? std::nullopt
                                 : std::optional(kFormats[static_cast<size_t>(found - kLayouts.begin())]);
}

std::span<const PixelFormat> pixel_formats() {
  return kFormats;
}

unsigned pixel_bytes(PixelFormat format) {
  return layout(format).bytes;
}

bool has_alpha(PixelFormat format) {
  return layout(format).alpha.bits != 0;
}

void convert_row(const Conversion& conversion, std::span<const std::byte> from, std::span<Rgba> to) {
  const Layout& of = layout(conversion.format);
  to = to.first(std::min(to.size(), from.size() / of.bytes));
  switch (of.kind) {
    case Kind::grey:
      for (size_t x = 0; x < to.size(); ++x) {
        const auto value = static_cast<uint8_t>(from[x]);
        to[x] = {value, value, value, 255};
      }
      break;
    case Kind::indexed:
      for (size_t x = 0; x < to.size(); ++x) {
        const auto index = static_cast<size_t>(from[x]);
        to[x] = index < conversion.palette.size() ? conversion.palette[index] : Rgba{};
      }
      break;
    case Kind::packed:
      if (of.bytes == 2) {
        convert_packed<uint16_t>(of, from.data(), to);
      } else {
        convert_packed<uint32_t>(of, from.data(), to);
      }
      break;
    case Kind::half:
      convert_half(of, from.data(), to);
      break;
    case Kind::yuv422:
      convert_pairs(of, conversion.matrix, from, to);
      break;
    case Kind::yuv444:
      for (size_t x = 0; x < to.size(); ++x) {
        const auto word = load<uint32_t>(from.data() + x * 4);
        to[x] = from_yuv(conversion.matrix, field(word, of.red), field(word, of.green), field(word, of.blue));
      }
      break;
  }
}

}  // namespace halogen::picture
