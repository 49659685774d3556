// Scan line windows: where the signal of a wait is asserted, and when it changes.
#include <gtest/gtest.h>

#include "unit/display/display_bench.h"

namespace halogen::display::display_test {
namespace {

class Windows : public testing::TestWithParam<DeviceId> {};
INSTANTIATE_TEST_SUITE_P(All, Windows, testing::ValuesIn(all_devices()), device_name);

TEST_P(Windows, WindowDoesNotExistBeforeItIsLoaded) {
  Bench bench(GetParam());
  bench.run(0);
  for (uint64_t line = 0; line < 2000; line += 7) {
    bench.display.advance_to(Bench::line_ns(0, line) + 1);
    EXPECT_FALSE(bench.display.in_window(0));
    EXPECT_EQ(bench.display.window_changes_at(0), std::nullopt);
  }
  EXPECT_TRUE(bench.recorder.of("in").empty());
  EXPECT_FALSE(bench.display.in_window(17));
  EXPECT_EQ(bench.display.window_changes_at(17), std::nullopt);
}

TEST_P(Windows, WindowIncludesItsFirstAndLastLine) {
  for (const bool inclusive : {true, false}) {
    for (const auto& [first, last] : {std::pair{100u, 299u}, {0u, 0u}, {999u, 999u}, {500u, 500u}, {0u, 500u}}) {
      Bench bench(GetParam());
      for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
        bench.run(pipe);
        bench.display.load_scan_lines(pipe, first, last, inclusive);
      }
      for (unsigned line = 0; line < 1000; line += line % 100 < 2 || line % 100 > 97 ? 1u : 32u) {
        bench.display.advance_to(Bench::line_ns(0, line));
        const bool inside = line >= first && line <= last;
        for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
          ASSERT_EQ(bench.display.in_window(pipe), inside == inclusive) << first << " " << last << " " << line;
        }
      }
      EXPECT_TRUE(bench.events.events().empty());
    }
  }
}

TEST_P(Windows, SignalChangesWhereTheBeamCrossesTheWindow) {
  Bench bench(GetParam());
  bench.run(0);
  bench.display.load_scan_lines(0, 100, 299, true);
  EXPECT_EQ(bench.display.window_changes_at(0), Bench::line_ns(0, 100));
  bench.display.advance_to(Bench::line_ns(0, 100));
  EXPECT_TRUE(bench.display.in_window(0));
  EXPECT_EQ(bench.display.window_changes_at(0), Bench::line_ns(0, 300));
  bench.display.advance_to(Bench::line_ns(0, 300) - 1);
  EXPECT_TRUE(bench.display.in_window(0));
  bench.display.advance_to(Bench::line_ns(0, 300));
  EXPECT_FALSE(bench.display.in_window(0));
  EXPECT_EQ(bench.display.window_changes_at(0), Bench::line_ns(1, 100));
  bench.display.advance_to(Bench::line_ns(1, 500));
  std::vector<Heard> heard;
  for (const Heard& one : bench.recorder.heard) {
    if (one.what == "in" || one.what == "out") {
      heard.push_back(one);
    }
  }
  EXPECT_EQ(heard, (std::vector<Heard>{{"in", 0, Bench::line_ns(0, 100)},
                                       {"out", 0, Bench::line_ns(0, 300)},
                                       {"in", 0, Bench::line_ns(1, 100)},
                                       {"out", 0, Bench::line_ns(1, 300)}}));
}

TEST_P(Windows, NewWindowReplacesTheWindowOfItsPipeOnly) {
  Bench bench(GetParam());
  bench.run(0);
  bench.run(1);
  bench.display.load_scan_lines(0, 100, 199, true);
  bench.display.load_scan_lines(1, 100, 199, true);
  bench.display.load_scan_lines(0, 100, 199, false);
  bench.display.advance_to(Bench::line_ns(0, 150));
  EXPECT_FALSE(bench.display.in_window(0));
  EXPECT_TRUE(bench.display.in_window(1));
  bench.display.load_scan_lines(1, 600, 700, true);
  EXPECT_FALSE(bench.display.in_window(1));
  EXPECT_EQ(bench.display.window_changes_at(1), Bench::line_ns(0, 600));
  bench.display.load_scan_lines(0, 600, 700, true);
  EXPECT_EQ(bench.display.window_changes_at(0), Bench::line_ns(0, 600));
}

TEST_P(Windows, WindowOfADisabledPipeDoesNotBlock) {
  Bench bench(GetParam());
  bench.display.load_scan_lines(0, 0, 10, true);
  bench.display.load_scan_lines(1, 0, 10, false);
  EXPECT_FALSE(bench.display.in_window(0));
  EXPECT_FALSE(bench.display.in_window(1));
  EXPECT_EQ(bench.display.window_changes_at(0), std::nullopt);
  bench.run(0);
  EXPECT_TRUE(bench.display.in_window(0));
  EXPECT_EQ(bench.recorder.of("in").size(), 1u);
  bench.enable(0, false);
  EXPECT_FALSE(bench.display.in_window(0));
  EXPECT_EQ(bench.recorder.of("out").size(), 1u);
}

TEST_P(Windows, WindowThatEndsBeforeItStartsWrapsAtTheEndOfTheFrame) {
  Bench bench(GetParam());
  bench.run(0);
  bench.display.load_scan_lines(0, 900, 99, true);
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  EXPECT_TRUE(bench.display.in_window(0));
  EXPECT_EQ(bench.display.window_changes_at(0), Bench::line_ns(0, 100));
  bench.display.advance_to(Bench::line_ns(0, 100));
  EXPECT_FALSE(bench.display.in_window(0));
  EXPECT_EQ(bench.display.window_changes_at(0), Bench::line_ns(0, 900));
}

TEST_P(Windows, WindowBeyondTheFrameNeverChanges) {
  Bench bench(GetParam());
  bench.run(0);
  bench.display.load_scan_lines(0, 1000, 65'535, true);
  EXPECT_FALSE(bench.display.in_window(0));
  EXPECT_EQ(bench.display.window_changes_at(0), std::nullopt);
  bench.display.load_scan_lines(0, 0, 65'535, true);
  EXPECT_TRUE(bench.display.in_window(0));
  EXPECT_EQ(bench.display.window_changes_at(0), std::nullopt);
  bench.display.load_scan_lines(99, 0, 1, true);
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
}

TEST_P(Windows, NextEventIncludesWindowsOnlyWhileWatched) {
  Bench bench(GetParam());
  bench.run(0);
  bench.display.load_scan_lines(0, 100, 299, true);
  EXPECT_EQ(bench.display.next_event(), Bench::line_ns(0, 960));
  bench.display.watch(0, display::PipeEdge::line_compare, true);
  EXPECT_EQ(bench.display.next_event(), Bench::line_ns(0, 100));
  bench.display.watch(0, display::PipeEdge::line_compare, false);
  bench.display.watch(0, display::PipeEdge::vsync, true);
  bench.display.advance_to(Bench::line_ns(0, 960));
  EXPECT_EQ(bench.display.next_event(), Bench::line_ns(0, 970));
  bench.display.watch(99, display::PipeEdge::vsync, true);  // invalid pipe: no effect
}

TEST(WindowRegisters, RegistersShowTheCommandAndLatchTheStatus) {
  Bench bench(DeviceId::g45);
  bench.run(1);
  bench.display.load_scan_lines(1, 0x123, 0x145, true);
  EXPECT_EQ(bench.read("DSLC", 1), 0x8123'0145u);
  EXPECT_EQ(bench.read("DSLC", 0), 0u);
  bench.display.load_scan_lines(1, 0x123, 0x145, false);
  EXPECT_EQ(bench.read("DSLC", 1), 0x0123'0145u);
  bench.display.load_scan_lines(1, 100, 200, true);
  bench.write("PIPESTAT", 1, 0xffff);
  bench.display.advance_to(Bench::line_ns(0, 99));
  EXPECT_EQ(bench.read("PIPESTAT", 1), 0u);
  bench.display.advance_to(Bench::line_ns(0, 100));
  EXPECT_EQ(bench.read("PIPESTAT", 1), 1u << 8);
}

// As the public X driver programs it on Sandy Bridge: the line numbers minus one, with bits 31 and 30 set.
TEST(WindowRegisters, RegisterLoadsAWindowOnSandyBridge) {
  Bench bench(DeviceId::snb);
  bench.run(1);
  bench.write("DE_LOAD_SL", 0, 1u << 31 | 1u << 30 | 1u << 29 | (100 - 1) << 16 | (200 - 1));
  EXPECT_EQ(bench.display.window_changes_at(1), Bench::line_ns(0, 100));
  bench.display.advance_to(Bench::line_ns(0, 200));
  EXPECT_TRUE(bench.display.in_window(1));
  EXPECT_EQ(bench.display.window_changes_at(1), Bench::line_ns(0, 201));
  bench.write("DE_LOAD_SL", 0, 0);
  EXPECT_TRUE(bench.display.in_window(1)) << "no window is loaded";
  EXPECT_TRUE(bench.events.events().empty());
}

TEST(WindowSelect, SelectValuesNamePipesAsTheCommandsDo) {
  EXPECT_EQ(Display::pipe_of_select(0), 0u);
  EXPECT_EQ(Display::pipe_of_select(1), 1u);
  EXPECT_EQ(Display::pipe_of_select(4), 2u);
  EXPECT_EQ(Display::pipe_of_select(5), 3u);
  for (const unsigned reserved : {2u, 3u, 6u, 7u, 8u, 256u}) {
    EXPECT_EQ(Display::pipe_of_select(reserved), std::nullopt);
  }
}

}  // namespace
}  // namespace halogen::display::display_test
