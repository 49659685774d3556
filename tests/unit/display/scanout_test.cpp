// Frames of the primary planes: formats, tilings, offsets, rotation, and when a change becomes visible.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/screen_bench.h"

namespace halogen::display::scanout_test {
namespace {

class EveryScreen : public testing::TestWithParam<const spec::DeviceModel*> {};
INSTANTIATE_TEST_SUITE_P(All, EveryScreen, testing::ValuesIn(device::every_model()), device::model_name);

constexpr uint32_t kPitch = 1024;

void fill_linear(Screen& screen, uint32_t base, uint32_t salt = 0) {
  screen.back(base, kPitch * kHeight);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      screen.put<uint32_t>(base + y * kPitch + x * 4, 0xff00'0000 | (mixed(x, y) ^ salt));
    }
  }
}

void expect_picture(const Image& image, uint32_t salt = 0) {
  ASSERT_EQ(image.width, kWidth);
  ASSERT_EQ(image.height, kHeight);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      ASSERT_EQ(image.at(x, y), rgb(mixed(x, y) ^ salt)) << x << " " << y;
    }
  }
}

void fill_plain(Screen& screen, uint32_t base, uint32_t color) {
  screen.back(base, kPitch * kHeight);
  for (uint32_t at = 0; at < kPitch * kHeight; at += 4) {
    screen.put<uint32_t>(base + at, color);
  }
}

// Shows a surface on the pipe's primary plane. `more`: control register bits besides enable and format.
void show(Screen& screen, unsigned pipe, uint32_t surface, uint32_t more = 0) {
  const Primary plane(screen, pipe);
  const display::PlaneSlots& slots = screen.device->display().find_plane(pipe, 0)->slots;
  mmio::RegisterBank& bank = screen.device->mmio().bank();
  bank.write(*slots.stride, plane.stride(kPitch));
  if (plane.universal) {
    bank.write(*slots.size, pair(kHeight - 1, kWidth - 1));
  }
  const uint32_t select = screen.is_gen4() ? pipe << 24 : 0;
  bank.write(*slots.control, kEnable | plane.format() | select | more);
  bank.write(*slots.surface, surface);
}

TEST_P(EveryScreen, EveryPipeShowsItsPrimaryPlane) {
  Screen screen(*GetParam());
  for (unsigned pipe = 0; pipe < screen.device->display().pipes(); ++pipe) {
    const uint32_t surface = kSurface + pipe * 0x10'0000;
    fill_linear(screen, surface, pipe * 0x333);
    screen.start(pipe);
    show(screen, pipe, surface);
  }
  screen.frame();
  for (unsigned pipe = 0; pipe < screen.device->display().pipes(); ++pipe) {
    expect_picture(screen.shown(pipe), pipe * 0x333);
  }
  EXPECT_EQ(screen.events(), 0u);
}

TEST_P(EveryScreen, DisabledPipeShowsNothing) {
  Screen screen(*GetParam());
  fill_linear(screen, kSurface);
  show(screen, 0, kSurface);
  EXPECT_FALSE(screen.device->take_frame(0).has_value());
  EXPECT_FALSE(screen.device->take_frame(99).has_value());
  screen.start(0);
  expect_picture(screen.shown());
  screen.set_pipe("PIPECONF", 0, 0);
  EXPECT_FALSE(screen.device->take_frame(0).has_value());
}

TEST_P(EveryScreen, DisabledPlaneLeavesThePipeBlack) {
  Screen screen(*GetParam());
  screen.start();
  EXPECT_EQ(screen.shown(), Image(kWidth, kHeight, {0, 0, 0, 255}));
}

TEST_P(EveryScreen, ChangesTakeEffectAtTheVerticalBlankAfterTheSurfaceWrite) {
  Screen screen(*GetParam());
  fill_linear(screen, kSurface);
  fill_linear(screen, kSurface + 0x10'0000, 0x777);
  screen.start();
  show(screen, 0, kSurface);
  screen.frame();
  expect_picture(screen.shown());
  // All registers but the surface: no change, however many frames pass.
  const display::PlaneSlots& slots = screen.device->display().find_plane(0, 0)->slots;
  mmio::RegisterBank& bank = screen.device->mmio().bank();
  const Primary plane(screen, 0);
  bank.write(*slots.stride, plane.stride(kPitch * 2));
  bank.write(*slots.control, 0);
  screen.frame();
  screen.frame();
  expect_picture(screen.shown());
  // The surface write arms; the vertical blank applies.
  bank.write(*slots.control, kEnable | plane.format());
  bank.write(*slots.stride, plane.stride(kPitch));
  bank.write(*slots.surface, kSurface + 0x10'0000);
  expect_picture(screen.shown());
  screen.frame();
  expect_picture(screen.shown(), 0x777);
  bank.write(*slots.control, 0);
  bank.write(*slots.surface, 0);
  screen.frame();
  EXPECT_EQ(screen.shown(), Image(kWidth, kHeight, {0, 0, 0, 255}));
}

TEST_P(EveryScreen, ImageSizeTakesEffectAtTheVerticalBlank) {
  Screen screen(*GetParam());
  screen.start();
  screen.set_pipe("PIPESRC", 0, pair(19, 9));
  EXPECT_EQ(screen.shown().width, kWidth);
  screen.frame();
  EXPECT_EQ(screen.shown().width, 20u);
  EXPECT_EQ(screen.shown().height, 10u);
}

TEST_P(EveryScreen, XTiledSurfacesBeginAtTheirTileOffset) {
  Screen screen(*GetParam());
  constexpr uint32_t kStartX = 133;
  constexpr uint32_t kStartY = 11;
  screen.back(kSurface, kPitch * 64);
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < kPitch / 4; ++x) {
      screen.put<uint32_t>(kSurface + device::x_tiled(x * 4, y, kPitch), mixed(x - kStartX, y - kStartY));
    }
  }
  screen.start();
  const Primary plane(screen, 0);
  const display::PlaneSlots& slots = screen.device->display().find_plane(0, 0)->slots;
  mmio::RegisterBank& bank = screen.device->mmio().bank();
  bank.write(*slots.tile_offset, pair(kStartY, kStartX));
  if (slots.linear_offset != nullptr) {
    bank.write(*slots.linear_offset, 0x4444);  // ignored here
  }
  if (plane.universal) {
    bank.write(*slots.size, pair(kHeight - 1, kWidth - 1));
  }
  bank.write(*slots.stride, plane.stride(kPitch, 512));
  bank.write(*slots.control, kEnable | plane.format() | 1u << 10);
  bank.write(*slots.surface, kSurface);
  screen.frame();
  expect_picture(screen.shown());
}

TEST_P(EveryScreen, LinearSurfacesBeginAtTheirOffset) {
  Screen screen(*GetParam());
  constexpr uint32_t kStartX = 7;
  constexpr uint32_t kStartY = 5;
  constexpr uint32_t kStart = kStartY * kPitch + kStartX * 4;
  screen.back(kSurface, kPitch * 64);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      screen.put<uint32_t>(kSurface + kStart + y * kPitch + x * 4, mixed(x, y));
    }
  }
  screen.start();
  const display::PlaneSlots& slots = screen.device->display().find_plane(0, 0)->slots;
  mmio::RegisterBank& bank = screen.device->mmio().bank();
  if (slots.linear_offset != nullptr) {
    bank.write(*slots.linear_offset, kStart);
    bank.write(*slots.tile_offset, pair(3, 3));  // ignored here
  } else {
    bank.write(*slots.tile_offset, pair(kStartY, kStartX));
  }
  show(screen, 0, kSurface);
  screen.frame();
  expect_picture(screen.shown());
}

// Older planes read backwards from the offset, which software sets to the last pixel; Haswell and later compute it
// (i915).
TEST_P(EveryScreen, RotationBy180DegreesStartsAtTheFarCorner) {
  for (const bool tiled : {false, true}) {
    Screen screen(*GetParam());
    screen.back(kSurface, kPitch * 64);
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        const uint64_t at = tiled ? device::x_tiled(x * 4, y, kPitch) : y * kPitch + x * 4;
        screen.put<uint32_t>(kSurface + at, mixed(kWidth - 1 - x, kHeight - 1 - y));
      }
    }
    screen.start();
    const Primary plane(screen, 0);
    const display::PlaneSlots& slots = screen.device->display().find_plane(0, 0)->slots;
    mmio::RegisterBank& bank = screen.device->mmio().bank();
    if (slots.linear_offset != nullptr) {
      bank.write(*slots.linear_offset, (kHeight - 1) * kPitch + (kWidth - 1) * 4);
      bank.write(*slots.tile_offset, pair(kHeight - 1, kWidth - 1));
    }
    if (plane.universal) {
      bank.write(*slots.size, pair(kHeight - 1, kWidth - 1));
    }
    bank.write(*slots.stride, plane.stride(kPitch, tiled ? 512 : 64));
    const uint32_t rotate = plane.universal ? 2 : 1u << 15;
    bank.write(*slots.control, kEnable | plane.format() | rotate | (tiled ? 1u << 10 : 0));
    bank.write(*slots.surface, kSurface);
    screen.frame();
    expect_picture(screen.shown());
  }
}

TEST_P(EveryScreen, UnmappedPagesAreBlackAndReportedOnce) {
  Screen screen(*GetParam());
  fill_linear(screen, kSurface);
  for (const uint32_t page : {3u, 4u}) {  // lines 12 to 19
    screen.set_entry(kSurface / 4096 + page, 0);
  }
  screen.start();
  show(screen, 0, kSurface);
  screen.frame();
  screen.host.log.clear();
  const Image image = screen.shown();
  for (uint32_t y = 0; y < kHeight; ++y) {
    EXPECT_EQ(image.at(5, y), y >= 12 && y < 20 ? (Rgba{0, 0, 0, 255}) : rgb(mixed(5, y))) << y;
  }
  EXPECT_LE(screen.events(), 2u);
  if (screen.is_gen4()) {
    EXPECT_EQ(screen.events(EventKind::fault), 2u);
    EXPECT_EQ(screen.read(0x2024), 1u << 4);  // PGTBL_ER: an entry for display A
  }
}

TEST_P(EveryScreen, ChangedEntriesAreShownAfterTheVerticalBlank) {
  COVERS("G45-5.3.10-05");  // on the first chips
  constexpr uint64_t kElsewhere = kBacking + 0x100'0000;
  constexpr uint32_t kPage = 3;  // lines 12 to 15
  Screen screen(*GetParam());
  if (!screen.has_aperture()) {
    GTEST_SKIP() << "planes are in local memory";
  }
  fill_linear(screen, kSurface);
  screen.start();
  show(screen, 0, kSurface);
  screen.frame();
  EXPECT_EQ(screen.shown().at(5, 13), rgb(mixed(5, 13)));
  for (uint32_t at = 0; at < 4096; at += 4) {
    screen.host.put<uint32_t>(kElsewhere + at, 0x0012'3456);
  }
  screen.map(kSurface / 4096 + kPage, kElsewhere);
  screen.frame();
  const Image image = screen.shown();
  for (uint32_t y = 0; y < kHeight; ++y) {
    EXPECT_EQ(image.at(5, y), rgb(y / 4 == kPage ? 0x0012'3456 : mixed(5, y))) << y;
  }
}

TEST_P(EveryScreen, SnapshotShowsTheSameFrame) {
  Screen screen(*GetParam());
  fill_linear(screen, kSurface);
  fill_linear(screen, kSurface + 0x10'0000, 0x999);
  screen.start();
  show(screen, 0, kSurface);
  screen.frame();
  const device::DeviceState kept = screen.device->snapshot();
  show(screen, 0, kSurface + 0x10'0000);
  screen.frame();
  expect_picture(screen.shown(), 0x999);
  screen.device->restore(kept);
  expect_picture(screen.shown());
  EXPECT_EQ(screen.device->snapshot(), kept);
}

class Counting final : public display::LineProvider {
 public:
  bool provide(const display::PlaneLines& plane, uint32_t line, std::span<std::byte> out) override {
    EXPECT_EQ(out.size(), kWidth * 4);
    EXPECT_EQ(plane.base, kSurface);
    EXPECT_EQ(plane.stride_B, kPitch);
    EXPECT_TRUE(plane.enabled);
    EXPECT_EQ(plane.pixel_B, 4u);
    ++asked;
    if (line % 2 == 0) return false;
    std::ranges::fill(out, std::byte{0x40});
    return true;
  }
  unsigned asked = 0;
};

TEST(Scanout, LineProviderMayReplaceALine) {
  Screen screen("gm965");
  fill_linear(screen, kSurface);
  screen.start();
  show(screen, 0, kSurface);
  screen.frame();
  Counting provider;
  screen.device->display().set_line_provider(&provider);
  const Image image = screen.shown();
  EXPECT_EQ(provider.asked, kHeight);
  for (uint32_t y = 0; y < kHeight; ++y) {
    EXPECT_EQ(image.at(9, y), y % 2 == 0 ? rgb(mixed(9, y)) : (Rgba{0x40, 0x40, 0x40, 255})) << y;
  }
  screen.device->display().set_line_provider(nullptr);
  expect_picture(screen.shown());
}

// DSPCNTR format code, bytes per pixel, a pixel value, its expected colour.
struct FormatRow {
  uint32_t code;
  unsigned bytes;
  uint64_t pixel;
  Rgba color;
};
constexpr FormatRow kGen4Formats[] = {
    {2, 1, 0x41, {0x01, 0x02, 0x03, 255}},  // entry 0x41 of the palette below
    {4, 2, 0x7c00, {255, 0, 0, 255}},
    {4, 2, 0x801f, {0, 0, 255, 255}},
    {5, 2, 0x07e0, {0, 255, 0, 255}},
    {6, 4, 0x99123456, {0x12, 0x34, 0x56, 255}},
    {8, 4, 0x000003ff, {255, 0, 0, 255}},
    {10, 4, 0x000003ff, {0, 0, 255, 255}},
    {10, 4, 0x20000000, {0x80, 0, 0, 255}},
    {12, 8, 0x0000'0000'0000'3c00, {255, 0, 0, 255}},
    {14, 4, 0x99123456, {0x56, 0x34, 0x12, 255}},
};

TEST(Scanout, DisplayPlanesShowTheirFormats) {
  for (const char* device : {"i965", "gm965", "g45", "gm45", "snb", "bdw", "chv"}) {
    for (const FormatRow& row : kGen4Formats) {
      Screen screen(device);
      screen.back(kSurface, kPitch * kHeight);
      for (uint32_t y = 0; y < kHeight; ++y) {
        for (uint32_t x = 0; x < kWidth; ++x) {
          for (unsigned byte = 0; byte < row.bytes; ++byte) {
            screen.put<uint8_t>(kSurface + y * kPitch + x * row.bytes + byte,
                                static_cast<uint8_t>(row.pixel >> 8 * byte));
          }
        }
      }
      screen.set(screen.find("PALETTE_A") != nullptr ? "PALETTE_A" : "LGC_PALETTE_A", 0x41, 0x010203);
      screen.start();
      screen.set("DSPSTRIDE", kPitch);
      screen.set("DSPCNTR", kEnable | row.code << 26);
      screen.set("DSPSURF", kSurface);
      screen.frame();
      EXPECT_EQ(screen.shown(), Image(kWidth, kHeight, row.color)) << device << " " << row.code;
    }
  }
}

constexpr FormatRow kGen9Formats[] = {
    {0u << 24, 2, 0x80ff, {255, 255, 255, 255}},  // YUYV, white beyond the nominal range
    {2u << 24, 4, 0x000003ff, {0, 0, 255, 255}},
    {2u << 24 | 1u << 20, 4, 0x000003ff, {255, 0, 0, 255}},
    {4u << 24, 4, 0x99123456, {0x12, 0x34, 0x56, 255}},
    {4u << 24 | 1u << 20, 4, 0x99123456, {0x56, 0x34, 0x12, 255}},
    {6u << 24, 8, 0x0000'0000'0000'3c00, {0, 0, 255, 255}},
    {6u << 24 | 1u << 20, 8, 0x0000'0000'0000'3c00, {255, 0, 0, 255}},
    {12u << 24, 1, 0x41, {0x01, 0x02, 0x03, 255}},
    {14u << 24, 2, 0x07e0, {0, 255, 0, 255}},
};

TEST(Scanout, UniversalPlanesShowTheirFormats) {
  for (const char* device : {"skl", "icl", "tgl", "dg1"}) {
    for (const FormatRow& row : kGen9Formats) {
      Screen screen(device);
      screen.back(kSurface, kPitch * kHeight);
      for (uint32_t at = 0; at < kPitch * kHeight; ++at) {
        screen.put<uint8_t>(kSurface + at, static_cast<uint8_t>(row.pixel >> 8 * (at % row.bytes)));
      }
      screen.set("LGC_PALETTE_A", 0x41, 0x010203);
      screen.start();
      screen.set("PLANE_STRIDE_1", kPitch / 64);
      screen.set("PLANE_SIZE_1", pair(kHeight - 1, kWidth - 1));
      screen.set("PLANE_CTL_1", kEnable | row.code);
      screen.set("PLANE_SURF_1", kSurface);
      screen.frame();
      EXPECT_EQ(screen.shown(), Image(kWidth, kHeight, row.color)) << device << " " << std::hex << row.code;
    }
  }
}

TEST(Scanout, UnsupportedFormatsAreReportedAndNotShown) {
  for (const auto& [device, code] : {std::pair("i965", 0u), {"i965", 1u << 26}, {"skl", 1u << 24}, {"icl", 1u << 23}}) {
    Screen screen(device);
    fill_linear(screen, kSurface);
    screen.start();
    const display::PlaneSlots& slots = screen.device->display().find_plane(0, 0)->slots;
    screen.device->mmio().bank().write(*slots.control, kEnable | code);
    screen.device->mmio().bank().write(*slots.surface, kSurface);
    screen.frame();
    screen.host.log.clear();
    EXPECT_EQ(screen.shown(), Image(kWidth, kHeight, {0, 0, 0, 255}));
    EXPECT_EQ(screen.events(EventKind::unsupported), 1u) << device;
  }
}

TEST(Scanout, YTilesOfUniversalPlanesAreShown) {
  for (const char* device : {"skl", "icl", "tgl", "dg1"}) {
    Screen screen(device);
    screen.back(kSurface, kPitch * 64);
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        screen.put<uint32_t>(kSurface + device::y_tiled(x * 4, y, kPitch), mixed(x, y));
      }
    }
    screen.start();
    screen.set("PLANE_STRIDE_1", kPitch / 128);
    screen.set("PLANE_SIZE_1", pair(kHeight - 1, kWidth - 1));
    screen.set("PLANE_CTL_1", kEnable | 4u << 24 | 4u << 10);
    screen.set("PLANE_SURF_1", kSurface);
    screen.frame();
    expect_picture(screen.shown());
  }
}

TEST(Scanout, Gen4OffsetsNeedNoFlip) {
  for (const char* device : {"i965", "gm965", "g45", "gm45"}) {
    Screen screen(device);
    fill_linear(screen, kSurface);
    screen.start();
    show(screen, 0, kSurface);
    screen.set("DSPLINOFF", kPitch);
    screen.frame();
    screen.set("DSPLINOFF", 2 * kPitch);
    EXPECT_EQ(screen.shown().at(0, 0), rgb(mixed(0, 1)));
    screen.frame();
    EXPECT_EQ(screen.shown().at(0, 0), rgb(mixed(0, 2))) << device;
  }
}

TEST(Scanout, GammaUsesThePalette) {
  for (const char* device : {"i965", "g45", "snb", "bdw", "chv", "skl", "icl", "tgl"}) {
    Screen screen(device);
    fill_plain(screen, kSurface, 0x00102030);
    const std::string_view palette = screen.find("PALETTE_A") != nullptr ? "PALETTE_A" : "LGC_PALETTE_A";
    screen.set(palette, 0x10, 0xa1b1c1);
    screen.set(palette, 0x20, 0xa2b2c2);
    screen.set(palette, 0x30, 0xa3b3c3);
    screen.start();
    show(screen, 0, kSurface);
    screen.frame();
    EXPECT_EQ(screen.shown().at(0, 0), rgb(0x102030)) << device;
    if (device == std::string_view("icl") || device == std::string_view("tgl")) {
      screen.set("GAMMA_MODE", 1u << 30);
    } else {
      show(screen, 0, kSurface, 1u << 30);
      screen.frame();
    }
    EXPECT_EQ(screen.shown().at(0, 0), rgb(0xa1b2c3)) << device;
    if (screen.find("GAMMA_MODE") != nullptr) {  // another table: not implemented, colours are unchanged
      screen.set("GAMMA_MODE", 1u << 30 | 1);
      EXPECT_EQ(screen.shown().at(0, 0), rgb(0x102030)) << device;
    }
  }
}

TEST(Scanout, BorderCanBeForced) {
  for (const char* device : {"i965", "gm965", "g45", "gm45"}) {
    Screen screen(device);
    fill_linear(screen, kSurface);
    screen.start();
    show(screen, 0, kSurface);
    screen.set("BCLRPAT", 0x00aabbcc);
    screen.frame();
    expect_picture(screen.shown());
    screen.set("PIPECONF", kEnable | 1u << 25);
    EXPECT_EQ(screen.shown(), Image(kWidth, kHeight, {0xaa, 0xbb, 0xcc, 255}));
  }
}

TEST(Scanout, BackgroundColourIsBelowUniversalPlanes) {
  Screen screen("skl");
  screen.start();
  screen.set("PIPE_BOTTOM_COLOR", 0x3ffu << 20 | 0x200u << 10 | 0x004);
  EXPECT_EQ(screen.shown(), Image(kWidth, kHeight, {255, 0x80, 1, 255}));
}

}  // namespace
}  // namespace halogen::display::scanout_test
