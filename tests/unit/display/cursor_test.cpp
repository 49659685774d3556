// Cursors: modes, position, blending, and when a change becomes visible.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/screen_bench.h"

namespace halogen::display::scanout_test {
namespace {

constexpr uint32_t kArgb64 = 0x27;
constexpr uint32_t kArgb128 = 0x22;
constexpr uint32_t kArgb256 = 0x23;
constexpr uint32_t kThreeColors = 4;
constexpr uint32_t kAndXor = 5;
constexpr uint32_t kFourColors = 6;
constexpr Rgba kBlack = {0, 0, 0, 255};

struct CursorBench : Screen {
  explicit CursorBench(const spec::DeviceModel& chosen) : Screen(chosen) {}
  explicit CursorBench(std::string_view name) : Screen(name) {}

  bool legacy() { return find("CURCNTR") != nullptr; }
  // Writes a register of the pipe: by its letter if the pipe has its own item.
  void set_cursor(std::string_view old_name, std::string_view new_name, unsigned pipe, uint32_t value) {
    const std::string_view name = legacy() ? old_name : new_name;
    const unsigned together = legacy() ? 2 : 3;
    if (pipe < together) {
      set(name, pipe, value);
    } else {
      set(fmt::format("{}_{}", name, "ABCD"[pipe]), value);
    }
  }
  void control(uint32_t value, unsigned pipe = 0) {
    set_cursor("CURCNTR", "CUR_CTL", pipe, value | (model.gen == spec::GenId::gen4 ? pipe << 28 : 0));
  }
  void base(uint32_t value, unsigned pipe = 0) { set_cursor("CURBASE", "CUR_BASE", pipe, value); }
  void position(uint32_t value, unsigned pipe = 0) { set_cursor("CURPOS", "CUR_POS", pipe, value); }
  void palette(unsigned pipe, unsigned entry, uint32_t value) {
    set(fmt::format("{}_{}", legacy() ? "CURPALET" : "CUR_PAL", "ABCD"[pipe]), entry, value);
  }
  void place(uint32_t mode, uint32_t at = pair(5, 7), unsigned pipe = 0) {
    control(mode, pipe);
    position(at, pipe);
    base(kSurface, pipe);
  }
  void paint(uint32_t size, auto color) {
    back(kSurface, uint64_t{size} * size * 4);
    for (uint32_t y = 0; y < size; ++y) {
      for (uint32_t x = 0; x < size; ++x) {
        put<uint32_t>(kSurface + (y * size + x) * 4, color(x, y));
      }
    }
  }
};

uint32_t solid(uint32_t x, uint32_t y) {
  return 0xff00'0000 | mixed(x, y);
}

class EveryCursor : public testing::TestWithParam<const spec::DeviceModel*> {};
INSTANTIATE_TEST_SUITE_P(All, EveryCursor, testing::ValuesIn(device::every_model()), device::model_name);

TEST_P(EveryCursor, EachPipeHasACursor) {
  CursorBench bench(*GetParam());
  EXPECT_EQ(bench.device->display().cursors().size(), bench.device->display().pipes());
  bench.paint(64, solid);
  for (unsigned pipe = 0; pipe < bench.device->display().pipes(); ++pipe) {
    bench.start(pipe);
    bench.place(kArgb64, pair(5 + pipe, 7), pipe);
  }
  bench.frame();
  for (unsigned pipe = 0; pipe < bench.device->display().pipes(); ++pipe) {
    const Image image = bench.shown(pipe);
    EXPECT_EQ(image.at(7, 4 + pipe), kBlack) << pipe;
    EXPECT_EQ(image.at(6, 5 + pipe), kBlack);
    EXPECT_EQ(image.at(7, 5 + pipe), rgb(mixed(0, 0))) << pipe;
    EXPECT_EQ(image.at(20, 30), rgb(mixed(13, 25 - pipe)));
  }
  EXPECT_EQ(bench.events(), 0u);
}

TEST_P(EveryCursor, PagesAreFoundThroughTheGlobalTable) {
  COVERS("G45-4.2-01");
  CursorBench bench(*GetParam());
  bench.paint(64, solid);
  for (uint32_t page = 0; page < 4; ++page) {  // of 16 lines each, in reverse order
    bench.map(kSurface / 4096 + page, kBacking + kSurface + (3 - page) * 4096);
  }
  bench.start();
  bench.place(kArgb64);
  bench.frame();
  const Image image = bench.shown();
  for (uint32_t y = 0; y < 40; ++y) {
    EXPECT_EQ(image.at(7, 5 + y), rgb(mixed(0, (3 - y / 16) * 16 + y % 16))) << y;
  }
}

TEST_P(EveryCursor, SizesAndNegativePositionsAreShown) {
  for (const auto& [mode, size] : {std::pair(kArgb64, 64u), {kArgb128, 128u}, {kArgb256, 256u}}) {
    CursorBench bench(*GetParam());
    bench.paint(size, solid);
    bench.start();
    bench.place(mode, (0x8000u | (size - 3)) << 16 | 0x8000u | (size - 9));  // nine columns and three rows are visible
    bench.frame();
    const Image image = bench.shown();
    for (uint32_t y = 0; y < 5; ++y) {
      for (uint32_t x = 0; x < 12; ++x) {
        EXPECT_EQ(image.at(x, y), x < 9 && y < 3 ? rgb(mixed(size - 9 + x, size - 3 + y)) : kBlack) << size << x << y;
      }
    }
  }
}

TEST_P(EveryCursor, AlphaIsPremultiplied) {
  CursorBench bench(*GetParam());
  bench.paint(64, [](uint32_t x, uint32_t) { return x * 4 << 24 | 0x101010; });
  bench.start();
  bench.place(kArgb64, 0);
  bench.frame();
  const Image image = bench.shown();
  for (uint32_t x = 0; x < 64; ++x) {
    EXPECT_EQ(image.at(x, 0), rgb(0x101010));  // over black
  }
}

TEST_P(EveryCursor, BaseWriteArmsAndVerticalBlankApplies) {
  CursorBench bench(*GetParam());
  bench.paint(64, solid);
  bench.start();
  bench.place(kArgb64, 0);
  EXPECT_EQ(bench.shown().at(0, 0), kBlack);
  bench.frame();
  EXPECT_EQ(bench.shown().at(0, 0), rgb(mixed(0, 0)));
  // A new position alone takes effect at the next vertical blank.
  bench.position(pair(1, 1));
  EXPECT_EQ(bench.shown().at(0, 0), rgb(mixed(0, 0)));
  bench.frame();
  EXPECT_EQ(bench.shown().at(0, 0), kBlack);
  EXPECT_EQ(bench.shown().at(1, 1), rgb(mixed(0, 0)));
  // After a write of the control register all changes wait for the base.
  bench.control(0);
  bench.position(pair(2, 2));
  bench.frame();
  EXPECT_EQ(bench.shown().at(1, 1), rgb(mixed(0, 0)));
  bench.base(kSurface);
  bench.frame();
  EXPECT_EQ(bench.shown(), Image(kWidth, kHeight, kBlack));
  // A write of the control register disarms a pending change.
  bench.control(kArgb64);
  bench.base(kSurface);
  bench.control(0);
  bench.frame();
  EXPECT_EQ(bench.shown(), Image(kWidth, kHeight, kBlack));
  bench.base(kSurface);
  bench.frame();
  EXPECT_EQ(bench.shown(), Image(kWidth, kHeight, kBlack));
}

TEST_P(EveryCursor, ChangesOnADisabledPipeTakeEffectImmediately) {
  CursorBench bench(*GetParam());
  bench.paint(64, solid);
  bench.place(kArgb64, 0);
  bench.start();
  EXPECT_EQ(bench.shown().at(0, 0), rgb(mixed(0, 0)));
}

// One line: eight bytes of the first bit of each pixel, then eight bytes of the second; the leftmost pixel is the
// highest bit.
TEST_P(EveryCursor, TwoBitsPerPixelSelectColoursAndTransparency) {
  for (const uint32_t mode : {kThreeColors, kAndXor, kFourColors}) {
    CursorBench bench(*GetParam());
    bench.back(kSurface, 1024);
    for (uint32_t y = 0; y < 64; ++y) {
      bench.put<uint8_t>(kSurface + y * 16, 0b0011'0000);
      bench.put<uint8_t>(kSurface + y * 16 + 8, 0b0101'0000);
      for (uint32_t byte = 1; byte < 8; ++byte) {  // the rest is transparent or the third colour
        bench.put<uint8_t>(kSurface + y * 16 + byte, 0xff);
      }
    }
    for (unsigned n = 0; n < 4; ++n) {
      bench.palette(0, n, 0x10203u * (n + 1));
    }
    bench.start();
    bench.place(mode, 0);
    bench.frame();
    const Image image = bench.shown();
    EXPECT_EQ(image.at(0, 9), rgb(0x10203));
    EXPECT_EQ(image.at(1, 9), rgb(0x20406));
    EXPECT_EQ(image.at(2, 9), mode == kFourColors ? rgb(0x30609) : kBlack);
    EXPECT_EQ(image.at(3, 9), mode == kAndXor ? rgb(0xffffff) : rgb(0x4080c));
    EXPECT_EQ(image.at(4, 9), rgb(0x10203));
    EXPECT_EQ(image.at(8, 9), mode == kFourColors ? rgb(0x30609) : kBlack);
  }
}

TEST_P(EveryCursor, UnsupportedModesAreReported) {
  for (const uint32_t mode : {2u, 3u, 7u, 0x24u, 0x25u, 0x26u, 0x21u, 1u}) {
    CursorBench bench(*GetParam());
    bench.paint(64, solid);
    bench.start();
    bench.place(mode, 0);
    bench.frame();
    bench.host.log.clear();
    EXPECT_EQ(bench.shown(), Image(kWidth, kHeight, kBlack)) << mode;
    EXPECT_EQ(bench.events(EventKind::unsupported), 1u) << mode;
  }
}

// Gen4's and Cherryview's displays take the address of the last pixel, others that of the first (i915).
TEST_P(EveryCursor, RotationBy180DegreesReversesTheCursor) {
  CursorBench bench(*GetParam());
  bench.paint(64, solid);
  bench.start();
  const bool last = bench.is_gen4() || GetParam()->name == "chv";
  bench.control(kArgb64 | 1u << 15);
  bench.position(0);
  bench.base(last ? kSurface + 64 * 64 * 4 - 4 : kSurface);
  bench.frame();
  EXPECT_EQ(bench.shown().at(0, 0), rgb(mixed(63, 63)));
  EXPECT_EQ(bench.shown().at(10, 20), rgb(mixed(53, 43)));
}

TEST(Cursors, Gen4CursorSelectsItsPipe) {
  for (const char* device : {"i965", "gm965"}) {
    CursorBench bench(device);
    bench.paint(64, solid);
    bench.start(0);
    bench.start(1);
    bench.set("CURCNTR", 0, kArgb64 | 1u << 28);
    bench.set("CURPOS", 0, 0);
    bench.set("CURBASE", 0, kSurface);
    bench.frame();
    EXPECT_EQ(bench.shown(0).at(0, 0), kBlack);
    EXPECT_EQ(bench.shown(1).at(0, 0), rgb(mixed(0, 0)));
  }
}

}  // namespace
}  // namespace halogen::display::scanout_test
