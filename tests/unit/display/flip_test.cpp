// Flips by command and by register: pending until performed, at the vertical blank or immediately.
#include <gtest/gtest.h>

#include <set>

#include "covers.h"
#include "unit/display/display_bench.h"

namespace halogen::display::display_test {
namespace {

constexpr uint32_t kPlaneEnable = 0x8000'0000;
constexpr uint32_t kTiled = 1u << 10;
constexpr uint32_t kRotated = 1u << 15;

class Flips : public testing::TestWithParam<DeviceId> {};
INSTANTIATE_TEST_SUITE_P(All, Flips, testing::ValuesIn(all_devices()), device_name);

const std::vector<DeviceId> kGen4 = {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45};
class Gen4Flips : public testing::TestWithParam<DeviceId> {};
INSTANTIATE_TEST_SUITE_P(All, Gen4Flips, testing::ValuesIn(kGen4), device_name);

void poke(Bench& bench, const mmio::RegisterSlot* slot, uint32_t value) {
  bench.mmio.bank().write(*slot, value);
}

TEST_P(Flips, PlanesHaveANumberAndAPipe) {
  Bench bench(GetParam());
  std::set<unsigned> numbers;
  std::set<std::pair<unsigned, unsigned>> places;
  for (const display::PlaneModel& plane : bench.display.planes()) {
    EXPECT_TRUE(numbers.insert(plane.number).second) << plane.number;
    EXPECT_TRUE(places.insert({plane.pipe, plane.place}).second);
    EXPECT_LT(plane.pipe, bench.display.pipes());
    EXPECT_NE(plane.slots.control, nullptr);
    EXPECT_NE(plane.slots.stride, nullptr);
    EXPECT_EQ(bench.display.find_plane(plane.number), &plane);
    EXPECT_EQ(bench.display.find_plane(plane.pipe, plane.place), &plane);
  }
  for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
    ASSERT_NE(bench.display.find_plane(pipe, 0), nullptr) << "primary plane";
  }
}

// Plane numbers are from the public driver's command header, registers from its plane header.
TEST(Planes, RegistersAreAtThePublicOffsets) {
  struct Row {
    DeviceId device;
    unsigned number;
    unsigned pipe;
    uint32_t surface;
  };
  const Row rows[] = {
      {DeviceId::i965, 0, 0, 0x7019c}, {DeviceId::i965, 1, 1, 0x7119c}, {DeviceId::i965, 2, 0, 0x7219c},
      {DeviceId::gm45, 2, 0, 0x7219c}, {DeviceId::gm45, 3, 1, 0x7319c}, {DeviceId::snb, 1, 1, 0x7119c},
      {DeviceId::snb, 3, 1, 0x7319c},  {DeviceId::bdw, 0, 0, 0x7019c},  {DeviceId::bdw, 1, 1, 0x7119c},
      {DeviceId::bdw, 2, 0, 0x7029c},  {DeviceId::bdw, 3, 1, 0x7129c},  {DeviceId::bdw, 4, 2, 0x7219c},
      {DeviceId::bdw, 5, 2, 0x7229c},  {DeviceId::chv, 0, 0, 0x1f019c}, {DeviceId::chv, 4, 2, 0x1f419c},
      {DeviceId::chv, 2, 0, 0x1f219c}, {DeviceId::chv, 3, 0, 0x1f229c}, {DeviceId::chv, 5, 1, 0x1f239c},
      {DeviceId::skl, 0, 0, 0x7019c},  {DeviceId::skl, 1, 1, 0x7119c},  {DeviceId::skl, 2, 2, 0x7219c},
      {DeviceId::skl, 4, 0, 0x7029c},  {DeviceId::skl, 5, 1, 0x7129c},  {DeviceId::skl, 6, 2, 0x7229c},
      {DeviceId::skl, 7, 0, 0x7039c},  {DeviceId::icl, 9, 2, 0x7239c},  {DeviceId::tgl, 4, 0, 0x7029c},
      {DeviceId::dg1, 9, 2, 0x7239c},
  };
  for (const Row& row : rows) {
    Bench bench(row.device);
    const display::PlaneModel* plane = bench.display.find_plane(row.number);
    ASSERT_NE(plane, nullptr) << bench.model.name << " " << row.number;
    EXPECT_EQ(plane->pipe, row.pipe) << bench.model.name << " " << row.number;
    EXPECT_EQ(plane->slots.surface->offset, row.surface) << bench.model.name << " " << row.number;
    EXPECT_EQ(plane->slots.stride->offset, row.surface - 0x14);
    EXPECT_EQ(plane->slots.control->offset, row.surface - 0x1c);
    if (plane->slots.live != nullptr) {
      EXPECT_EQ(plane->slots.live->offset, row.surface + 0x10);
    }
  }
  EXPECT_EQ(Bench(DeviceId::skl).display.planes().size(), 12u);
  EXPECT_EQ(Bench(DeviceId::icl).display.planes().size(), 21u);
  EXPECT_EQ(Bench(DeviceId::dg1).display.planes().size(), 28u);
  EXPECT_EQ(Bench(DeviceId::dg1).display.find_plane(3, 6)->slots.surface->offset, 0x7379cu);
}

TEST_P(Flips, SurfaceWriteFlipsAtTheNextVerticalBlank) {
  Bench bench(GetParam());
  for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
    bench.run(pipe);
  }
  bench.display.advance_to(Bench::line_ns(0, 100));
  for (const display::PlaneModel& plane : bench.display.planes()) {
    const uint32_t select = plane.selects_pipe ? plane.pipe << 24 : 0;
    const uint32_t surface = 0x10'0000 * (plane.number + 1);
    poke(bench, plane.slots.control, kPlaneEnable | select);
    poke(bench, plane.slots.stride, 64);
    EXPECT_FALSE(bench.display.flip_pending(plane.number));
    poke(bench, plane.slots.surface, surface);
    EXPECT_TRUE(bench.display.flip_pending(plane.number));
    EXPECT_EQ(bench.mmio.bank().read(*plane.slots.surface), surface);
    EXPECT_EQ(bench.display.active_image(plane.number)->surface, 0u);
    EXPECT_EQ(bench.display.active_image(plane.number)->control, 0u);
    // Registers written after the surface apply to the next flip.
    poke(bench, plane.slots.stride, 128);
  }
  bench.display.advance_to(Bench::line_ns(0, 960) - 1);
  EXPECT_TRUE(bench.recorder.of("flip done").empty());
  bench.display.advance_to(Bench::line_ns(0, 960));
  EXPECT_EQ(bench.recorder.of("flip done").size(), bench.display.planes().size());
  for (const display::PlaneModel& plane : bench.display.planes()) {
    const display::PlaneImage& active = *bench.display.active_image(plane.number);
    EXPECT_FALSE(bench.display.flip_pending(plane.number));
    EXPECT_EQ(active.surface, 0x10'0000 * (plane.number + 1));
    EXPECT_EQ(active.control & kPlaneEnable, kPlaneEnable);
    EXPECT_EQ(active.stride, 64u);
    if (plane.slots.live != nullptr) {
      EXPECT_EQ(bench.mmio.bank().read(*plane.slots.live), 0x10'0000 * (plane.number + 1));
    }
  }
  for (const Heard& done : bench.recorder.of("flip done")) {
    EXPECT_EQ(done.at, Bench::line_ns(0, 960));
  }
  if (bench.has("PIPE_FLIPCOUNT")) {
    for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
      EXPECT_EQ(bench.pipe_read("PIPE_FLIPCOUNT", pipe), 1u);
    }
  }
  if (bench.has("PIPE_FLIPTMSTMP")) {
    EXPECT_EQ(bench.pipe_read("PIPE_FLIPTMSTMP", 0), Bench::line_ns(0, 960) / 1000);
  }
}

TEST_P(Flips, FlipOnADisabledPipeIsImmediate) {
  Bench bench(GetParam());
  for (const display::PlaneModel& plane : bench.display.planes()) {
    bench.recorder.heard.clear();
    poke(bench, plane.slots.surface, 0x5000);
    EXPECT_EQ(bench.recorder.order(), (std::vector<std::string>{"flip", "flip done"}));
    EXPECT_EQ(bench.display.active_image(plane.number)->surface, 0x5000u);
    bench.display.flip({.plane = plane.number, .base = 0x9000, .pitch = 4096, .tiled = 1});
    EXPECT_FALSE(bench.display.flip_pending(plane.number));
    EXPECT_EQ(bench.display.active_image(plane.number)->surface, 0x9000u);
  }
  EXPECT_TRUE(bench.events.events().empty());
}

TEST_P(Flips, CommandFlipSetsPitchAndTilingAtTheVerticalBlank) {
  Bench bench(GetParam());
  bench.run(1);
  const display::PlaneModel& plane = *bench.display.find_plane(1);
  const uint32_t select = plane.selects_pipe ? 1u << 24 : 0;
  poke(bench, plane.slots.control, kPlaneEnable | select);
  bench.display.flip({.plane = 1, .base = 0x123'4000, .pitch = 8192, .tiled = 1});
  EXPECT_TRUE(bench.display.flip_pending(1));
  EXPECT_EQ(bench.display.active_image(1)->surface, 0u);
  EXPECT_EQ(bench.mmio.bank().read(*plane.slots.surface), 0x123'4000u) << "the register shows the request";
  bench.display.advance_to(Bench::line_ns(0, 959));
  EXPECT_TRUE(bench.display.flip_pending(1));
  bench.display.advance_to(Bench::line_ns(0, 960));
  EXPECT_FALSE(bench.display.flip_pending(1));
  const display::PlaneImage& active = *bench.display.active_image(1);
  EXPECT_EQ(active.surface, 0x123'4000u);
  EXPECT_EQ(active.stride, plane.kind == display::PlaneKind::universal ? 128u : 8192u);
  EXPECT_EQ(active.control, kPlaneEnable | select | kTiled);
  EXPECT_EQ(bench.recorder.of("flip"), (std::vector<Heard>{{"flip", 1, 0}}));
  EXPECT_EQ(bench.recorder.of("flip done"), (std::vector<Heard>{{"flip done", 1, Bench::line_ns(0, 960)}}));
  bench.display.flip({.plane = 1, .base = 0x123'4000, .pitch = 8192, .tiled = 0});
  bench.display.advance_to(kSecond);
  EXPECT_EQ(bench.display.active_image(1)->control, kPlaneEnable | select);
  EXPECT_TRUE(bench.events.events().empty());
}

TEST_P(Flips, PendingFlipCompletesWhenItsPipeStops) {
  Bench bench(GetParam());
  bench.run(0);
  bench.display.flip({.plane = 0, .base = 0x4000, .pitch = 4096, .tiled = 1});
  bench.display.advance_to(Bench::line_ns(0, 5));
  bench.enable(0, false);
  EXPECT_FALSE(bench.display.flip_pending(0));
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x4000u);
}

TEST_P(Flips, SecondPendingFlipIsReportedAndReplacesTheFirst) {
  COVERS("G45-1.6-20");
  Bench bench(GetParam());
  bench.run(0);
  bench.display.flip({.plane = 0, .base = 0x4000, .pitch = 4096, .tiled = 1});
  EXPECT_TRUE(bench.events.events().empty());
  bench.display.flip({.plane = 0, .base = 0x8000, .pitch = 4096, .tiled = 1});
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  bench.display.flip({.plane = 1, .base = 0xc000, .pitch = 4096, .tiled = 1});  // another plane: allowed
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  bench.display.advance_to(kSecond);
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x8000u);
  EXPECT_FALSE(bench.display.flip_pending(0));
  // A second write of the register is allowed.
  bench.events.clear();
  poke(bench, bench.display.find_plane(0)->slots.surface, 0x1'0000);
  poke(bench, bench.display.find_plane(0)->slots.surface, 0x2'0000);
  bench.display.advance_to(2 * kSecond);
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x2'0000u);
  EXPECT_TRUE(bench.events.events().empty());
}

TEST_P(Flips, FlipsOfUnknownPlanesDoNothing) {
  Bench bench(GetParam());
  for (const unsigned plane : {3u, 29u, 63u, ~0u}) {
    if (bench.display.find_plane(plane) != nullptr) {
      continue;
    }
    bench.events.clear();
    bench.display.flip({.plane = plane, .base = 0x4000});
    EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
    EXPECT_FALSE(bench.display.flip_pending(plane));
    EXPECT_EQ(bench.display.active_image(plane), nullptr);
  }
  EXPECT_TRUE(bench.recorder.heard.empty());
}

TEST_P(Flips, AsyncBitOfTheControlRegisterFlipsImmediately) {
  Bench bench(GetParam());
  bench.run(0);
  const display::PlaneModel& plane = *bench.display.find_plane(0);
  poke(bench, plane.slots.control, kPlaneEnable | 1u << 9);
  poke(bench, plane.slots.surface, 0x7000);
  const bool has_bit = bench.model.id != DeviceId::i965 && bench.model.id != DeviceId::gm965;
  EXPECT_EQ(bench.display.flip_pending(0), !has_bit);
}

// The Gen4Flips tests are for 965 to GM45: asynchronous flips, the queue, the panel fitter and offsets.

void show_tiled(Bench& bench, uint32_t stride, uint32_t control = kPlaneEnable | kTiled) {
  for (const unsigned number : {0u, 1u}) {
    const display::PlaneModel& plane = *bench.display.find_plane(number);
    poke(bench, plane.slots.control, control | number << 24);
    poke(bench, plane.slots.stride, stride);
    poke(bench, plane.slots.surface, 0x10'0000);
    bench.run(number);
  }
  bench.recorder.heard.clear();
}

TEST_P(Gen4Flips, AsynchronousFlipIsImmediateAndKeepsPitchAndTiling) {
  Bench bench(GetParam());
  show_tiled(bench, 4096);
  bench.display.flip({.plane = 0, .async = true, .base = 0x20'0000, .pitch = 512, .tiled = 0});
  EXPECT_EQ(bench.recorder.order(), (std::vector<std::string>{"flip", "flip done"}));
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x20'0000u);
  EXPECT_EQ(bench.display.active_image(0)->stride, 4096u);
  EXPECT_EQ(bench.display.active_image(0)->control & kTiled, kTiled);
  EXPECT_EQ(bench.read("DSPSTRIDE", 0), 4096u);
  // A synchronous flip sets both, and later asynchronous flips keep them.
  bench.display.flip({.plane = 0, .base = 0x30'0000, .pitch = 8192, .tiled = 1});
  bench.display.advance_to(kSecond);
  bench.display.flip({.plane = 0, .async = true, .base = 0x40'0000, .pitch = 64, .tiled = 0});
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x40'0000u);
  EXPECT_EQ(bench.display.active_image(0)->stride, 8192u);
  EXPECT_TRUE(bench.events.events().empty());
}

TEST_P(Gen4Flips, AsynchronousFlipOfALinearSurfaceWaitsForTheBlank) {
  COVERS("G45-1.6-07");
  COVERS("G45-4.5.5-01");
  Bench bench(GetParam());
  show_tiled(bench, 4096, kPlaneEnable);
  bench.display.flip({.plane = 0, .async = true, .base = 0x20'0000});
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  EXPECT_TRUE(bench.display.flip_pending(0)) << "at the vertical blank instead";
  bench.display.advance_to(kSecond);
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x20'0000u);
  Bench tiled(GetParam());
  show_tiled(tiled, 4096);
  tiled.display.flip({.plane = 0, .async = true, .base = 0x20'0000});
  EXPECT_TRUE(tiled.events.events().empty());
}

TEST_P(Gen4Flips, AsynchronousFlipNeedsAnAlignedSurface) {
  COVERS("G45-1.6-11");
  Bench bench(GetParam());
  show_tiled(bench, 4096);
  for (const uint32_t base : {0x20'0000u, 0x20'8000u}) {
    bench.display.flip({.plane = 0, .async = true, .base = base});
    EXPECT_TRUE(bench.events.events().empty());
  }
  for (const uint32_t base : {0x20'1000u, 0x20'4000u}) {
    bench.events.clear();
    bench.display.flip({.plane = 0, .async = true, .base = base});
    EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
    EXPECT_EQ(bench.display.active_image(0)->surface, base);
  }
}

TEST_P(Gen4Flips, AsynchronousFlipNeedsAPowerOfTwoStride) {
  COVERS("G45-1.6-12");
  const auto events = [](uint32_t stride, uint32_t control) {
    Bench bench(GetParam());
    show_tiled(bench, stride, control);
    bench.display.flip({.plane = 1, .async = true, .base = 0x20'0000});
    EXPECT_FALSE(bench.display.flip_pending(1));
    return bench.events.count(EventKind::undefined_behaviour);
  };
  EXPECT_EQ(events(4096, kPlaneEnable | kTiled), 0u);
  EXPECT_EQ(events(5120, kPlaneEnable | kTiled), 1u);
  EXPECT_EQ(events(4096, kPlaneEnable | kTiled | kRotated), 1u);
  EXPECT_EQ(events(8192, kPlaneEnable | kTiled | kRotated), 0u);
}

TEST_P(Gen4Flips, AsynchronousFlipsNeedPlaneAOrBWithoutQueue) {
  COVERS("G45-1.6-13");
  Bench bench(GetParam());
  show_tiled(bench, 4096);
  for (const unsigned plane : {0u, 1u}) {
    bench.display.flip({.plane = plane, .async = true, .base = 0x20'0000});
  }
  EXPECT_TRUE(bench.events.events().empty());
  bench.display.flip({.plane = 0, .async = true, .queued = true, .base = 0x30'0000});
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x30'0000u) << "not queued";
  const display::PlaneModel& third = *bench.display.find_plane(2);
  poke(bench, third.slots.control, kPlaneEnable | kTiled);
  poke(bench, third.slots.stride, 4096);
  poke(bench, third.slots.surface, 0x10'0000);
  bench.display.advance_to(kSecond);
  bench.events.clear();
  bench.display.flip({.plane = 2, .async = true, .base = 0x20'0000});
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  EXPECT_TRUE(bench.display.flip_pending(2)) << "at the vertical blank instead";
}

TEST_P(Gen4Flips, AsynchronousFlipKeepsThePanelFitter) {
  Bench bench(GetParam());
  show_tiled(bench, 4096);
  bench.display.flip({.plane = 0, .async = true, .base = 0x20'0000, .fitter = PanelFitter{true, true, 99, 49}});
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  EXPECT_EQ(*bench.display.panel_fitter(0), PanelFitter{});
  EXPECT_EQ(bench.read("PIPESRC", 0), 0u);
}

TEST_P(Gen4Flips, QueuePerformsOneFlipPerVerticalBlank) {
  Bench bench(GetParam());
  show_tiled(bench, 4096);
  for (const uint32_t base : {0x20'0000u, 0x30'0000u, 0x40'0000u}) {
    bench.display.flip({.plane = 0, .queued = true, .base = base, .pitch = 4096, .tiled = 1});
  }
  EXPECT_EQ(bench.recorder.of("flip").size(), 1u);
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x10'0000u);
  for (uint64_t frame = 0; frame < 3; ++frame) {
    bench.display.advance_to(Bench::line_ns(frame, 960));
    EXPECT_EQ(bench.display.active_image(0)->surface, 0x20'0000u + 0x10'0000u * frame);
    EXPECT_EQ(bench.display.flip_pending(0), frame < 2);
  }
  EXPECT_EQ(bench.recorder.of("flip done"), (std::vector<Heard>{{"flip done", 0, Bench::line_ns(2, 960)}}));
  EXPECT_TRUE(bench.events.events().empty());
}

TEST_P(Gen4Flips, UnqueuedFlipDropsTheQueue) {
  Bench bench(GetParam());
  show_tiled(bench, 4096);
  for (const uint32_t base : {0x20'0000u, 0x30'0000u, 0x40'0000u}) {
    bench.display.flip({.plane = 0, .queued = true, .base = base, .pitch = 4096, .tiled = 1});
  }
  bench.display.flip({.plane = 0, .base = 0x50'0000, .pitch = 4096, .tiled = 1});
  EXPECT_TRUE(bench.events.events().empty()) << "the manual allows it";
  bench.display.advance_to(Bench::line_ns(0, 960));
  EXPECT_FALSE(bench.display.flip_pending(0));
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x50'0000u);
  bench.display.advance_to(kSecond);
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x50'0000u);
}

TEST_P(Gen4Flips, FlipIntoAFullQueueIsDropped) {
  Bench bench(GetParam());
  show_tiled(bench, 4096);
  for (uint32_t i = 0; i < 1000; ++i) {
    bench.display.flip({.plane = 0, .queued = true, .base = (i + 1) << 12, .pitch = 4096, .tiled = 1});
  }
  EXPECT_EQ(bench.events.count(EventKind::unsupported), 1000u - Display::kFlipQueueDepth);
  bench.display.advance_to(kSecond);
  EXPECT_EQ(bench.display.active_image(0)->surface, Display::kFlipQueueDepth << 12);
  EXPECT_FALSE(bench.display.flip_pending(0));
}

TEST_P(Gen4Flips, PanelFitterSizeAppliesToThePipeOfThePlane) {
  Bench bench(GetParam());
  show_tiled(bench, 4096);
  bench.display.flip(
      {.plane = 1, .base = 0x20'0000, .pitch = 4096, .tiled = 1, .fitter = PanelFitter{true, true, 1023, 767}});
  EXPECT_EQ(bench.read("PIPESRC", 1), 0u);
  bench.display.advance_to(Bench::line_ns(0, 960));
  EXPECT_EQ(bench.read("PIPESRC", 1), 1023u << 16 | 767u);
  EXPECT_EQ(*bench.display.panel_fitter(1), (display::PanelFitter{true, true, 1023, 767}));
  EXPECT_EQ(bench.read("PIPESRC", 0), 0u);
  EXPECT_EQ(*bench.display.panel_fitter(0), PanelFitter{});
}

TEST_P(Gen4Flips, FlipCompletesAtTheVerticalBlankOfThePlanesPipe) {
  Bench bench(GetParam());
  const display::PlaneModel& plane = *bench.display.find_plane(0);
  Mode slow = kMode;
  slow.v_active = 100;
  bench.run(0);
  bench.run(1, slow);
  poke(bench, plane.slots.control, kPlaneEnable | 1u << 24);
  bench.display.flip({.plane = 0, .base = 0x20'0000, .pitch = 4096, .tiled = 1});
  bench.display.advance_to(Bench::line_ns(0, 100));
  EXPECT_FALSE(bench.display.flip_pending(0));
  poke(bench, plane.slots.control, kPlaneEnable | 3u << 24);  // invalid pipe
  bench.display.flip({.plane = 0, .base = 0x30'0000, .pitch = 4096, .tiled = 1});
  EXPECT_FALSE(bench.display.flip_pending(0));
}

TEST_P(Gen4Flips, OffsetsTakeEffectAtTheVerticalBlankWithoutAFlip) {
  COVERS("G45-1.6-06");
  Bench bench(GetParam());
  show_tiled(bench, 4096);
  const display::PlaneModel& plane = *bench.display.find_plane(0);
  poke(bench, plane.slots.tile_offset, 7u << 16 | 9);
  poke(bench, plane.slots.linear_offset, 0x440);
  // Not before the vertical blank, and not by an immediate flip.
  bench.display.flip({.plane = 0, .async = true, .base = 0x20'0000});
  bench.display.advance_to(Bench::line_ns(0, 959));
  EXPECT_EQ(bench.display.active_image(0)->tile_offset, 0u);
  EXPECT_EQ(bench.display.active_image(0)->linear_offset, 0u);
  // At the vertical blank, although no flip is pending.
  EXPECT_FALSE(bench.display.flip_pending(0));
  bench.display.advance_to(Bench::line_ns(0, 960));
  EXPECT_EQ(bench.display.active_image(0)->tile_offset, 7u << 16 | 9);
  EXPECT_EQ(bench.display.active_image(0)->linear_offset, 0x440u);
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x20'0000u);
  // A flip changes neither offset.
  bench.display.flip({.plane = 0, .base = 0x30'0000, .pitch = 4096, .tiled = 0});
  bench.display.advance_to(Bench::line_ns(1, 960));
  EXPECT_EQ(bench.display.active_image(0)->tile_offset, 7u << 16 | 9);
  EXPECT_EQ(bench.display.active_image(0)->linear_offset, 0x440u);
}

TEST(LaterFlips, OffsetsTakeEffectOnlyWithTheSurface) {
  Bench bench(DeviceId::skl);
  bench.run(0);
  const display::PlaneModel& plane = *bench.display.find_plane(0);
  poke(bench, plane.slots.tile_offset, 0x10002);
  bench.display.advance_to(kSecond);
  EXPECT_EQ(bench.display.active_image(0)->tile_offset, 0u);
  poke(bench, plane.slots.surface, 0x1000);
  bench.display.advance_to(2 * kSecond);
  EXPECT_EQ(bench.display.active_image(0)->tile_offset, 0x10002u);
}

TEST(LaterFlips, TilingCodesOfUniversalPlanesAreKept) {
  Bench bench(DeviceId::icl);
  const display::PlaneModel& plane = *bench.display.find_plane(4);
  bench.display.flip({.plane = 4, .base = 0x1000, .pitch = 40 * 64, .tiled = 4});
  EXPECT_EQ(bench.mmio.bank().read(*plane.slots.control), 4u << 10);
  EXPECT_EQ(bench.mmio.bank().read(*plane.slots.stride), 40u);
  bench.display.flip({.plane = 4, .async = true, .base = 0x3000});
  EXPECT_TRUE(bench.events.events().empty()) << "Y tiled surfaces allow immediate flips";
  EXPECT_EQ(bench.display.active_image(4)->surface, 0x3000u);
}

TEST(LaterFlips, FlipsShowInCherryviewsPipeStatus) {
  Bench bench(DeviceId::chv);
  for (unsigned pipe = 0; pipe < 3; ++pipe) {
    bench.run(pipe);
    for (unsigned place = 0; place < 3; ++place) {
      poke(bench, bench.display.find_plane(pipe, place)->slots.surface, 0x1000);
    }
  }
  bench.display.advance_to(Bench::line_ns(0, 960));
  for (unsigned pipe = 0; pipe < 3; ++pipe) {
    EXPECT_EQ(bench.pipe_read("PIPESTAT", pipe), 1u << 15 | 1u << 14 | 1u << 10 | 0b110);
  }
}

}  // namespace
}  // namespace halogen::display::display_test
