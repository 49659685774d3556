// The beam position against a walk over every pixel of small frames, and the time conversion against cross
// multiplication.
#include "display/raster.h"

#include <gtest/gtest.h>

#include <random>

namespace halogen::display {
namespace {

ModeTiming small_mode() {
  ModeTiming timing{.h_total = 13,
                    .h_active = 7,
                    .h_blank_start = 8,
                    .h_blank_end = 12,
                    .h_sync_start = 10,
                    .v_total = 9,
                    .v_active = 5,
                    .v_blank_start = 6,
                    .v_blank_end = 8,
                    .v_sync_start = 7};
  EXPECT_EQ(settle(timing), "");
  return timing;
}

// A reference beam: it scans columns and lines, counts lines at the sync, and tracks the vertical blank.
struct Tube {
  const ModeTiming& t;
  uint32_t x, y;
  uint32_t counter;  // line counter
  uint32_t line;     // the line that begins with the last sync

  explicit Tube(const ModeTiming& timing)
      : t(timing), x(timing.h_sync_start), y(timing.v_total - 1), counter(timing.v_total - 1), line(0) {}
  void next() {
    if (++x == t.h_total) {
      x = 0;
      y = (y + 1) % t.v_total;
    }
    if (x == t.h_sync_start) {
      counter = (counter + 1) % t.v_total;
      line = (line + 1) % t.v_total;
    }
  }
};

TEST(Raster, FollowsAReferenceBeam) {
  const Raster raster{small_mode(), {1'000'000'000, 1}};
  const ModeTiming& t = raster.timing;
  Tube tube(t);
  uint64_t vblanks = 0;
  uint64_t hblanks = 0;
  uint64_t frames = 0;
  uint64_t vsyncs = 0;
  for (uint64_t pixel = 0; pixel < 5 * raster.frame_pixels(); ++pixel) {
    ASSERT_EQ(raster.line(pixel), tube.line) << pixel;
    ASSERT_EQ(raster.line_counter(pixel), tube.counter) << pixel;
    ASSERT_EQ(raster.active_offset(pixel), uint64_t{tube.y} * t.h_total + tube.x) << pixel;
    ASSERT_EQ(raster.in_hblank(pixel), tube.x >= t.h_blank_start && tube.x < t.h_blank_end) << pixel;
    ASSERT_EQ(raster.in_vblank(pixel), tube.line >= t.v_blank_start && tube.line < t.v_blank_end) << pixel;
    const bool sync = tube.x == t.h_sync_start;
    vblanks += sync && tube.line == t.v_blank_start;
    vsyncs += sync && tube.line == t.v_sync_start;
    hblanks += tube.x == t.h_blank_start;
    frames += tube.x == 0 && tube.y == 0;
    ASSERT_EQ(static_cast<uint64_t>(raster.vblanks().count(pixel)), vblanks) << pixel;
    ASSERT_EQ(static_cast<uint64_t>(raster.vsyncs().count(pixel)), vsyncs) << pixel;
    ASSERT_EQ(static_cast<uint64_t>(raster.hblanks().count(pixel)), hblanks) << pixel;
    ASSERT_EQ(static_cast<uint64_t>(raster.frames().count(pixel)), frames) << pixel;
    tube.next();
  }
  EXPECT_EQ(vblanks, 5u);
  EXPECT_EQ(hblanks, 45u);
}

TEST(Raster, SpansChangeWhereTheBeamEntersAndLeaves) {
  const Raster raster{small_mode(), {1'000'000'000, 1}};
  const uint32_t total = raster.timing.v_total;
  for (uint32_t first = 0; first < total + 3; ++first) {
    for (uint32_t last = 0; last < total + 3; ++last) {
      const LineSpan span{first, last};
      std::vector<uint64_t> enters;
      std::vector<uint64_t> leaves;
      for (uint32_t line = 0; line < total; ++line) {
        const bool before = span.holds((line + total - 1) % total);
        const bool here = span.holds(line);
        if (here && !before) {
          enters.push_back(line * raster.timing.h_total);
        }
        if (!here && before) {
          leaves.push_back(line * raster.timing.h_total);
        }
      }
      ASSERT_LE(enters.size(), 1u);
      ASSERT_EQ(raster.enters(span).has_value(), !enters.empty()) << first << " " << last;
      ASSERT_EQ(raster.leaves(span).has_value(), !leaves.empty()) << first << " " << last;
      if (!enters.empty()) {
        EXPECT_EQ(raster.enters(span)->first, enters[0]);
        EXPECT_EQ(raster.leaves(span)->first, leaves[0]);
      }
    }
  }
}

TEST(Raster, SpanIncludesItsFirstAndLastLine) {
  EXPECT_TRUE((LineSpan{4, 6}.holds(4)));
  EXPECT_TRUE((LineSpan{4, 6}.holds(6)));
  EXPECT_FALSE((LineSpan{4, 6}.holds(3)));
  EXPECT_FALSE((LineSpan{4, 6}.holds(7)));
  EXPECT_TRUE((LineSpan{5, 5}.holds(5)));
  EXPECT_FALSE((LineSpan{5, 5}.holds(4)));
}

TEST(Raster, TimeOfAPixelIsTheFirstNanosecondThatReachesIt) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20'000; ++i) {
    const PixelClock clock{1 + random() % 40'000'000'000, 1 + random() % 400'000};
    const Raster raster{small_mode(), clock};
    const Pixels pixel = random() >> random() % 63;
    const std::optional<uint64_t> time = raster.when(pixel);
    // time * hertz >= pixel * divisor * 10^9 > (time - 1) * hertz, unless that is out of reach.
    const Pixels need = pixel * clock.divisor * 1'000'000'000;
    if (!time.has_value()) {
      ASSERT_LT(Pixels{~uint64_t{0}} * clock.hertz, need);
      continue;
    }
    ASSERT_GE(Pixels{*time} * clock.hertz, need);
    ASSERT_GE(raster.pixels(*time), pixel);
    if (*time > 0) {
      ASSERT_LT(Pixels{*time - 1} * clock.hertz, need);
      ASSERT_LT(raster.pixels(*time - 1), pixel);
    }
  }
}

TEST(Raster, BeamDoesNotDriftInFiveHundredYears) {
  const Raster raster{small_mode(), {60 * 13 * 9, 1}};
  const uint64_t seconds = 18'446'744'073;  // nearly all that 64 bits of nanoseconds hold
  const Pixels frames = Pixels{seconds} * 60;
  EXPECT_EQ(raster.pixels(seconds * 1'000'000'000), frames * raster.frame_pixels());
  EXPECT_EQ(raster.when(frames * raster.frame_pixels()), seconds * 1'000'000'000);
  EXPECT_EQ(raster.line(raster.pixels(seconds * 1'000'000'000)), 0u);
}

TEST(Raster, ModesWithoutTotalsOrBlankingAreRefused) {
  ModeTiming timing = small_mode();
  timing.h_total = 1;
  EXPECT_NE(settle(timing), "");
  timing = small_mode();
  timing.v_total = 1;
  EXPECT_NE(settle(timing), "");
  timing = small_mode();
  timing.v_active = timing.v_total;
  EXPECT_NE(settle(timing), "");
  timing = small_mode();
  timing.h_active = timing.h_total + 1;
  EXPECT_NE(settle(timing), "");
}

TEST(Raster, BlanksOutsideTheInactivePartAreMoved) {
  ModeTiming timing = small_mode();
  timing.v_blank_start = 1;
  timing.v_blank_end = 1;
  timing.h_blank_start = 400;
  timing.h_sync_start = 0;
  timing.v_sync_start = 4;
  EXPECT_EQ(settle(timing), "");
  EXPECT_EQ(timing.v_blank_start, timing.v_active);
  EXPECT_EQ(timing.v_blank_end, timing.v_total);
  EXPECT_EQ(timing.h_blank_start, timing.h_active);
  EXPECT_EQ(timing.h_sync_start, timing.h_active);
  EXPECT_EQ(timing.v_sync_start, timing.v_active);
}

}  // namespace
}  // namespace halogen::display
