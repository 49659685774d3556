// Virtual time: order, steps of any length, snapshots, and random guests.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "unit/display/display_bench.h"

namespace halogen::display::display_test {
namespace {

class Time : public testing::TestWithParam<DeviceId> {};
INSTANTIATE_TEST_SUITE_P(All, Time, testing::ValuesIn(all_devices()), device_name);

TEST_P(Time, NextEventStepsSeeEveryEdgeInOrder) {
  Bench bench(GetParam());
  Mode other = kMode;
  other.v_active = 777;
  other.v_total = 1010;
  bench.run(0);
  bench.run(1, other);
  uint64_t events = 0;
  while (bench.display.next_event().value() <= kSecond) {
    const uint64_t next = *bench.display.next_event();
    ASSERT_GT(next, bench.display.now_ns());
    bench.display.advance_to(next);
    ASSERT_GT(bench.display.next_event().value(), next);
    ++events;
  }
  EXPECT_EQ(events, 120u);
  const std::vector<Heard> vblanks = bench.recorder.of("vblank");
  ASSERT_EQ(vblanks.size(), 120u);
  for (uint64_t frame = 0; frame < 60; ++frame) {
    EXPECT_EQ(vblanks[2 * frame], (Heard{"vblank", 1, Bench::line_ns(frame, 777, other)}));
    EXPECT_EQ(vblanks[2 * frame + 1], (Heard{"vblank", 0, Bench::line_ns(frame, 960)}));
  }
  EXPECT_EQ(bench.display.skipped_edges(), 0u);
}

TEST_P(Time, LongStepReportsFirstAndLatestEdgesAndCountsTheRest) {
  Bench bench(GetParam());
  bench.run(0);
  bench.display.advance_to(1000 * kSecond);
  const std::vector<Heard> vblanks = bench.recorder.of("vblank");
  ASSERT_EQ(vblanks.size(), 1u + Display::kLatestEdges);
  EXPECT_EQ(vblanks[0].at, Bench::line_ns(0, 960));
  for (uint64_t i = 0; i < Display::kLatestEdges; ++i) {
    EXPECT_EQ(vblanks[1 + i].at, Bench::line_ns(60'000 - Display::kLatestEdges + i, 960));
  }
  EXPECT_EQ(bench.display.vblank_count(0), 60'000u);
  // Vertical blanks and vertical syncs.
  EXPECT_EQ(bench.display.skipped_edges(), 2 * (60'000u - 1 - Display::kLatestEdges));
}

TEST_P(Time, StepsOfHundredsOfYearsAreCheapAndExact) {
  Bench bench(GetParam());
  for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
    bench.run(pipe);
    bench.display.watch(pipe, display::PipeEdge::hblank, true);
    bench.display.load_scan_lines(pipe, 10, 20, pipe % 2 == 0);
  }
  bench.display.flip({.plane = 0, .base = 0x4000, .pitch = 4096, .tiled = 1});
  const uint64_t half = uint64_t{1} << 63;
  bench.display.advance_to(half);
  // Five kinds of edges with a few reports each, and the completed flip.
  EXPECT_LE(bench.recorder.heard.size(), bench.display.pipes() * (5 * 5 + 3));
  EXPECT_FALSE(bench.display.flip_pending(0));
  EXPECT_EQ(bench.display.active_image(0)->surface, 0x4000u);
  for (size_t i = 1; i < bench.recorder.heard.size(); ++i) {
    EXPECT_LE(bench.recorder.heard[i - 1].at, bench.recorder.heard[i].at);
  }
  // 60 frames per second since the start, 960 lines into a frame.
  const uint64_t seconds = half / kSecond;
  const uint64_t rest = half % kSecond * 60 % kSecond;
  EXPECT_EQ(bench.display.vblank_count(0),
            seconds * 60 + half % kSecond * 60 / kSecond + (rest * 1000 / kSecond >= 960 ? 1 : 0));
  bench.display.advance_to(std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(bench.display.now_ns(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(bench.display.next_event(), std::nullopt) << "the end of time";
  bench.display.advance_to(5);
  EXPECT_EQ(bench.display.now_ns(), std::numeric_limits<uint64_t>::max()) << "and time does not go back";
}

TEST_P(Time, FlipsRequestedByAnEventHappenInTheSameStep) {
  Bench bench(GetParam());
  bench.run(0);
  uint32_t base = 0;
  bench.recorder.then = [&](const Heard& heard) {
    if (heard.what == "flip done" && base < 10) {
      ++base;
      bench.display.flip({.plane = 0, .base = base << 12, .pitch = 4096, .tiled = 1});
    }
  };
  bench.display.flip({.plane = 0, .base = 0xff000, .pitch = 4096, .tiled = 1});
  bench.display.advance_to(kSecond);
  const std::vector<Heard> done = bench.recorder.of("flip done");
  ASSERT_EQ(done.size(), 11u);
  for (uint64_t i = 0; i < done.size(); ++i) {
    EXPECT_EQ(done[i].at, Bench::line_ns(i, 960));
  }
  EXPECT_TRUE(bench.events.events().empty());
}

TEST_P(Time, ListenerThatAlwaysFlipsDoesNotBlockAStep) {
  Bench bench(GetParam());
  bench.run(0);
  uint32_t base = 0;
  bench.recorder.then = [&](const Heard& heard) {
    if (heard.what == "flip done") {
      bench.display.flip({.plane = 0, .base = ++base << 12, .pitch = 4096, .tiled = 1});
    }
  };
  bench.display.flip({.plane = 0, .base = 0xff000, .pitch = 4096, .tiled = 1});
  bench.display.advance_to(uint64_t{1} << 62);
  EXPECT_EQ(bench.recorder.of("flip done").size(), Display::kWaitedEdges + Display::kLatestEdges);
}

TEST_P(Time, ListenersMayStopAPipeOrLoadAWindow) {
  Bench bench(GetParam());
  bench.run(0);
  bench.recorder.then = [&](const Heard& heard) {
    if (heard.what == "vblank" && bench.display.vblank_count(0) == 2) {
      bench.display.load_scan_lines(0, 960, 960, true);
      bench.display.watch(0, display::PipeEdge::hblank, true);
    }
    if (heard.what == "vblank" && bench.display.vblank_count(0) == 3) {
      bench.enable(0, false);
    }
  };
  bench.display.advance_to(Bench::line_ns(4, 0));
  EXPECT_FALSE(bench.display.pipe_running(0));
  EXPECT_EQ(bench.display.vblank_count(0), 3u);
  EXPECT_EQ(bench.recorder.of("vblank").size(), 3u);
  // Inside at once, outside one line later; at the third blank the pipe stops before the line is inside again.
  EXPECT_EQ(bench.recorder.of("in"), (std::vector<Heard>{{"in", 0, Bench::line_ns(1, 960)}}));
  EXPECT_EQ(bench.recorder.of("out"), (std::vector<Heard>{{"out", 0, Bench::line_ns(1, 961)}}));
  for (size_t i = 1; i < bench.recorder.heard.size(); ++i) {
    EXPECT_LE(bench.recorder.heard[i - 1].at, bench.recorder.heard[i].at);
  }
  EXPECT_GE(bench.recorder.of("hblank").front().at, Bench::line_ns(1, 960));
}

// Guests with random display register writes, random commands, and steps of all lengths.
class Guest {
 public:
  Guest(Bench& bench, uint64_t seed) : bench_(bench), random_(seed) {
    for (const mmio::RegisterSlot& slot : bench.mmio.bank().map().slots()) {
      const std::string_view topic = slot.desc->topic;
      if (topic.starts_with("display_") && !topic.starts_with("display_cursor")) {
        slots_.push_back(&slot);
        (topic == "display_timing" || topic == "display_pipe" ? timing_ : planes_).push_back(&slot);
      }
    }
  }

  void act() {
    const uint64_t now = bench_.display.now_ns();
    const auto pipe = static_cast<unsigned>(random_() % 5);
    switch (random_() % 10) {
      case 0:
      case 1:
        bench_.mmio.bank().write(*pick(timing_), value(), lanes());
        break;
      case 2:
        bench_.mmio.bank().write(*pick(planes_), value(), lanes());
        break;
      case 3: {
        const unsigned running = static_cast<unsigned>(random_() % bench_.display.pipes());
        Mode mode = kMode;
        mode.h_total = 641 + static_cast<uint32_t>(random_() % 4000);
        mode.v_total = 961 + static_cast<uint32_t>(random_() % 4000);
        bench_.run(running, mode);
        break;
      }
      case 4:
        bench_.display.flip(
            {.plane = static_cast<unsigned>(random_() % 34),
             .async = coin(),
             .queued = coin(),
             .base = value(),
             .pitch = value(),
             .tiled = static_cast<uint8_t>(random_()),
             .fitter = coin() ? std::optional(PanelFitter{true, false, 0xffff, 0xffff}) : std::nullopt});
        break;
      case 5:
        bench_.display.overlay_flip(
            {static_cast<display::OverlayMode>(random_() % 4), GgttOffset(value()), coin(), pipe});
        break;
      case 6:
        bench_.display.load_scan_lines(pipe, line(), line(), coin());
        bench_.display.watch(pipe, static_cast<display::PipeEdge>(random_() % 4), coin());
        break;
      case 7:
        checksum_ = checksum_ * 31 + bench_.mmio.bank().read(*pick(slots_));
        break;
      case 8: {
        const uint64_t step = random_() >> (20 + random_() % 44);
        bench_.display.advance_to(step < ~now ? now + step : now);
        break;
      }
      case 9:
        bench_.display.advance_to(bench_.display.next_event().value_or(now));
        break;
    }
  }

  uint64_t checksum() const { return checksum_; }

 private:
  const mmio::RegisterSlot* pick(const std::vector<const mmio::RegisterSlot*>& from) {
    return from[random_() % from.size()];
  }
  bool coin() { return random_() % 2 == 0; }
  uint32_t value() { return static_cast<uint32_t>(random_()) & static_cast<uint32_t>(random_() | random_()); }
  uint32_t lanes() { return random_() % 8 == 0 ? 0x00ff'ff00 : mmio::kAllLanes; }
  unsigned line() { return static_cast<unsigned>(random_() % 5000); }

  Bench& bench_;
  std::mt19937_64 random_;
  std::vector<const mmio::RegisterSlot*> slots_;
  std::vector<const mmio::RegisterSlot*> timing_;
  std::vector<const mmio::RegisterSlot*> planes_;
  uint64_t checksum_ = 0;
};

TEST_P(Time, RandomGuestsDoNotCrash) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Bench bench(GetParam());
    Guest guest(bench, seed);
    for (int i = 0; i < 2000; ++i) {
      guest.act();
      const uint64_t now = bench.display.now_ns();
      for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
        if (bench.display.pipe_running(pipe) && bench.display.next_vblank(pipe).has_value()) {
          ASSERT_GT(*bench.display.next_vblank(pipe), now);
        }
        if (bench.display.window_changes_at(pipe).has_value()) {
          ASSERT_GT(*bench.display.window_changes_at(pipe), now);
        }
      }
      if (bench.display.next_event().has_value()) {
        ASSERT_GT(*bench.display.next_event(), now);
      }
    }
    for (size_t i = 1; i < bench.recorder.heard.size(); ++i) {
      ASSERT_LE(bench.recorder.heard[i - 1].at, bench.recorder.heard[i].at);
    }
    // Nothing waits for a disabled pipe, so no wait is endless.
    for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
      bench.enable(pipe, false);
      if (bench.has("PIPECONF_EDP")) {
        bench.write("PIPECONF_EDP", 0, 0);
      }
    }
    for (const display::PlaneModel& plane : bench.display.planes()) {
      EXPECT_FALSE(bench.display.flip_pending(plane.number));
    }
    EXPECT_FALSE(bench.display.overlay_flip_pending());
    EXPECT_EQ(bench.display.next_event(), std::nullopt);
  }
}

TEST_P(Time, RestoredSnapshotBehavesLikeTheOriginal) {
  for (uint64_t seed = 100; seed < 106; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Bench bench(GetParam());
    Guest before(bench, seed);
    for (int i = 0; i < 500; ++i) {
      before.act();
    }
    Bench copy(GetParam());
    copy.mmio.restore(bench.mmio.state());
    copy.display.restore(bench.display.snapshot());
    ASSERT_EQ(copy.display.snapshot(), bench.display.snapshot());
    bench.recorder.heard.clear();
    Guest one(bench, seed + 1000);
    Guest two(copy, seed + 1000);
    for (int i = 0; i < 500; ++i) {
      one.act();
      two.act();
    }
    EXPECT_EQ(one.checksum(), two.checksum());
    EXPECT_EQ(bench.recorder.heard, copy.recorder.heard);
    EXPECT_EQ(bench.display.snapshot(), copy.display.snapshot());
    EXPECT_EQ(bench.mmio.state(), copy.mmio.state());
  }
}

}  // namespace
}  // namespace halogen::display::display_test
