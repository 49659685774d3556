// Every pixel format of every kind of plane, linear and tiled, with random pixels. Expected colours are computed here
// from the channel order in the name of the format.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "unit/display/screen_bench.h"

namespace halogen::display::scanout_test {
namespace {

struct Channel {
  unsigned shift;
  unsigned bits;  // 16: a half float
};
struct Layout {
  unsigned bytes;
  Channel red, green, blue;
};
constexpr Layout k1555{2, {10, 5}, {5, 5}, {0, 5}};
constexpr Layout k565{2, {11, 5}, {5, 6}, {0, 5}};
constexpr Layout k8888{4, {16, 8}, {8, 8}, {0, 8}};
constexpr Layout k8888Turned{4, {0, 8}, {8, 8}, {16, 8}};
constexpr Layout k2101010{4, {20, 10}, {10, 10}, {0, 10}};
constexpr Layout k2101010Turned{4, {0, 10}, {10, 10}, {20, 10}};
constexpr Layout kHalf{8, {32, 16}, {16, 16}, {0, 16}};
constexpr Layout kHalfTurned{8, {0, 16}, {16, 16}, {32, 16}};

struct Format {
  uint32_t control;
  Layout layout;
};
const std::vector<Format> kDisplay = {
    {3u << 26, k1555},     {4u << 26, k1555},          {5u << 26, k565},           {6u << 26, k8888},
    {7u << 26, k8888},     {8u << 26, k2101010Turned}, {9u << 26, k2101010Turned}, {10u << 26, k2101010},
    {11u << 26, k2101010}, {12u << 26, kHalfTurned},   {14u << 26, k8888Turned},   {15u << 26, k8888Turned},
};
// Sprites of Cherryview have some of the same codes.
const std::vector<Format> kPairedSprite = {
    {5u << 26, k565},           {6u << 26, k8888},          {7u << 26, k8888},
    {8u << 26, k2101010Turned}, {9u << 26, k2101010Turned}, {10u << 26, k2101010},
    {11u << 26, k2101010},      {14u << 26, k8888Turned},   {15u << 26, k8888Turned},
};
const std::vector<Format> kSprite = {
    {1u << 25, k2101010}, {1u << 25 | 1u << 20, k2101010Turned}, {2u << 25, k8888}, {2u << 25 | 1u << 20, k8888Turned},
    {3u << 25, kHalf},    {3u << 25 | 1u << 20, kHalfTurned},
};
const std::vector<Format> kUniversal = {
    {2u << 24, k2101010}, {2u << 24 | 1u << 20, k2101010Turned}, {4u << 24, k8888}, {4u << 24 | 1u << 20, k8888Turned},
    {6u << 24, kHalf},    {6u << 24 | 1u << 20, kHalfTurned},    {14u << 24, k565},
};

enum class Walk : uint8_t { linear, x, y };
struct Kind {
  const char* device;
  unsigned place;  // index of the plane on pipe A
  const std::vector<Format>* formats;
  std::vector<Walk> walks;
};
const std::vector<Walk> kOld = {Walk::linear, Walk::x};
const std::vector<Walk> kNew = {Walk::linear, Walk::x, Walk::y};
const Kind kKinds[] = {
    {"i965", 0, &kDisplay, kOld},     {"gm965", 0, &kDisplay, kOld}, {"g45", 0, &kDisplay, kOld},
    {"gm45", 0, &kDisplay, kOld},     {"snb", 0, &kDisplay, kOld},   {"bdw", 0, &kDisplay, kOld},
    {"chv", 0, &kDisplay, kOld},      {"g45", 1, &kSprite, kOld},    {"gm45", 1, &kSprite, kOld},
    {"snb", 1, &kSprite, kOld},       {"bdw", 1, &kSprite, kOld},    {"chv", 1, &kPairedSprite, kOld},
    {"chv", 2, &kPairedSprite, kOld}, {"skl", 0, &kUniversal, kNew}, {"icl", 1, &kUniversal, kNew},
    {"tgl", 2, &kUniversal, kNew},    {"dg1", 0, &kUniversal, kNew},
};

double channel_value(uint64_t pixel, Channel channel) {
  const uint64_t code = pixel >> channel.shift & ((uint64_t{1} << channel.bits) - 1);
  if (channel.bits != 16) {
    return static_cast<double>(code) / static_cast<double>((uint64_t{1} << channel.bits) - 1);
  }
  const auto mantissa = static_cast<double>(code & 0x3ff);
  const int exponent = static_cast<int>(code >> 10);
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

constexpr uint32_t kPitch = 1024;

uint64_t place_of(Walk walk, uint32_t x_B, uint32_t y) {
  switch (walk) {
    case Walk::linear:
      return uint64_t{y} * kPitch + x_B;
    case Walk::x:
      return device::x_tiled(x_B, y, kPitch);
    case Walk::y:
      return device::y_tiled(x_B, y, kPitch);
  }
  return 0;
}

void expect_format(const Kind& kind, const Format& format, Walk walk, uint32_t seed) {
  std::mt19937 random(seed);
  Screen screen(kind.device);
  screen.back(kSurface, uint64_t{kPitch} * 64);
  std::vector<uint64_t> pixels;
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      uint64_t pixel = uint64_t{random()} << 32 | random();
      if (format.layout.bytes == 8) {
        pixel = 0;
        for (unsigned part = 0; part < 4; ++part) {
          pixel |= uint64_t{random() % 0x3c01} << 16 * part;  // zero to one
        }
      }
      pixels.push_back(pixel);
      for (unsigned byte = 0; byte < format.layout.bytes; ++byte) {
        screen.put<uint8_t>(kSurface + place_of(walk, x * format.layout.bytes + byte, y),
                            static_cast<uint8_t>(pixel >> 8 * byte));
      }
    }
  }
  screen.start();
  const display::PlaneModel* plane = screen.device->display().find_plane(0, kind.place);
  ASSERT_NE(plane, nullptr);
  const bool universal = plane->kind == display::PlaneKind::universal;
  const uint32_t tiling = universal ? (walk == Walk::x   ? 1u << 10
                                       : walk == Walk::y ? 4u << 10
                                                         : 0)
                                    : (walk == Walk::x ? 1u << 10 : 0);
  const uint32_t unit = !universal ? 1 : walk == Walk::linear ? 64 : walk == Walk::x ? 512 : 128;
  mmio::RegisterBank& bank = screen.device->mmio().bank();
  bank.write(*plane->slots.stride, kPitch / unit);
  if (plane->slots.size != nullptr) bank.write(*plane->slots.size, pair(kHeight - 1, kWidth - 1));
  bank.write(*plane->slots.control, kEnable | format.control | tiling);
  bank.write(*plane->slots.surface, kSurface);
  screen.frame();
  screen.host.log.clear();
  const Image image = screen.shown();
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      const uint64_t pixel = pixels[y * kWidth + x];
      const Rgba shown = image.at(x, y);
      ASSERT_NEAR(shown.red, 255 * channel_value(pixel, format.layout.red), 1) << x << " " << y;
      ASSERT_NEAR(shown.green, 255 * channel_value(pixel, format.layout.green), 1) << x << " " << y;
      ASSERT_NEAR(shown.blue, 255 * channel_value(pixel, format.layout.blue), 1) << x << " " << y;
    }
  }
  EXPECT_EQ(screen.events(), 0u);
}

TEST(PlanePixels, EveryFormatAndTilingIsShownAsNamed) {
  uint32_t seed = 1;
  for (const Kind& kind : kKinds) {
    for (const Format& format : *kind.formats) {
      for (const Walk walk : kind.walks) {
        SCOPED_TRACE(testing::Message() << kind.device << " place " << kind.place << " control " << std::hex
                                        << format.control << " walk " << static_cast<int>(walk));
        expect_format(kind, format, walk, seed++);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Codes that are valid for one kind of plane only.
TEST(PlanePixels, CodesOfAnotherKindAreNotShown) {
  struct Row {
    const char* device;
    unsigned place;
    uint32_t control;
  };
  constexpr Row kRows[] = {
      {"chv", 0, 0},                                 // video: sprites only
      {"chv", 1, 3u << 26},                          // five bits per channel: display planes only
      {"chv", 1, 4u << 26},  {"chv", 1, 12u << 26},  // half floats: display planes only
      {"chv", 1, 13u << 26},                         // valid for no plane
      {"bdw", 1, 5u << 25},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(testing::Message() << row.device << row.place << std::hex << row.control);
    Screen screen(row.device);
    screen.back(kSurface, uint64_t{kPitch} * 64);
    screen.put<uint64_t>(kSurface, ~uint64_t{0});
    screen.start();
    const display::PlaneModel* plane = screen.device->display().find_plane(0, row.place);
    mmio::RegisterBank& bank = screen.device->mmio().bank();
    bank.write(*plane->slots.stride, kPitch);
    if (plane->slots.size != nullptr) bank.write(*plane->slots.size, pair(kHeight - 1, kWidth - 1));
    bank.write(*plane->slots.control, kEnable | row.control);
    bank.write(*plane->slots.surface, kSurface);
    screen.frame();
    screen.host.log.clear();
    EXPECT_EQ(screen.shown(), Image(kWidth, kHeight, {0, 0, 0, 255}));
    EXPECT_EQ(screen.events(EventKind::unsupported), 1u);
  }
}

}  // namespace
}  // namespace halogen::display::scanout_test
