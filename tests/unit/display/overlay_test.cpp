// Overlay flips: requested, replaced, performed at the vertical blank.
#include <gtest/gtest.h>

#include "covers.h"
#include "unit/display/display_bench.h"

namespace halogen::display::display_test {
namespace {

using Names = std::vector<std::string>;

display::OverlayFlip request(display::OverlayMode mode, uint64_t address, bool coefficients = true) {
  return {.mode = mode, .address = GgttOffset(address), .coefficients = coefficients, .pipe = 0};
}

TEST(Overlay, FlipIsPendingUntilItsRegistersAreReadInTheVerticalBlank) {
  Bench bench(DeviceId::i965);
  bench.run(0);
  EXPECT_FALSE(bench.display.overlay_flip_pending());
  bench.display.overlay_flip(request(display::OverlayMode::flip_on, 0x5000));
  EXPECT_TRUE(bench.display.overlay_flip_pending());
  bench.display.advance_to(Bench::line_ns(0, 959));
  EXPECT_TRUE(bench.display.overlay_flip_pending());
  EXPECT_EQ(bench.recorder.order(), (Names{"overlay"}));
  bench.display.advance_to(Bench::line_ns(0, 960));
  EXPECT_FALSE(bench.display.overlay_flip_pending());
  EXPECT_EQ(bench.recorder.order(), (Names{"overlay", "fetch", "overlay done", "vblank"}));
  EXPECT_EQ(bench.recorder.of("fetch"), (std::vector<Heard>{{"fetch", 0x5000, Bench::line_ns(0, 960)}}));
  EXPECT_EQ(bench.display.overlay().active->address.value, 0x5000u);
  EXPECT_EQ(bench.read("PIPESTAT", 0) & 1, 1u) << "overlay updated";
  EXPECT_TRUE(bench.events.events().empty());
}

TEST(Overlay, LaterRequestReplacesAPendingOne) {
  Bench bench(DeviceId::gm965);
  bench.run(0);
  bench.display.overlay_flip(request(display::OverlayMode::flip_on, 0x5000));
  bench.display.overlay_flip(request(display::OverlayMode::flip_continue, 0x6000));
  bench.display.overlay_flip(request(display::OverlayMode::flip_continue, 0x7000));
  bench.display.advance_to(kSecond);
  EXPECT_EQ(bench.recorder.of("fetch").size(), 1u);
  EXPECT_EQ(bench.recorder.of("fetch")[0].index, 0x7000u);
  EXPECT_EQ(bench.recorder.of("overlay").size(), 1u);
  EXPECT_EQ(bench.recorder.of("overlay done").size(), 1u);
  EXPECT_TRUE(bench.events.events().empty());
}

TEST(Overlay, TurningOffReadsNoRegisters) {
  Bench bench(DeviceId::i965);
  bench.run(0);
  bench.display.overlay_flip(request(display::OverlayMode::flip_on, 0x5000));
  bench.display.advance_to(Bench::line_ns(0, 960));
  bench.display.overlay_flip(request(display::OverlayMode::flip_off, 0x6000));
  EXPECT_TRUE(bench.display.overlay_flip_pending());
  bench.display.advance_to(Bench::line_ns(1, 960));
  EXPECT_FALSE(bench.display.overlay_flip_pending());
  EXPECT_EQ(bench.recorder.of("fetch").size(), 1u);
  EXPECT_FALSE(bench.display.overlay().on);
  EXPECT_TRUE(bench.events.events().empty());
}

TEST(Overlay, InvalidSequencesAreReportedAndEnd) {
  Bench bench(DeviceId::i965);
  bench.run(0);
  const auto events_of = [&](const display::OverlayFlip& flip) {
    bench.events.clear();
    bench.display.overlay_flip(flip);
    bench.display.advance_to(bench.display.now_ns() + kSecond);
    EXPECT_FALSE(bench.display.overlay_flip_pending());
    return bench.events.count(EventKind::undefined_behaviour);
  };
  EXPECT_EQ(events_of(request(display::OverlayMode::flip_continue, 0x1000, false)), 1u);
  EXPECT_EQ(events_of(request(display::OverlayMode::flip_on, 0x1000, false)), 0u);
  EXPECT_EQ(events_of(request(display::OverlayMode::flip_on, 0x1000, false)), 1u);
  EXPECT_EQ(events_of(request(display::OverlayMode::flip_off, 0x1000)), 1u) << "coefficients were never loaded";
  EXPECT_EQ(events_of(request(display::OverlayMode::flip_off, 0x1000)), 2u) << "and the overlay is off";
  EXPECT_EQ(events_of(request(display::OverlayMode::reserved, 0x1000)), 1u);
  EXPECT_EQ(events_of(request(display::OverlayMode::flip_on, 0x1000, true)), 0u);
  EXPECT_EQ(events_of(request(display::OverlayMode::flip_off, 0x1000)), 0u);
}

TEST(Overlay, FlipOnADisabledPipeDoesNotHang) {
  Bench bench(DeviceId::i965);
  bench.display.overlay_flip(request(display::OverlayMode::flip_on, 0x5000));
  EXPECT_FALSE(bench.display.overlay_flip_pending());
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  display::OverlayFlip nowhere = request(display::OverlayMode::flip_continue, 0x6000);
  nowhere.pipe = 77;
  bench.display.overlay_flip(nowhere);
  EXPECT_FALSE(bench.display.overlay_flip_pending());
  bench.run(0);
  bench.display.overlay_flip(request(display::OverlayMode::flip_continue, 0x7000));
  EXPECT_TRUE(bench.display.overlay_flip_pending());
  bench.enable(0, false);
  EXPECT_FALSE(bench.display.overlay_flip_pending());
  EXPECT_EQ(bench.display.overlay().active->address.value, 0x7000u);
}

TEST(Overlay, FollowsTheVerticalBlankOfItsPipe) {
  Bench bench(DeviceId::i965);
  Mode short_mode = kMode;
  short_mode.v_active = 300;
  bench.run(0, short_mode);
  bench.run(1);
  display::OverlayFlip flip = request(display::OverlayMode::flip_on, 0x5000);
  flip.pipe = 1;
  bench.display.overlay_flip(flip);
  bench.display.advance_to(Bench::line_ns(0, 960));
  EXPECT_EQ(bench.recorder.of("overlay done"), (std::vector<Heard>{{"overlay done", 0, Bench::line_ns(0, 960)}}));
}

TEST(Vblank, ListenerIsNotifiedAfterFlipsStatusAndOverlay) {
  COVERS("G45-5.3.7-10");
  Bench bench(DeviceId::gm965);
  bench.run(0);
  bench.write("PIPESTAT", 0, 1u << 17);
  bench.display.flip({.plane = 0, .base = 0x4000, .pitch = 4096, .tiled = 1});
  bench.display.overlay_flip(request(display::OverlayMode::flip_on, 0x5000));
  bench.recorder.heard.clear();
  uint32_t seen_status = 0;
  uint32_t seen_surface = 0;
  bool seen_pending = true;
  bench.recorder.then = [&](const Heard& heard) {
    if (heard.what == "vblank") {
      seen_status = bench.read("PIPESTAT", 0);
      seen_surface = bench.display.active_image(0)->surface;
      seen_pending = bench.display.flip_pending(0) || bench.display.overlay_flip_pending();
    }
  };
  // The leading edge is the exact start of line 960.
  bench.display.advance_to(Bench::line_ns(0, 960) - 1);
  EXPECT_TRUE(bench.recorder.heard.empty());
  EXPECT_FALSE(bench.display.in_vblank(0));
  bench.display.advance_to(Bench::line_ns(0, 960));
  EXPECT_TRUE(bench.display.in_vblank(0));
  EXPECT_EQ(bench.recorder.order(), (Names{"flip done", "fetch", "overlay done", "event", "vblank"}));
  EXPECT_EQ(seen_status & 0b111, 0b111u);
  EXPECT_EQ(seen_surface, 0x4000u);
  EXPECT_FALSE(seen_pending);
  // Horizontal blanks: also at the leading edge, when the state already shows it.
  bench.recorder.heard.clear();
  bool in_hblank = false;
  bench.recorder.then = [&](const Heard& heard) { in_hblank = heard.what == "hblank" && bench.display.in_hblank(0); };
  bench.display.watch(0, display::PipeEdge::hblank, true);
  const uint64_t edge = bench.display.next_hblank(0).value();
  bench.display.advance_to(edge - 1);
  EXPECT_FALSE(bench.display.in_hblank(0));
  EXPECT_TRUE(bench.recorder.of("hblank").empty());
  bench.display.advance_to(edge);
  EXPECT_TRUE(in_hblank);
  EXPECT_EQ(bench.recorder.of("hblank"), (std::vector<Heard>{{"hblank", 0, edge}}));
}

}  // namespace
}  // namespace halogen::display::display_test
