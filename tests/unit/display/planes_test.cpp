// Several planes: windows of plane C, sprites and universal planes, their order, alpha and mirroring.
#include <gtest/gtest.h>

#include <random>

#include "unit/display/screen_bench.h"

namespace halogen::display::scanout_test {
namespace {

constexpr uint32_t kPitch = 512;
constexpr uint32_t kBelow = 0x0000'4080;
constexpr uint32_t kX = 10;
constexpr uint32_t kY = 6;
constexpr uint32_t kW = 20;
constexpr uint32_t kH = 12;
constexpr uint32_t kTop = kSurface + 0x10'0000;

// A second plane with a window: the names of its registers, and the bits for XRGB8888.
struct Window {
  const char* device;
  const char* family;
  const char* suffix;
  unsigned index;
  uint32_t format;
};
constexpr Window kWindows[] = {
    {"i965", "DSP", "_C", 0, 6u << 26},   {"gm965", "DSP", "_C", 0, 6u << 26},  {"g45", "DVS", "", 0, 2u << 25},
    {"gm45", "DVS", "", 0, 2u << 25},     {"snb", "DVS", "", 0, 2u << 25},      {"bdw", "SPR", "", 0, 2u << 25},
    {"chv", "SP", "", 0, 6u << 26},       {"chv", "SP", "", 1, 6u << 26},       {"skl", "PLANE_", "_2", 0, 4u << 24},
    {"icl", "PLANE_", "_7", 0, 4u << 24}, {"tgl", "PLANE_", "_3", 0, 4u << 24}, {"dg1", "PLANE_", "_2", 0, 4u << 24},
};

struct WindowBench : Screen {
  explicit WindowBench(Window chosen) : Screen(chosen.device), window(chosen) {}

  bool universal() const { return std::string_view(window.family) == "PLANE_"; }
  std::string name(std::string_view what) const {
    std::string_view control = "CNTR";
    if (universal() || std::string_view(window.family) == "SPR") control = "CTL";
    return std::string(window.family).append(what == "CNTR" ? control : what).append(window.suffix);
  }
  void set_window(std::string_view what, uint32_t value) { set(name(what), window.index, value); }
  void paint(uint32_t base, auto color) {
    back(base, kPitch * kHeight);
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kPitch / 4; ++x) {
        put<uint32_t>(base + y * kPitch + x * 4, color(x, y));
      }
    }
  }
  void show_primary() {
    paint(kSurface, [](uint32_t, uint32_t) { return kBelow; });
    const display::PlaneSlots& slots = device->display().find_plane(0, 0)->slots;
    const Primary plane(*this, 0);
    mmio::RegisterBank& bank = device->mmio().bank();
    bank.write(*slots.stride, plane.stride(kPitch));
    if (plane.universal) bank.write(*slots.size, pair(kHeight - 1, kWidth - 1));
    bank.write(*slots.control, kEnable | plane.format());
    bank.write(*slots.surface, kSurface);
  }
  void show_window(uint32_t more = 0, uint32_t y = kY, uint32_t x = kX, uint32_t h = kH, uint32_t w = kW) {
    set_window("POS", pair(y, x));
    set_window("SIZE", pair(h - 1, w - 1));
    set_window("STRIDE", universal() ? kPitch / 64 : kPitch);
    set_window("CNTR", kEnable | window.format | more);
    set_window("SURF", kTop);
  }
  const Window window;
};

TEST(Windows, WindowIsAboveThePrimaryPlane) {
  for (const Window& window : kWindows) {
    WindowBench bench(window);
    bench.start();
    bench.show_primary();
    bench.paint(kTop, mixed);
    bench.show_window();
    bench.frame();
    const Image image = bench.shown();
    for (uint32_t y = 0; y < kHeight; ++y) {
      for (uint32_t x = 0; x < kWidth; ++x) {
        const bool inside = x >= kX && x < kX + kW && y >= kY && y < kY + kH;
        ASSERT_EQ(image.at(x, y), rgb(inside ? mixed(x - kX, y - kY) : kBelow))
            << window.device << " " << x << " " << y;
      }
    }
    EXPECT_EQ(bench.events(), 0u) << window.device;
  }
}

TEST(Windows, WindowIsClippedAtTheScreenEdges) {
  for (const Window& window : kWindows) {
    WindowBench bench(window);
    bench.start();
    bench.show_primary();
    bench.paint(kTop, mixed);
    bench.show_window(0, kHeight - 2, kWidth - 3, 60000, 60000);
    bench.frame();
    const Image image = bench.shown();
    EXPECT_EQ(image.at(kWidth - 4, kHeight - 1), rgb(kBelow));
    EXPECT_EQ(image.at(kWidth - 3, kHeight - 2), rgb(mixed(0, 0)));
    EXPECT_EQ(image.at(kWidth - 1, kHeight - 1), rgb(mixed(2, 1)));
    bench.show_window(0, 0xffff, 0xffff, 65536, 65536);
    bench.frame();
    EXPECT_EQ(bench.shown(), Image(kWidth, kHeight, rgb(kBelow)));
  }
}

TEST(Windows, WindowMovesAtTheVerticalBlankAfterASurfaceWrite) {
  for (const Window& window : kWindows) {
    WindowBench bench(window);
    bench.start();
    bench.paint(kTop, mixed);
    bench.show_window();
    bench.frame();
    bench.set_window("POS", pair(0, 0));
    bench.set_window("SIZE", pair(0, 0));
    bench.frame();
    EXPECT_EQ(bench.shown().at(kX + 1, kY + 1), rgb(mixed(1, 1))) << window.device;
    EXPECT_EQ(bench.shown().at(0, 0), rgb(0));
    bench.set_window("SURF", kTop);
    EXPECT_EQ(bench.shown().at(0, 0), rgb(0));
    bench.frame();
    EXPECT_EQ(bench.shown().at(0, 0), rgb(mixed(0, 0)));
    EXPECT_EQ(bench.shown().at(kX + 1, kY + 1), rgb(0));
  }
}

// From the 965 on the public driver does not program position and size of planes A and B, which fill their pipe.
TEST(Windows, DisplayPlanesAAndBFillTheirPipe) {
  for (const Window& window : std::span(kWindows).first(2)) {
    WindowBench bench(window);
    bench.set("DSPPOS", pair(5, 5));
    bench.set("DSPSIZE", pair(3, 3));
    bench.start();
    bench.show_primary();
    bench.frame();
    EXPECT_EQ(bench.shown(), Image(kWidth, kHeight, rgb(kBelow))) << window.device;
  }
}

TEST(Windows, Gen4PlanesSelectTheirPipe) {
  for (const char* device : {"i965", "gm965", "g45", "gm45"}) {
    WindowBench bench({device, "DSP", "", 1, 6u << 26});
    bench.start(0);
    bench.start(1);
    bench.paint(kTop, mixed);
    bench.set("DSPSTRIDE", 1, kPitch);
    bench.set("DSPCNTR", 1, kEnable | 6u << 26);  // plane B on pipe A
    bench.set("DSPSURF", 1, kTop);
    bench.frame();
    EXPECT_EQ(bench.shown(0).at(3, 3), rgb(mixed(3, 3))) << device;
    EXPECT_EQ(bench.shown(1).at(3, 3), rgb(0));
    bench.set("DSPCNTR", 1, kEnable | 6u << 26 | 1u << 24);
    bench.set("DSPSURF", 1, kTop);
    bench.frame();
    EXPECT_EQ(bench.shown(0).at(3, 3), rgb(0));
    EXPECT_EQ(bench.shown(1).at(3, 3), rgb(mixed(3, 3)));
  }
}

TEST(Windows, UniversalPlanesAreStackedByNumber) {
  WindowBench bench({"icl", "PLANE_", "_2", 0, 4u << 24});
  bench.start();
  bench.show_primary();
  for (const unsigned plane : {5u, 3u, 4u, 2u}) {  // the programming order has no influence
    const uint32_t base = kTop + plane * 0x10'0000;
    bench.paint(base, [plane](uint32_t, uint32_t) { return 0x111111u * plane; });
    const auto name = [plane](std::string_view what) { return fmt::format("PLANE_{}_{}", what, plane); };
    bench.set(name("STRIDE"), kPitch / 64);
    bench.set(name("POS"), pair(0, plane * 4));
    bench.set(name("SIZE"), pair(kHeight - 1, 7));
    bench.set(name("CTL"), kEnable | 4u << 24);
    bench.set(name("SURF"), base);
  }
  bench.frame();
  const Image image = bench.shown();
  for (uint32_t x = 0; x < kWidth; ++x) {  // each plane covers the second half of the plane below
    uint32_t expected = kBelow;
    for (uint32_t plane = 2; plane <= 5; ++plane) {
      if (x >= plane * 4 && x < plane * 4 + 8) expected = 0x111111u * plane;
    }
    EXPECT_EQ(image.at(x, 7), rgb(expected)) << x;
  }
}

TEST(Windows, AlphaBlendsWithThePlanesBelow) {
  struct Row {
    const char* device;
    bool straight;
    uint32_t control;
    uint32_t color_control;
  };
  constexpr Row kRows[] = {
      {"skl", false, 2u << 4, 0}, {"skl", true, 3u << 4, 0},  {"icl", false, 0, 2u << 4},
      {"icl", true, 0, 3u << 4},  {"dg1", false, 0, 2u << 4}, {"dg1", true, 0, 3u << 4},
  };
  for (const Row& row : kRows) {
    WindowBench bench({row.device, "PLANE_", "_2", 0, 4u << 24});
    bench.start();
    bench.show_primary();
    bench.paint(kTop, [](uint32_t x, uint32_t y) { return (x * 13 % 256) << 24 | (mixed(x, y) & 0x003f3f3f); });
    if (bench.find("PLANE_COLOR_CTL_2") != nullptr) bench.set("PLANE_COLOR_CTL_2", row.color_control);
    bench.show_window(row.control);
    bench.frame();
    const Image image = bench.shown();
    for (uint32_t x = 0; x < kW; ++x) {
      const double alpha = x * 13 % 256 / 255.0;
      const Rgba above = rgb(mixed(x, 3) & 0x003f3f3f);
      const auto expect = [&](uint8_t got, uint8_t over, uint8_t under) {
        const double exact = (row.straight ? over * alpha : over) + under * (1 - alpha);
        EXPECT_NEAR(got, std::min(exact, 255.0), 0.51) << row.device << " " << x;
      };
      expect(image.at(kX + x, kY + 3).red, above.red, rgb(kBelow).red);
      expect(image.at(kX + x, kY + 3).green, above.green, rgb(kBelow).green);
      expect(image.at(kX + x, kY + 3).blue, above.blue, rgb(kBelow).blue);
    }
    // Without a mode the alpha channel is ignored.
    if (bench.find("PLANE_COLOR_CTL_2") != nullptr) bench.set("PLANE_COLOR_CTL_2", 0);
    bench.show_window();
    bench.frame();
    EXPECT_EQ(bench.shown().at(kX + 5, kY + 3), rgb(mixed(5, 3) & 0x003f3f3f));
  }
}

TEST(Windows, WindowsCanBeMirrored) {
  for (const char* device : {"icl", "tgl", "dg1"}) {
    WindowBench bench({device, "PLANE_", "_2", 0, 4u << 24});
    bench.start();
    bench.paint(kTop, mixed);
    bench.show_window(1u << 8);
    bench.frame();
    EXPECT_EQ(bench.shown().at(kX + 2, kY + 1), rgb(mixed(kW - 3, 1)));
    bench.show_window(1u << 8 | 2);  // mirrored and rotated: upside down
    bench.frame();
    EXPECT_EQ(bench.shown().at(kX + 2, kY + 1), rgb(mixed(2, kH - 2)));
    bench.show_window(1u << 8, kY, kWidth - 4);  // clipped at the right: the end of the row is shown
    bench.frame();
    EXPECT_EQ(bench.shown().at(kWidth - 4, kY), rgb(mixed(kW - 1, 0)));
    EXPECT_EQ(bench.shown().at(kWidth - 1, kY), rgb(mixed(kW - 4, 0)));
  }
}

TEST(Windows, SpritesShowVideo) {
  for (const Window& window : {Window{"gm45", "DVS", "", 0, 0}, Window{"bdw", "SPR", "", 0, 0},
                               Window{"chv", "SP", "", 0, 0}, Window{"skl", "PLANE_", "_2", 0, 0}}) {
    WindowBench bench(window);
    bench.start();
    bench.paint(kTop, [](uint32_t x, uint32_t) { return x % 2 == 0 ? 0x80eb8010 : 0x5aebf010; });
    for (const auto& [order, first] : {std::pair(0u, 0u), {1u, 1u}}) {
      bench.show_window(order << 16);
      bench.frame();
      // Two greys of a pair or, with the bytes in the other order, a luma of 128 for both.
      const Image image = bench.shown();
      EXPECT_EQ(image.at(kX, kY).red, first == 0 ? 0 : image.at(kX, kY).red);
      EXPECT_EQ(image.at(kX, kY) == image.at(kX + 1, kY), first == 1) << window.device << " " << order;
    }
  }
}

// Any value in any display register gives a frame or no frame, without other effects.
TEST(Windows, RandomRegistersDoNotCrash) {
  std::mt19937 random(20);
  for (const spec::DeviceModel* model : device::every_model()) {
    for (int round = 0; round < 3; ++round) {
      Screen screen(*model);
      mmio::RegisterBank& bank = screen.device->mmio().bank();
      screen.back(kSurface, 0x4000);
      for (const mmio::RegisterSlot& slot : bank.map().slots()) {
        const uint32_t at = slot.offset >= 0x180000 ? slot.offset - 0x180000 : slot.offset;
        const std::string_view name = slot.desc->name;
        const bool display = (at >= 0x4a000 && at < 0x4c000) || (at >= 0x60000 && at < 0x80000);
        const bool kept_out = name.starts_with("PIPESRC") || name.starts_with("TRANS_DDI");  // sizes, and the panel
        if (!display || kept_out || slot.engine != nullptr) continue;
        const uint32_t value = static_cast<uint32_t>(random());
        bank.write(slot, random() % 2 == 0 ? value | kEnable : value);
      }
      for (unsigned pipe = 0; pipe < screen.device->display().pipes(); ++pipe) {
        screen.start(pipe);
      }
      screen.frame();
      for (unsigned pipe = 0; pipe < screen.device->display().pipes(); ++pipe) {
        const auto image = screen.device->take_frame(pipe);
        ASSERT_TRUE(image.has_value());
        EXPECT_EQ(image->pixels.size(), size_t{kWidth} * kHeight);
      }
      const device::DeviceState kept = screen.device->snapshot();
      screen.device->restore(kept);
      EXPECT_EQ(screen.device->snapshot(), kept);
    }
  }
}

}  // namespace
}  // namespace halogen::display::scanout_test
