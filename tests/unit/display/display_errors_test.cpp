// Reports of the display when it cannot read a surface, and the address space of a flip.
#include <gtest/gtest.h>

#include <span>

#include "covers.h"
#include "unit/display/dpfc_bench.h"
#include "unit/display/screen_bench.h"

namespace halogen::display::scanout_test {
namespace {

constexpr uint32_t kPitch = 1024;
constexpr uint32_t kOther = 0x0020'0000;
constexpr uint32_t kRing = 0x0040'0000;
constexpr Rgba kBlack{0, 0, 0, 255};

void fill(Screen& screen, uint32_t base) {
  screen.back(base, kPitch * kHeight);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      screen.put<uint32_t>(base + y * kPitch + 4 * x, mixed(x, y) ^ base);
    }
  }
}
void show(Screen& screen, uint32_t base, uint32_t more = 0, uint32_t stride_unit = 64) {
  const display::PlaneSlots& slots = screen.device->display().find_plane(0, 0)->slots;
  const Primary plane(screen, 0);
  mmio::RegisterBank& bank = screen.device->mmio().bank();
  bank.write(*slots.stride, plane.stride(kPitch, stride_unit));
  if (plane.universal) bank.write(*slots.size, pair(kHeight - 1, kWidth - 1));
  bank.write(*slots.control, kEnable | plane.format() | more);
  bank.write(*slots.surface, base);
  screen.frame();
}

std::vector<const spec::DeviceModel*> gen4_models() {
  std::vector<const spec::DeviceModel*> models;
  for (const spec::DeviceModel* model : device::every_model()) {
    if (model->gen == spec::GenId::gen4 || model->gen == spec::GenId::gen4_5) models.push_back(model);
  }
  return models;
}
class FirstFlips : public testing::TestWithParam<const spec::DeviceModel*> {};
INSTANTIATE_TEST_SUITE_P(All, FirstFlips, testing::ValuesIn(gen4_models()), device::model_name);

// The address of a flip is page-aligned in the global table, and every page of the surface must be mapped.
TEST_P(FirstFlips, ShowPagesOfTheGlobalTable) {
  COVERS("G45-1.6-16");
  Screen screen(*GetParam());
  fill(screen, kSurface);
  fill(screen, kOther);
  screen.back(kRing, 4096);
  // A per-process table that maps the same addresses to other memory.
  if (GetParam()->has(spec::Feature::ppgtt_1level)) {
    for (uint32_t page = 0; page < 0x400; ++page) {
      screen.host.put<uint32_t>(0x90'0000 + 4 * page, 0x00a0'0001);
    }
    for (uint32_t at = 0; at < 4096; at += 4) {
      screen.host.put<uint32_t>(0xa0'0000 + at, 0xbad'0bad);
    }
    screen.write(0x20c4, 0x0090'0001);
  }
  screen.start();
  show(screen, kSurface);
  EXPECT_EQ(screen.shown().at(7, 9), rgb(mixed(7, 9) ^ kSurface));
  const auto run = [&](std::span<const uint32_t> commands, uint32_t from) {
    for (uint32_t i = 0; i < commands.size(); ++i) {
      screen.put<uint32_t>(kRing + from + 4 * i, commands[i]);
    }
    screen.write(0x2038, kRing);
    screen.write(0x203c, 1);
    screen.write(0x2030, from + static_cast<uint32_t>(4 * commands.size()));
    screen.frame();
    screen.frame();
  };
  const uint32_t flip[] = {0x14u << 23 | 1, kPitch, kOther, 0};
  run(flip, 0);
  const Image image = screen.shown();
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      ASSERT_EQ(image.at(x, y), rgb(mixed(x, y) ^ kOther)) << x << " " << y;
    }
  }
  EXPECT_EQ(screen.events(), 0u);
  EXPECT_EQ(screen.read(0x2024), 0u);
  // Address bits below a page are ignored.
  const uint32_t crooked[] = {0x14u << 23 | 1, kPitch, kSurface | 0x7e0, 0};
  run(crooked, 16);
  EXPECT_EQ(screen.device->display().active_image(0)->surface & ~1u, kSurface);
  EXPECT_EQ(screen.shown().at(7, 9), rgb(mixed(7, 9) ^ kSurface));
  EXPECT_EQ(screen.read(0x2024), 0u);
  // One page above the top of memory: lines 8 to 11.
  screen.map(kSurface / 4096 + 2, 0x2'0000'0000);
  const Image holed = screen.shown();
  for (uint32_t y = 0; y < kHeight; ++y) {
    EXPECT_EQ(holed.at(3, y), y >= 8 && y < 12 ? kBlack : rgb(mixed(3, y) ^ kSurface)) << y;
  }
  EXPECT_EQ(screen.read(0x2024), 1u << 4) << "display A";
}

class Starved : public testing::TestWithParam<const spec::DeviceModel*> {};
INSTANTIATE_TEST_SUITE_P(All, Starved, testing::ValuesIn(device::every_model()), device::model_name);

// A pipe that cannot read its pixels has an underrun, which software sees in the pipe status or as an interrupt.
TEST_P(Starved, PipesReportAnUnderrun) {
  Screen screen(*GetParam());
  const bool status = screen.find("PIPESTAT") != nullptr;
  const bool gen6 = GetParam()->gen == spec::GenId::gen6;
  const uint32_t status_at = std::string_view(GetParam()->name) == "chv" ? 0x1f'0024 : 0x7'0024;
  const uint32_t mask_at = gen6 ? 0x4'4004 : 0x4'4404;
  const uint32_t identity_at = gen6 ? 0x4'4008 : 0x4'4408;
  const uint32_t bit = gen6 ? 1u : 1u << 31;
  if (!status) screen.write(mask_at, ~bit);
  const auto reported = [&] {
    return status ? (screen.read(status_at) & 1u << 31) != 0 : (screen.read(identity_at) & bit) != 0;
  };
  fill(screen, kSurface);
  screen.start();
  show(screen, kSurface);
  screen.shown();
  EXPECT_FALSE(reported());
  screen.set_entry(kSurface / 4096 + 5, 0);
  screen.device->advance(2 * kFrameTime);
  screen.shown();
  if (GetParam()->gen != spec::GenId::gen4 && GetParam()->gen != spec::GenId::gen4_5 && !reported()) {
    // Entries of later global tables have no valid bit, so no page is missing.
    EXPECT_EQ(screen.events(EventKind::fault), 0u);
    return;
  }
  EXPECT_TRUE(reported());
  const uint32_t clear_at = status ? status_at : identity_at;
  screen.write(clear_at, status ? 1u << 31 : bit);
  EXPECT_FALSE(reported()) << "writing one clears it";
  screen.map(kSurface / 4096 + 5, kBacking + kSurface + 5 * 4096);
  screen.shown();
  EXPECT_FALSE(reported());
}

TEST(StarvedCompressor, PipeUnderrunIsRecorded) {
  fbc_test::DpfcBench bench;
  bench.enable();
  EXPECT_EQ(bench.read(fbc_test::DpfcBench::kDebug), 0u);
  bench.cpu_write(0, 3, 1);  // a line that is read from the surface again
  bench.set_entry(bench.surface >> 12, 0);
  ASSERT_TRUE(bench.device->take_frame(0).has_value());
  EXPECT_EQ(bench.read(fbc_test::DpfcBench::kDebug), 1u << 2);
  bench.write(fbc_test::DpfcBench::kDebug, 1u << 2);
  EXPECT_EQ(bench.read(fbc_test::DpfcBench::kDebug), 0u);
}

TEST(DoubledLines, AreShownOnceAndReported) {
  for (const char* device : {"i965", "gm45", "snb", "chv"}) {
    Screen screen(device);
    fill(screen, kSurface);
    screen.start();
    show(screen, kSurface, 1u << 20);
    screen.host.log.clear();
    EXPECT_EQ(screen.shown().at(7, 9), rgb(mixed(7, 9) ^ kSurface));
    EXPECT_EQ(screen.events(EventKind::approximation), 1u) << device;
  }
}

// A tiled surface whose stride is not a whole number of tiles is shown and reported.
TEST_P(Starved, TiledSurfaceWithPartialTilesIsReported) {
  Screen screen(*GetParam());
  fill(screen, kSurface);
  screen.start();
  const Primary plane(screen, 0);
  if (plane.universal) {
    return;  // strides are counted in tiles
  }
  show(screen, kSurface, 1u << 10);
  screen.host.log.clear();
  screen.shown();
  EXPECT_EQ(screen.events(EventKind::undefined_behaviour), 0u);
  const display::PlaneSlots& slots = screen.device->display().find_plane(0, 0)->slots;
  screen.device->mmio().bank().write(*slots.stride, kPitch + 64);
  screen.device->mmio().bank().write(*slots.surface, kSurface);
  screen.frame();
  screen.host.log.clear();
  screen.shown();
  EXPECT_EQ(screen.events(EventKind::undefined_behaviour), 1u);
}

}  // namespace
}  // namespace halogen::display::scanout_test
