// A counters: spans of work and busy time, shown in linear shares.
#include <random>

#include <gtest/gtest.h>

#include "covers.h"
#include "oa_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kBase = 0x400'0000;

class OaWork : public ::testing::TestWithParam<const char*> {};

oa::WorkCounts all_counts() {
  oa::WorkCounts counts;
  counts.threads = {11, 12, 13, 14, 15, 16};  // vertex, hull, domain, geometry, pixel, compute
  counts.blocks_rasterised = 21;
  counts.blocks_failed_fast = 22;
  counts.blocks_failed_early = 23;
  counts.blocks_killed = 24;
  counts.blocks_failed_late = 25;
  counts.blocks_written = 26;
  counts.blocks_blended = 27;
  counts.blocks_sampled = 28;
  counts.local_reads = 30;
  counts.local_writes = 31;
  counts.memory_lines = 32;
  counts.atomics = 34;
  counts.barriers = 35;
  return counts;
}

void add(OaBench& bench, uint64_t after, uint64_t length, const oa::WorkCounts& counts) {
  const uint64_t begin = bench.now() + after;
  bench.device->observation().on_engine_work(0, {.begin_ns = begin, .end_ns = begin + length, .counts = counts});
}

TEST_P(OaWork, EachCounterCountsItsEvent) {
  COVERS("CHV-A-01");
  COVERS("CHV-A-03");
  COVERS("CHV-A-04");
  COVERS("CHV-A-05");
  COVERS("CHV-A-06");
  COVERS("CHV-A-07");
  COVERS("CHV-A-08");
  COVERS("CHV-A-09");
  COVERS("CHV-A-10");
  COVERS("CHV-A-12");
  COVERS("CHV-A-13");
  COVERS("CHV-A-14");
  COVERS("CHV-A-15");
  COVERS("CHV-A-16");
  COVERS("CHV-OA-09");
  COVERS("DG1-OA-16");
  OaBench bench(GetParam());
  bench.set_timer(-1);
  bench.enable();
  EXPECT_TRUE(bench.device->observation().counts_wanted().work);
  add(bench, 0, 100, all_counts());
  bench.device->advance(100);
  const std::array<uint64_t, 36> expected{0,  11, 12, 13, 16,  14,  15,  // A4 compute, A5 geometry, A6 pixel
                                          0,  0,  0,  0,  0,   0,   0,   0,   0, 0, 0, 0, 0, 0,  // no EU activity
                                          84, 88, 92, 96, 100, 104, 108, 112,                    // four for each block
                                          0,  30, 31, 32, 0,   34,  35};
  for (unsigned n = 1; n < 36; ++n) EXPECT_EQ(bench.a(n), expected[n]) << "A" << n;
}

TEST_P(OaWork, NothingIsWantedOrCountedWhileOff) {
  OaBench bench(GetParam());
  EXPECT_FALSE(bench.device->observation().counts_wanted().work);
  bench.set_timer(-1, /*resume=*/false);
  bench.enable();
  EXPECT_FALSE(bench.device->observation().counts_wanted().work) << "not resumed";
  bench.set_timer(-1);
  bench.disable();
  EXPECT_FALSE(bench.device->observation().counts_wanted().work);
  add(bench, 0, 100, all_counts());
  bench.device->advance(100);
  for (unsigned n = 1; n < 36; ++n) EXPECT_EQ(bench.a(n), 0u) << n;
}

// Reports inside a span see the part of its clocks that have passed, rounded down; the end sees everything.
TEST_P(OaWork, ReportsInsideASpanSeeALinearShare) {
  OaBench bench(GetParam());
  bench.map_buffer(kBase, 1);
  bench.set_timer(1);
  bench.enable();
  bench.device->advance(1000);
  const uint64_t begin = bench.now() + 333, length = 60'000;
  const uint64_t first = bench.clocks(begin), last = bench.clocks(begin + length);
  oa::WorkCounts counts;
  counts.blocks_written = 120'000;
  counts.barriers = 7;
  add(bench, 333, length, counts);
  bench.device->advance(begin + length + 1000 - bench.now());
  unsigned inside = 0;
  for (const OaReport& report : bench.reports()) {
    const uint64_t clock = report.ticks();
    const uint64_t done = clock <= first ? 0 : std::min(clock, last) - first;
    EXPECT_EQ(report.a(26), 480'000 * done / (last - first)) << clock;
    EXPECT_EQ(report.a(35), 7 * done / (last - first)) << clock;
    inside += done != 0 && clock < last ? 1 : 0;
  }
  EXPECT_GT(inside, 150u);
  EXPECT_EQ(bench.a(26), 480'000u);
}

// Random spans: at any report the sum over all spans, and no counter runs faster than its spans allow.
TEST_P(OaWork, RandomSpansAddUp) {
  std::mt19937 random(77);
  OaBench bench(GetParam());
  bench.map_buffer(kBase, 3);
  bench.set_timer(2);
  bench.enable();
  struct Span {
    uint64_t begin, end, count;
  };
  std::vector<Span> spans;
  uint64_t at = bench.now();
  for (unsigned n = 0; n < 400; ++n) {
    at += random() % 300;
    const uint64_t length = random() % 4 == 0 ? random() % 9000 : random() % 50;
    const uint64_t count = random() % 2000;
    oa::WorkCounts counts;
    counts.memory_lines = count;
    if (at > bench.now()) bench.device->advance(at - bench.now());
    bench.device->observation().on_engine_work(0, {.begin_ns = at, .end_ns = at + length, .counts = counts});
    spans.push_back({bench.clocks(at), bench.clocks(at + length), count});
    at += length;
  }
  bench.device->advance(20'000);
  for (const OaReport& report : bench.reports()) {
    uint64_t expected = 0;
    for (const Span& span : spans) {
      if (report.ticks() >= span.end) {
        // A span inside one clock counts when it is reported, which is not before this clock.
        expected += span.end == span.begin && report.ticks() == span.end ? 0 : span.count;
      } else if (report.ticks() > span.begin) {
        expected += span.count * (report.ticks() - span.begin) / (span.end - span.begin);
      }
    }
    const uint64_t shown = report.a(32);
    EXPECT_GE(shown, expected);
    EXPECT_LE(shown, expected + 2000);
  }
  uint64_t sum = 0;
  for (const Span& span : spans) sum += span.count;
  EXPECT_EQ(bench.a(32), sum);
}

// A late report is not lost: another engine's access may have moved the unit's time on.
TEST_P(OaWork, LateWorkIsCounted) {
  OaBench bench(GetParam());
  bench.set_timer(-1);
  bench.enable();
  bench.device->advance(10'000);
  EXPECT_EQ(bench.a(34), 0u);
  const uint64_t now = bench.now();
  oa::WorkCounts counts;
  counts.atomics = 100;
  bench.device->observation().on_engine_work(0, {.begin_ns = now - 5000, .end_ns = now - 100, .counts = counts});
  EXPECT_EQ(bench.a(34), 100u);
  bench.device->observation().on_engine_work(0, {.begin_ns = now - 5000, .end_ns = now + 1000, .counts = counts});
  bench.device->advance(500);
  EXPECT_NEAR(static_cast<double>(bench.a(34)), 150, 1);
  bench.device->advance(500);
  EXPECT_EQ(bench.a(34), 200u);
}

// The busy counter: the render engine alone without waits, or any engine with its waits.
TEST_P(OaWork, BusyTimeCountsTheEnginesOfTheGeneration) {
  COVERS("CHV-A-00");  // on chv; with BusyCountsCommandsAndNotWaits
  OaBench bench(GetParam());
  bench.set_timer(-1);
  bench.enable();
  const uint64_t now = bench.now();
  const auto span = [&](unsigned engine, uint64_t begin, uint64_t end, oa::EngineTime use) {
    bench.device->observation().on_engine_time(engine, {now + begin, now + end, use});
  };
  span(0, 0, 400, oa::EngineTime::works);
  span(0, 400, 800, oa::EngineTime::waits);
  span(0, 800, 1200, oa::EngineTime::switches);
  span(0, 1200, 1600, oa::EngineTime::works);
  span(1, 1000, 2000, oa::EngineTime::works);
  span(1, 4000, 4400, oa::EngineTime::works);
  bench.device->advance(2000);
  EXPECT_EQ(bench.a(0), bench.split() ? 900u : 360u);
  bench.device->advance(8000);
  EXPECT_EQ(bench.a(0), bench.split() ? 1080u : 360u) << "idle time is not busy";
}

TEST_P(OaWork, BusyCountsCommandsAndNotWaits) {
  OaContextBench bench(GetParam());
  bench.set_timer(-1);
  bench.enable();
  constexpr uint32_t kControl = ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait;
  ContextBench::Context context = bench.create("rcs0", 5, kControl, 4);
  const uint64_t flag = bench.allocate(1);
  std::vector<uint32_t> commands(1000, 0);
  const auto wait = bench.wait_for(flag, 1);
  commands.insert(commands.end(), wait.begin(), wait.end());
  bench.emit(context, commands);
  const uint64_t before = bench.a(0);
  bench.submit({&context});
  bench.device->advance(1'000'000);
  const uint64_t waiting = bench.a(0) - before;
  EXPECT_GT(waiting, 4200u) << "1000 commands of 10 ns";
  if (bench.split()) {
    EXPECT_GT(waiting, 420'000u) << "a wait is not idle";
  } else {
    EXPECT_LT(waiting, 90'000u) << "polls are work, the time between them is not";
  }
  bench.poke(flag, 1);
  ASSERT_TRUE(bench.device->settle());
  const uint64_t done = bench.a(0);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.a(0), done) << "idle";
}

TEST_P(OaWork, ARunThatLooksAtCountersIsClassedApproximate) {
  OaBench bench(GetParam());
  const auto classed = [&] {
    const FidelityReport report = bench.device->fidelity();
    const auto found = report.entries().find({FidelityKind::reg, bench.split() ? "OAG_PERF_A" : "OAPERF_A"});
    return found != report.entries().end() && found->second.fidelity == FidelityClass::approximate;
  };
  bench.set_timer(3);
  bench.device->advance(10'000);
  EXPECT_FALSE(classed()) << "off";
  bench.map_buffer(kBase, 0);
  bench.enable();
  bench.device->advance(10'000);
  EXPECT_TRUE(classed());
}

TEST_P(OaWork, OnlyTheSelectedContextCountsOnChipsWithOneUnit) {
  OaContextBench bench(GetParam());
  if (bench.split()) GTEST_SKIP();
  bench.put(test_oa_counters(GetParam()));
  bench.set_timer(-1);
  ContextBench::Context mine =
      bench.create("rcs0", 5, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
  ContextBench::Context other =
      bench.create("rcs0", 6, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
  bench.write(0x2364, mine.id);
  bench.write(0x2b00, 5 << 2 | 2 | 1);
  bench.emit(other, std::vector<uint32_t>(1000, 0));
  bench.run(other);
  EXPECT_EQ(bench.b(1), 0u);
  bench.emit(mine, std::vector<uint32_t>(1000, 0));
  bench.run(mine);
  EXPECT_GT(bench.b(1), 4200u);
}

INSTANTIATE_TEST_SUITE_P(Chips, OaWork, ::testing::ValuesIn(kOaChips),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace halogen
