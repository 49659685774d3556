// Flexible EU events: increments, filters and limits, from the tables of the manuals (DG1 PRM, Flexible EU Event
// Counters, seed 000; Cherryview observability, seed 002).
#include "oa/flexible_events.h"

#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "covers.h"
#include "oa_bench.h"

namespace halogen::oa {
namespace {

constexpr EuArray kArray{.eus = 16, .slots = 112};

uint64_t count(const WorkSpan& span, uint64_t clocks, uint8_t increment, uint8_t coarse = 0, uint8_t fine = 0) {
  FlexibleEvents events;
  events[0] = {.increment = increment, .coarse = coarse, .fine = fine};
  IntegratorRests rests{};
  return count_events(events, kArray, span, clocks, rests)[0];
}

// A span of 1000 ns and 750 clocks: the pixel stage in 600 of them with many threads, the compute stage in 400 with
// two.
WorkSpan two_stages() {
  WorkSpan span{.begin_ns = 5000, .end_ns = 6000};
  StageActivity& pixel = span.counts.activity[static_cast<size_t>(Stage::pixel)];
  pixel.issue_clocks[0] = {100, 200, 300, 400};  // ternary, binary, move, other
  pixel.issue_clocks[1] = {0, 10, 20, 30};
  pixel.issue_clocks[2] = {0, 0, 0, 48};
  pixel.sends = 16;
  pixel.active_ns = 600;
  pixel.thread_ns = 600 * 1000;  // a thousand threads
  StageActivity& compute = span.counts.activity[static_cast<size_t>(Stage::compute)];
  compute.issue_clocks[0] = {1, 2, 3, 4};
  compute.active_ns = 400;
  compute.thread_ns = 400 * 2;
  return span;
}

TEST(FlexibleEvents, PipesCountTheirIssueClocks) {
  COVERS("CHV-FLEX-02");
  COVERS("CHV-FLEX-03");
  COVERS("CHV-FLEX-04");
  const WorkSpan span = two_stages();
  EXPECT_EQ(count(span, 750, 0), 1000u + 10);
  EXPECT_EQ(count(span, 750, 1), 60u);
  EXPECT_EQ(count(span, 750, 2), 48u);
}

TEST(FlexibleEvents, CoarseFiltersSelectAStage) {
  COVERS("CHV-FLEX-09");  // with RowsAndNumbersPartitionTheEus
  const WorkSpan span = two_stages();
  EXPECT_EQ(count(span, 750, 0, 5), 1000u) << "pixel";
  EXPECT_EQ(count(span, 750, 0, 6), 10u) << "compute counts as TS";
  for (uint8_t stage = 1; stage < 5; ++stage) EXPECT_EQ(count(span, 750, 0, stage), 0u) << int{stage};
  for (uint8_t code = 1; code <= 6; ++code) {
    WorkSpan each{.begin_ns = 0, .end_ns = 1000};
    constexpr std::array kStages{Stage::vertex,   Stage::hull,  Stage::domain,
                                 Stage::geometry, Stage::pixel, Stage::compute};
    StageActivity& stage = each.counts.activity[static_cast<size_t>(kStages[code - 1])];
    stage.issue_clocks[0][3] = 5;
    stage.active_ns = 1000;
    stage.thread_ns = 1000;
    EXPECT_EQ(count(each, 750, 0, code), 5u);
    EXPECT_EQ(count(each, 750, 0, static_cast<uint8_t>(code % 6 + 1)), 0u);
  }
}

TEST(FlexibleEvents, FineFiltersSelectInstructions) {
  COVERS("CHV-FLEX-10");  // with RowsAndNumbersPartitionTheEus
  COVERS("CHV-FLEX-11");
  COVERS("DG1-FLEX-04");
  const WorkSpan span = two_stages();
  EXPECT_EQ(count(span, 750, 0, 0, 2), 101u) << "ternary";
  EXPECT_EQ(count(span, 750, 0, 0, 3), 202u) << "binary";
  EXPECT_EQ(count(span, 750, 0, 0, 4), 303u) << "mov";
  EXPECT_EQ(count(span, 750, 1, 0, 4), 20u);
  EXPECT_EQ(count(span, 750, 2, 0, 5), 16u) << "sends that start";
  EXPECT_EQ(count(span, 750, 0, 0, 1), 0u) << "hybrid: the model has none";
  EXPECT_EQ(count(span, 750, 0, 0, 6), count(span, 750, 0)) << "undefined: no filter";
}

TEST(FlexibleEvents, LoadedTimeIsActiveOrStalled) {
  COVERS("CHV-FLEX-05");
  COVERS("CHV-FLEX-06");
  COVERS("CHV-FLEX-07");
  COVERS("DG1-FLEX-02");
  const WorkSpan span = two_stages();
  // Pixel: all 16 EUs for 600 of 1000 ns; compute: two threads for 400 ns.
  const uint64_t pixel = 16 * 600 * 750 / 1000, compute = 2 * 400 * 750 / 1000;
  EXPECT_EQ(count(span, 750, 4), 1108u + 10) << "no two pipes at once";
  EXPECT_EQ(count(span, 750, 5), pixel - 1108 + compute - 10);
  EXPECT_EQ(count(span, 750, 4) + count(span, 750, 5), pixel + compute);
  EXPECT_EQ(count(span, 750, 3), 0u);
  EXPECT_EQ(count(span, 750, 4, 5), 1108u) << "stages filter these events too";
  EXPECT_EQ(count(span, 750, 5, 6), compute - 10);
}

TEST(FlexibleEvents, CountsNeverExceedTheLoadedClocks) {
  std::mt19937_64 random(1);
  for (unsigned round = 0; round < 500; ++round) {
    WorkSpan span{.begin_ns = random() % 1000};
    const uint64_t length = 1 + random() % 5000;
    span.end_ns = span.begin_ns + length;
    const uint64_t clocks = span.end_ns * 3 / 4 - span.begin_ns * 3 / 4;
    uint64_t left = length;
    for (StageActivity& stage : span.counts.activity) {
      stage.active_ns = random() % (left + 1);
      left -= stage.active_ns;
      stage.thread_ns = stage.active_ns * (random() % 300);
      for (auto& pipe : stage.issue_clocks) {
        for (uint64_t& kind : pipe) kind = random() % (random() % 2 == 0 ? 100 : 1'000'000);
      }
    }
    for (uint8_t event = 0; event < 3; ++event) EXPECT_LE(count(span, clocks, event), 16 * clocks);
    EXPECT_LE(count(span, clocks, 4) + count(span, clocks, 5), 16 * clocks) << round;
    EXPECT_LE(count(span, clocks, 8), 112 * clocks / 8);
  }
}

TEST(FlexibleEvents, RowsAndNumbersPartitionTheEus) {
  const WorkSpan span = two_stages();
  for (uint8_t event = 0; event < 6; ++event) {
    const uint64_t all = count(span, 750, event);
    uint64_t numbers = 0, cells = 0;
    for (uint8_t eu = 7; eu <= 10; ++eu) {
      numbers += count(span, 750, event, 0, eu);
      EXPECT_NEAR(static_cast<double>(count(span, 750, event, 0, eu)), static_cast<double>(all) / 4, 2.0);
      cells += count(span, 750, event, 7, eu) + count(span, 750, event, 8, eu);
    }
    EXPECT_EQ(numbers, all) << int{event};
    EXPECT_EQ(cells, all);
    EXPECT_EQ(count(span, 750, event, 7) + count(span, 750, event, 8), all);
  }
}

TEST(FlexibleEvents, TheIntegratorPulsesOncePerEightLoadedThreads) {
  COVERS("CHV-FLEX-08");
  COVERS("DG1-FLEX-05");
  // Pixel: all 112 slots for 450 clocks; compute: two threads for 300 clocks.
  EXPECT_EQ(count(two_stages(), 750, 8), (uint64_t{112} * 450 + 2 * 300) / 8);
  // Rests are carried from span to span: three threads in one clock each.
  FlexibleEvents events;
  events[3] = {.increment = 8};
  IntegratorRests rests{};
  uint64_t pulses = 0;
  for (unsigned n = 0; n < 80; ++n) {
    WorkSpan span{.begin_ns = 4 * n, .end_ns = 4 * n + 4};
    StageActivity& stage = span.counts.activity[0];
    stage.active_ns = 4;
    stage.thread_ns = 4;
    pulses += count_events(events, kArray, span, 3, rests)[3];
  }
  EXPECT_EQ(pulses, 80u * 3 / 8);
}

TEST(FlexibleEvents, UndefinedCodesCountTheSameEachTime) {
  COVERS("CHV-FLEX-13");
  const WorkSpan span = two_stages();
  for (uint8_t increment = 0; increment < 16; ++increment) {
    for (uint8_t coarse = 0; coarse < 16; ++coarse) {
      for (uint8_t fine = 0; fine < 16; ++fine) {
        const uint64_t counted = count(span, 750, increment, coarse, fine);
        EXPECT_EQ(count(span, 750, increment, coarse, fine), counted);
        EXPECT_LE(counted, 16u * 750);
        if (increment == 6 || increment == 7 || increment > 8) {
          EXPECT_EQ(counted, 0u) << int{increment};
        }
      }
    }
  }
}

// The registers: two events of twelve bits each, in A7 to A20.
class FlexibleRegisters : public ::testing::TestWithParam<const char*> {};

TEST_P(FlexibleRegisters, EachHalfControlsItsCounter) {
  COVERS("CHV-FLEX-12");
  COVERS("DG1-FLEX-06");
  COVERS("CHV-A-02");
  COVERS("CHV-FLEX-01");
  COVERS("DG1-FLEX-01");
  OaBench bench(GetParam());
  constexpr std::array<uint32_t, 7> kOffsets{0xe458, 0xe558, 0xe658, 0xe758, 0xe45c, 0xe55c, 0xe65c};
  for (unsigned counter = 0; counter < 14; ++counter) {
    for (const uint32_t offset : kOffsets) bench.write(offset, 0xff00'f00f);  // no event; the upper bits are ignored
    EXPECT_EQ(bench.read(kOffsets[counter / 2]), 0x00'f00fu);
    const uint32_t both = counter % 2 == 0 ? 0xf050u : 0x05'000fu;  // FPU0 of pixel threads
    bench.write(kOffsets[counter / 2], both);
    bench.set_timer(-1);
    bench.enable();
    EXPECT_TRUE(bench.device->observation().counts_wanted().activity);
    std::vector<uint64_t> before;
    for (unsigned n = 0; n < 14; ++n) before.push_back(bench.a(7 + n));
    WorkSpan span = two_stages();
    span.begin_ns += bench.now();
    span.end_ns += bench.now();
    bench.device->observation().on_engine_work(0, span);
    bench.device->advance(7000);
    for (unsigned n = 0; n < 14; ++n) {
      EXPECT_EQ(bench.a(7 + n) - before[n], n == counter ? 1000u : 0u) << "A" << 7 + n << " of counter " << counter;
    }
    bench.write(kOffsets[counter / 2], 0xffff'ffff);
    EXPECT_FALSE(bench.device->observation().counts_wanted().activity);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, FlexibleRegisters, ::testing::ValuesIn(kOaChips),
                         [](const auto& each) { return std::string(each.param); });

// RenderBasic of tgl and dg1 (Mesa): "some pipe active" on EU numbers 0 to 3 in A7 to A10, "stalled" in A11 to A14, and
// the integrator in A15 to A18. Their sums are the unfiltered events.
TEST(FlexibleRegisters, SumsOverEuNumbersAreTheWholeChip) {
  COVERS("DG1-FLEX-03");  // with CoarseFiltersSelectAStage
  for (const char* const chip : {"tgl", "dg1"}) {
    OaBench bench(chip);
    const OaWrites flex{{0xe458, 0x804704}, {0xe558, 0xA04904}, {0xe658, 0x805705},  {0xe758, 0xA05905},
                        {0xe45c, 0x808708}, {0xe55c, 0xA08908}, {0xe65c, 0xffffffff}};
    bench.put(flex);
    bench.set_timer(-1);
    bench.enable();
    WorkSpan span = two_stages();
    span.begin_ns += bench.now();
    span.end_ns += bench.now();
    bench.device->observation().on_engine_work(0, span);
    bench.device->advance(7000);
    const auto sum = [&](unsigned first) {
      return bench.a(first) + bench.a(first + 1) + bench.a(first + 2) + bench.a(first + 3);
    };
    EXPECT_EQ(sum(7), 1108u + 10);
    // 96 EUs: all for 270 clocks in the pixel stage, two threads for 180 clocks in the compute stage.
    EXPECT_EQ(sum(7) + sum(11), 96u * 270 + 2 * 180);
    EXPECT_NEAR(static_cast<double>(8 * sum(15)), 96 * 7 * 270.0 + 2 * 180, 32);
  }
}

}  // namespace
}  // namespace halogen::oa
