// Pipes through their registers, on every device: starting, counters, status, transcoders.
#include <gtest/gtest.h>

#include <map>

#include "spec/field_visitor.h"
#include "unit/display/display_bench.h"

namespace halogen::display::display_test {
namespace {

class Pipes : public testing::TestWithParam<DeviceId> {};
INSTANTIATE_TEST_SUITE_P(All, Pipes, testing::ValuesIn(all_devices()), device_name);

// The pipes of each chip, and the offsets at which its public driver accesses the transcoder and pipe registers.
struct Place {
  unsigned pipes;
  uint32_t base;    // base of the display block
  uint32_t pipe_c;  // pipe C lies this many pipe widths above A
};
const Place& place_of(DeviceId id) {
  static const std::map<std::string_view, Place> kPlaces = {
      {"i965", {2, 0, 0}}, {"gm965", {2, 0, 0}}, {"g45", {2, 0, 0}},        {"gm45", {2, 0, 0}},
      {"snb", {2, 0, 0}},  {"bdw", {3, 0, 2}},   {"skl", {3, 0, 2}},        {"icl", {3, 0, 2}},
      {"tgl", {4, 0, 2}},  {"dg1", {4, 0, 2}},   {"chv", {3, 0x180000, 3}},
  };
  return kPlaces.at(spec::model(id).name);
}

TEST_P(Pipes, RegistersAreAtTheDriversOffsets) {
  Bench bench(GetParam());
  const Place& place = place_of(GetParam());
  ASSERT_EQ(bench.display.pipes(), place.pipes);
  for (unsigned pipe = 0; pipe < place.pipes; ++pipe) {
    const bool chv_c = place.base != 0 && pipe == 2;
    const uint32_t transcoder = place.base + 0x60000 + 0x1000 * (pipe == 2 ? place.pipe_c : pipe);
    const uint32_t at = place.base + 0x70000 + 0x1000 * (chv_c ? 4 : pipe);
    const auto offset = [&](std::string_view name) {
      return bench.slot(Bench::suffixed(name, pipe), pipe < 2 ? pipe : 0).offset;
    };
    EXPECT_EQ(offset("HTOTAL"), transcoder);
    EXPECT_EQ(offset("HBLANK"), transcoder + 0x4);
    EXPECT_EQ(offset("HSYNC"), transcoder + 0x8);
    EXPECT_EQ(offset("VTOTAL"), transcoder + 0xc);
    EXPECT_EQ(offset("VBLANK"), transcoder + 0x10);
    EXPECT_EQ(offset("VSYNC"), transcoder + 0x14);
    EXPECT_EQ(offset("PIPESRC"), transcoder + 0x1c);
    EXPECT_EQ(offset("PIPEDSL"), at);
    EXPECT_EQ(offset("PIPECONF"), at + 0x8);
    if (bench.has("PIPEFRAMEHIGH")) {
      EXPECT_EQ(offset("PIPEFRAMEHIGH"), at + 0x40);
      EXPECT_EQ(offset("PIPEFRAMEPIXEL"), at + 0x44);
    } else {
      EXPECT_EQ(offset("PIPE_FRMCOUNT"), at + 0x40);
      EXPECT_EQ(offset("PIPE_FLIPCOUNT"), at + 0x44);
    }
    if (bench.has("PIPESTAT")) {
      EXPECT_EQ(offset("PIPESTAT"), at + 0x24);
    }
  }
}

// The structures of A and B also decode the items of pipes C and D and of the panel.
TEST_P(Pipes, OtherPipesHaveTheLayoutsOfAAndB) {
  Bench bench(GetParam());
  const std::map<std::string_view, std::vector<std::string_view>> fields = {
      {"HTOTAL", {"total", "active"}},
      {"HBLANK", {"blank_start", "blank_end"}},
      {"HSYNC", {"sync_start", "sync_end"}},
      {"VTOTAL", {"total", "active"}},
      {"VBLANK", {"blank_start", "blank_end"}},
      {"VSYNC", {"sync_start", "sync_end"}},
      {"PIPECONF", {"pipe_enable", "pipe_state", "interlace_mode"}},
      {"PIPEDSL", {"line_counter", "current_field"}},
      {"PIPESRC", {"horizontal_size", "vertical_size"}},
      {"PIPESTAT", {"vblank_status", "vblank_enable", "plane_flip_done_status"}},
  };
  const spec::GenId gen = bench.model.gen;
  for (const auto& [name, members] : fields) {
    for (const std::string_view suffix : {"_C", "_D", "_EDP"}) {
      const std::string other = std::string(name).append(suffix);
      if (!bench.has(other)) {
        continue;
      }
      for (const std::string_view member : members) {
        const spec::FieldDesc* a = spec::find_field(*spec::find_register(name), gen, member);
        const spec::FieldDesc* b = spec::find_field(*spec::find_register(other), gen, member);
        ASSERT_EQ(a == nullptr, b == nullptr) << other << " " << member;
        if (a != nullptr) {
          EXPECT_EQ(a->first_bit, b->first_bit) << other << " " << member;
          EXPECT_EQ(a->width, b->width) << other << " " << member;
        }
      }
    }
  }
}

TEST_P(Pipes, PipeRunsOnlyWhileEnabled) {
  Bench bench(GetParam());
  for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
    EXPECT_FALSE(bench.display.pipe_running(pipe));
    EXPECT_EQ(bench.display.next_vblank(pipe), std::nullopt);
    bench.program(pipe, kMode);
    EXPECT_FALSE(bench.display.pipe_running(pipe));
    bench.enable(pipe);
    EXPECT_TRUE(bench.display.pipe_running(pipe));
    EXPECT_EQ(bench.pipe_read("PIPECONF", pipe), Bench::kEnable | Bench::kState);
    bench.enable(pipe, false);
    EXPECT_FALSE(bench.display.pipe_running(pipe));
    EXPECT_EQ(bench.pipe_read("PIPECONF", pipe), 0u);
  }
  EXPECT_FALSE(bench.display.pipe_running(bench.display.pipes()));
  EXPECT_FALSE(bench.display.pipe_running(~0u));
  EXPECT_EQ(bench.display.next_event(), std::nullopt);
  EXPECT_TRUE(bench.events.events().empty());
}

TEST_P(Pipes, InvalidTimingsAreReportedOnceAndDoNotRun) {
  Bench bench(GetParam());
  bench.enable(0);
  EXPECT_FALSE(bench.display.pipe_running(0));
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  bench.pipe_write("HTOTAL", 0, Bench::pair(4, 8));
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 1u);
  bench.program(0, kMode);
  EXPECT_TRUE(bench.display.pipe_running(0));
  bench.pipe_write("VTOTAL", 0, 0);
  EXPECT_FALSE(bench.display.pipe_running(0));
  EXPECT_EQ(bench.pipe_read("PIPECONF", 0), Bench::kEnable);
  EXPECT_EQ(bench.events.count(EventKind::undefined_behaviour), 2u);
}

TEST_P(Pipes, ScanLineAndFrameCountersFollowTheClock) {
  Bench bench(GetParam());
  for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
    bench.run(pipe);
  }
  // In line 7 of frame 3, and in line 999 of frame 5: from the definition of the registers.
  for (const auto& [frame, line] : {std::pair<uint64_t, uint32_t>{0, 0}, {3, 7}, {3, 960}, {5, 999}, {70'000'000, 1}}) {
    bench.display.advance_to(Bench::line_ns(frame, line) + 5000);
    for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
      EXPECT_EQ(bench.display.line(pipe), line);
      EXPECT_EQ(bench.pipe_read("PIPEDSL", pipe), (line + 999) % 1000);
      EXPECT_EQ(bench.display.in_vblank(pipe), line >= 960);
      const uint64_t vblanks = frame + (line >= 960 ? 1 : 0);
      EXPECT_EQ(bench.display.vblank_count(pipe), vblanks);
      if (bench.has("PIPE_FRMCOUNT")) {
        EXPECT_EQ(bench.pipe_read("PIPE_FRMCOUNT", pipe), static_cast<uint32_t>(vblanks));
      } else {
        // Frames begin with the first active pixel, which is 144 pixels after the sync; 5000 ns are 240 pixels.
        const uint64_t number = frame + 1;
        const uint32_t pixel = line * 800 + 240 - 144;
        EXPECT_EQ(bench.pipe_read("PIPEFRAMEHIGH", pipe), number >> 8 & 0xffff);
        EXPECT_EQ(bench.pipe_read("PIPEFRAMEPIXEL", pipe) >> 24, number & 0xff);
        EXPECT_NEAR(bench.pipe_read("PIPEFRAMEPIXEL", pipe) & 0xffffff, pixel, 1);
      }
      if (bench.has("PIPE_FRMTMSTMP") && vblanks > 0) {
        EXPECT_EQ(bench.pipe_read("PIPE_FRMTMSTMP", pipe),
                  static_cast<uint32_t>(Bench::line_ns(vblanks - 1, 960) / 1000));
      }
    }
  }
}

TEST_P(Pipes, CountersContinueWhenAPipeIsRestarted) {
  Bench bench(GetParam());
  bench.run(0);
  bench.display.advance_to(Bench::line_ns(4, 961));
  bench.enable(0, false);
  EXPECT_EQ(bench.pipe_read("PIPEDSL", 0), 0u);
  bench.display.advance_to(kSecond);
  EXPECT_EQ(bench.display.vblank_count(0), 5u);
  bench.enable(0);
  EXPECT_EQ(bench.display.line(0), 0u);
  EXPECT_EQ(bench.display.next_event(), kSecond + Bench::line_ns(0, 960));
  if (bench.has("PIPE_FRMTMSTMP")) {
    EXPECT_EQ(bench.read("PIPE_FRMTMSTMP"), Bench::line_ns(4, 960) / 1000) << "time of the last vertical blank";
  }
  bench.display.advance_to(kSecond + Bench::line_ns(1, 959));
  EXPECT_EQ(bench.display.vblank_count(0), 6u);
  if (bench.has("PIPEFRAMEPIXEL")) {
    EXPECT_EQ(bench.read("PIPEFRAMEPIXEL") >> 24, 7u) << "five frames began before the restart, two since";
  }
  bench.enable(0, false);
  bench.enable(0);
  EXPECT_EQ(bench.display.vblank_count(0), 6u);
  if (bench.has("PIPEFRAMEPIXEL")) {
    EXPECT_EQ(bench.read("PIPEFRAMEPIXEL") >> 24, 7u);
  }
}

TEST_P(Pipes, NewTimingsRestartARunningPipe) {
  Bench bench(GetParam());
  bench.run(0);
  bench.display.advance_to(Bench::line_ns(2, 500));
  const uint64_t start = bench.display.now_ns();
  bench.pipe_write("VTOTAL", 0, Bench::pair(2000, 960));
  EXPECT_EQ(bench.display.line(0), 0u);
  bench.display.advance_to(start + kSecond);  // sixty frames again
  EXPECT_EQ(bench.display.vblank_count(0), 62u);
  bench.pipe_write("VTOTAL", 0, Bench::pair(2000, 960));  // the same value: no restart
  EXPECT_EQ(bench.display.line(0), 0u);
  bench.display.advance_to(start + kSecond + 8000 * 50);
  const unsigned line = bench.display.line(0);
  EXPECT_GT(line, 10u);
  bench.pipe_write("VTOTAL", 0, Bench::pair(2000, 960));
  EXPECT_EQ(bench.display.line(0), line);
}

TEST_P(Pipes, ReadOnlyCountersIgnoreWrites) {
  Bench bench(GetParam());
  bench.run(0);
  bench.display.advance_to(Bench::line_ns(1, 30));
  bench.pipe_write("PIPEDSL", 0, 0x1fff);
  EXPECT_EQ(bench.pipe_read("PIPEDSL", 0), 29u);
}

TEST(PanelTranscoder, DrivesThePipeThatFeedsIt) {
  for (const DeviceId id : all_devices()) {
    Bench bench(id);
    if (!bench.has("HTOTAL_EDP")) {
      continue;
    }
    const uint32_t inputs[] = {0x8000'4000, 0x8000'5000, 0x8000'6000};
    for (unsigned pipe = 0; pipe < 3; ++pipe) {
      bench.write("TRANS_DDI_FUNC_CTL_EDP", 0, inputs[pipe]);
      bench.write("HTOTAL_EDP", 0, Bench::pair(kMode.h_total, kMode.h_active));
      bench.write("VTOTAL_EDP", 0, Bench::pair(kMode.v_total, kMode.v_active));
      bench.write("PIPECONF_EDP", 0, Bench::kEnable);
      for (unsigned other = 0; other < 3; ++other) {
        EXPECT_EQ(bench.display.pipe_running(other), other == pipe);
      }
      EXPECT_EQ(bench.read("PIPECONF_EDP"), Bench::kEnable | Bench::kState);
      EXPECT_EQ(bench.pipe_read("PIPECONF", pipe), 0u);
    }
    bench.write("TRANS_DDI_FUNC_CTL_EDP", 0, 0x8000'0000);
    EXPECT_TRUE(bench.display.pipe_running(0)) << "input A, always enabled";
    bench.write("TRANS_DDI_FUNC_CTL_EDP", 0, 0);
    EXPECT_FALSE(bench.display.pipe_running(0));
    EXPECT_EQ(bench.read("PIPECONF_EDP"), Bench::kEnable);
  }
}

TEST(PipeClock, Gen4ClockComesFromTheGenerator) {
  Bench bench(DeviceId::g45);
  bench.program(0, kMode);
  // 96 MHz * 80 / 5 / (2 * 10) = 76.8 MHz: 96 frames per second.
  bench.write("FP", 0, 3u << 16 | 12u << 8 | 8);
  bench.write("FP", 1, 1u << 16 | 12u << 8 | 8);
  bench.write("DPLL", 0, 0x8000'0000 | 1u << 26 | 0b10u << 16);
  bench.enable(0);
  EXPECT_EQ(bench.display.next_event(), uint64_t{960} * 800 * 10'000 / 768);
  bench.display.advance_to(kSecond);
  EXPECT_EQ(bench.display.vblank_count(0), 96u);
  // The second divisors: 128 MHz, 160 frames per second.
  bench.write("DPLL", 0, 0x8000'0000 | 1u << 26 | 0b10u << 16 | 1u << 8);
  bench.display.advance_to(2 * kSecond);
  EXPECT_EQ(bench.display.vblank_count(0), 96u + 160u);
  FidelityReport report;
  bench.display.report(report);
  EXPECT_TRUE(report.entries().empty());
  bench.write("DPLL", 0, 0);
  bench.display.advance_to(3 * kSecond);
  EXPECT_EQ(bench.display.vblank_count(0), 96u + 160u + 60u);
  bench.display.report(report);
  EXPECT_EQ(report.total(FidelityClass::approximate), 1u);
}

// NOTES-IRQ-01, the display's part: the enable bit of the pipe forwards its vertical blank.
TEST(PipeStatus, LatchesVblankAndRaisesTheEventOnlyWhileEnabled) {
  for (const DeviceId id : {DeviceId::i965, DeviceId::gm965, DeviceId::g45, DeviceId::gm45, DeviceId::chv}) {
    Bench bench(id);
    for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
      bench.run(pipe);
    }
    bench.display.advance_to(Bench::line_ns(0, 961));
    EXPECT_TRUE(bench.recorder.of("event").empty());
    for (unsigned pipe = 0; pipe < bench.display.pipes(); ++pipe) {
      EXPECT_FALSE(bench.display.vblank_wait_enabled(pipe));
      EXPECT_EQ(bench.pipe_read("PIPESTAT", pipe), 0b110u) << "start of vertical blank, vertical blank";
      bench.pipe_write("PIPESTAT", pipe, 0xffff);
      EXPECT_EQ(bench.pipe_read("PIPESTAT", pipe), 0u);
      bench.pipe_write("PIPESTAT", pipe, 1u << 17);
      EXPECT_TRUE(bench.display.vblank_wait_enabled(pipe));
    }
    bench.recorder.heard.clear();
    bench.display.advance_to(Bench::line_ns(1, 961));
    EXPECT_EQ(bench.recorder.of("event").size(), bench.display.pipes());
    EXPECT_EQ(bench.recorder.of("event")[0].at, Bench::line_ns(1, 960));
    bench.display.advance_to(Bench::line_ns(2, 961));
    EXPECT_EQ(bench.recorder.of("event").size(), bench.display.pipes()) << "still asserted, no new edge";
    bench.pipe_write("PIPESTAT", 0, 1u << 17 | 0b110);
    EXPECT_EQ(bench.recorder.heard.back().what, "event gone");
    EXPECT_EQ(bench.pipe_read("PIPESTAT", 0), 1u << 17 | 1u << 9) << "enable and vertical sync stay";
    // Enabling later raises the event too, because the signal is a level.
    bench.pipe_write("PIPESTAT", 1, 0b110);
    bench.display.advance_to(Bench::line_ns(3, 961));
    bench.recorder.heard.clear();
    bench.pipe_write("PIPESTAT", 1, 1u << 18);
    ASSERT_EQ(bench.recorder.heard.size(), 1u);
    EXPECT_EQ(bench.recorder.heard[0].what, "event");
  }
}

TEST(PipeStatus, VblankWaitsNeedNoEnableIfThePipeHasNone) {
  Bench bench(DeviceId::snb);
  EXPECT_TRUE(bench.display.vblank_wait_enabled(0));
  EXPECT_FALSE(bench.display.vblank_wait_enabled(2));
}

TEST(PipeStatus, VsyncIsLatchedAtItsLine) {
  Bench bench(DeviceId::gm965);
  bench.run(1);
  bench.display.advance_to(Bench::line_ns(0, 999));
  EXPECT_EQ(bench.recorder.of("vsync"), (std::vector<Heard>{{"vsync", 1, Bench::line_ns(0, 970)}}));
  EXPECT_EQ(bench.pipe_read("PIPESTAT", 1), 1u << 9 | 0b110);
}

TEST(Interlaced, RunsAsProgressiveAndReportsTheField) {
  Bench bench(DeviceId::gm45);
  bench.program(0, kMode);
  bench.pipe_write("PIPECONF", 0, Bench::kEnable | 6u << 21);
  EXPECT_EQ(bench.events.count(EventKind::approximation), 1u);
  EXPECT_EQ(bench.read("PIPEDSL"), 999u);
  bench.display.advance_to(Bench::line_ns(0, 965));
  EXPECT_EQ(bench.read("PIPESTAT") & 0x30, 1u << 5);
  EXPECT_EQ(bench.read("PIPEDSL"), 0x8000'0000 | 964u);
  bench.write("PIPESTAT", 0, 0xffff);
  bench.display.advance_to(Bench::line_ns(1, 965));
  EXPECT_EQ(bench.read("PIPESTAT") & 0x30, 1u << 4);
  EXPECT_EQ(bench.read("PIPEDSL"), 964u);
}

TEST(Hblank, ListenerIsNotifiedWhileWatched) {
  Bench bench(DeviceId::g45);
  bench.run(0);
  bench.display.advance_to(Bench::line_ns(0, 3));
  EXPECT_TRUE(bench.recorder.of("hblank").empty());
  bench.display.watch(0, display::PipeEdge::hblank, true);
  // The line begins at column 656; the blank follows 784 pixels later, at column 640 of the active line.
  const uint64_t pixels = 3 * 800 + 784;
  const uint64_t at = (pixels * kSecond + 47'999'999) / 48'000'000;
  EXPECT_EQ(bench.display.next_event(), at);
  EXPECT_EQ(bench.display.next_hblank(0), at);
  bench.display.advance_to(at - 1);
  EXPECT_FALSE(bench.display.in_hblank(0));
  bench.display.advance_to(at);
  EXPECT_TRUE(bench.display.in_hblank(0));
  EXPECT_EQ(bench.recorder.of("hblank"), (std::vector<Heard>{{"hblank", 0, at}}));
  bench.display.watch(0, display::PipeEdge::hblank, false);
  EXPECT_EQ(bench.display.next_event(), Bench::line_ns(0, 960));
}

TEST(Hblank, EventFollowsTheTimeOfTheRequest) {
  // The blank begins with the sync, and both begin every line, so the vertical blank begins with them too.
  Bench bench(DeviceId::g45);
  Mode mode = kMode;
  mode.h_sync_start = mode.h_active;
  bench.run(0, mode);
  bench.recorder.then = [&](const Heard& heard) {
    bench.display.watch(0, display::PipeEdge::hblank, heard.what == "vblank");
  };
  bench.display.advance_to(Bench::line_ns(0, 965));
  EXPECT_EQ(bench.recorder.of("hblank"), (std::vector<Heard>{{"hblank", 0, Bench::line_ns(0, 961)}}));
}

TEST(Hblank, CherryviewEnablesHblankInThePipeStatus) {
  Bench bench(DeviceId::chv);
  bench.run(0);
  bench.recorder.then = [&](const Heard& heard) {
    if (heard.what == "vblank") {
      bench.write("PIPESTAT", 0, 1u << 16 | 0xffff);
    }
    if (heard.what == "hblank") {
      EXPECT_EQ(bench.read("PIPESTAT") & 1, 1u);
      bench.write("PIPESTAT", 0, 0xffff);
    }
  };
  bench.display.advance_to(Bench::line_ns(0, 965));
  ASSERT_EQ(bench.recorder.of("hblank").size(), 1u);
  EXPECT_GT(bench.recorder.of("hblank")[0].at, Bench::line_ns(0, 960));
  EXPECT_LT(bench.recorder.of("hblank")[0].at, Bench::line_ns(0, 961));
  EXPECT_EQ(bench.recorder.of("event").size(), 1u);
}

TEST(Reset, ResetClearsEverythingExceptTime) {
  Bench bench(DeviceId::g45);
  bench.run(0);
  bench.display.load_scan_lines(0, 1, 2, true);
  bench.display.advance_to(kSecond);
  bench.mmio.reset();
  bench.display.reset();
  EXPECT_FALSE(bench.display.pipe_running(0));
  EXPECT_EQ(bench.display.now_ns(), kSecond);
  Bench fresh(DeviceId::g45);
  fresh.display.advance_to(kSecond);
  EXPECT_EQ(bench.display.snapshot(), fresh.display.snapshot());
}

TEST(Refresh, ReloadsTheStateFromTheRegisters) {
  Bench bench(DeviceId::skl);
  Bench other(DeviceId::skl);
  other.run(2);
  bench.mmio.bank().restore(other.mmio.bank().state());
  EXPECT_FALSE(bench.display.pipe_running(2));
  bench.display.refresh();
  EXPECT_TRUE(bench.display.pipe_running(2));
}

}  // namespace
}  // namespace halogen::display::display_test
