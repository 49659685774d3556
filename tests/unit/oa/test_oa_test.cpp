// The metric set TestOa on each chip that has the unit: what its counters count per clock is known (Mesa, OA metrics,
// and the checks of igt, tests/perf.c).
#include <gtest/gtest.h>

#include "covers.h"
#include "oa_bench.h"

namespace halogen {
namespace {

class TestOa : public ::testing::TestWithParam<const char*> {};

void program(OaBench& bench) {
  bench.put(test_oa_network(bench.model.name));
  bench.put(test_oa_counters(bench.model.name));
}

// Counters 0 to 7: nothing, every clock twice, 1/2, 1/3, 1/3, 1/6, 2/3 of the clocks.
constexpr std::array<std::pair<uint64_t, uint64_t>, 8> kFactors{
    {{0, 1}, {1, 1}, {1, 1}, {1, 2}, {1, 3}, {1, 3}, {1, 6}, {2, 3}}};

void expect_factors(const std::vector<uint64_t>& counts, uint64_t clocks, const std::string& where) {
  for (unsigned n = 0; n < 8; ++n) {
    const uint64_t exact = clocks * kFactors[n].first;
    const uint64_t counted = counts[n] * kFactors[n].second;
    const uint64_t difference = exact > counted ? exact - counted : counted - exact;
    const uint64_t allowed = n < 3 ? 0 : kFactors[n].second;  // one count
    EXPECT_LE(difference, allowed) << where << " B" << n << " " << counts[n] << " of " << clocks;
  }
}

TEST_P(TestOa, RegistersCountTheKnownFractions) {
  COVERS("CHV-OA-06");
  OaBench bench(GetParam());
  program(bench);
  bench.set_timer(-1);
  bench.device->advance(1000);
  bench.enable();
  const uint64_t began = bench.clocks(bench.now());
  std::vector<uint64_t> before(8);
  for (unsigned part = 0; part < 200; ++part) {
    bench.device->advance(1 + part * 7);
    const uint64_t clocks = bench.clocks(bench.now()) - began;
    std::vector<uint64_t> counts;
    for (unsigned n = 0; n < 8; ++n) counts.push_back(bench.b(n));
    expect_factors(counts, clocks, GetParam());
    EXPECT_EQ(bench.c(bench.model.gen >= spec::GenId::gen11 ? 0 : 7), clocks) << "the routed signal";
    EXPECT_EQ(bench.c(2), 0u) << "no signal";
    EXPECT_EQ(bench.read(bench.at().ticks), static_cast<uint32_t>(bench.clocks(bench.now())));
  }
}

// Forty nanoseconds are three periods of the events, of six clocks each. A period begins with the first nanosecond of
// its clock.
TEST_P(TestOa, SixClocksCountExactly) {
  OaBench bench(GetParam());
  program(bench);
  bench.set_timer(-1);
  bench.device->advance(80);
  bench.enable();
  bench.device->advance(40);
  constexpr std::array<uint64_t, 3> kPeriods{14, 13, 13};
  for (unsigned period = 0; period < 100; ++period) {
    std::vector<uint32_t> before;
    for (unsigned n = 0; n < 8; ++n) before.push_back(bench.b(n));
    bench.device->advance(kPeriods[period % 3]);
    const std::array<uint32_t, 8> expected{0, 6, 6, 3, 2, 2, 1, 4};
    for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(bench.b(n) - before[n], expected[n]) << "B" << n;
  }
}

TEST_P(TestOa, ReportsOfCommandsCountTheKnownFractions) {
  COVERS("CHV-OA-08");
  COVERS("DG1-OA-13");  // with the tests of triggers and timers
  OaBench bench(GetParam());
  program(bench);
  bench.set_timer(-1);
  bench.enable();
  if (bench.split()) bench.enable_context_unit();
  bench.start_ring("rcs0");
  const uint64_t results = bench.allocate(8);
  bench.poke(results + 64 * 4, 0xdead'beef);
  std::vector<uint32_t> commands;
  constexpr unsigned kReports = 16;
  for (unsigned n = 0; n < kReports; ++n) {
    const auto report = bench.report_command(results + 0x200 * n, 0x1000 + n);
    commands.insert(commands.end(), report.begin(), report.end());
    commands.insert(commands.end(), 3 * n, 0);  // MI_NOOPs take time
  }
  bench.emit("rcs0", commands);
  bench.submit("rcs0");
  ASSERT_TRUE(bench.device->settle());
  const OaReport first = bench.report_in(results);
  for (unsigned n = 1; n < kReports; ++n) {
    const OaReport report = bench.report_in(results + 0x200 * n);
    EXPECT_EQ(report.id(), 0x1000 + n);
    const uint64_t clocks = report.ticks() - first.ticks();
    EXPECT_GT(clocks, 0u);
    std::vector<uint64_t> counts;
    for (unsigned b = 0; b < 8; ++b) counts.push_back(report.b(b) - first.b(b));
    expect_factors(counts, clocks, GetParam());
    // The clock and the timestamp show the same time, to a tick of each.
    const double seconds = static_cast<double>(clocks) / 450e6;
    const double stamped =
        static_cast<double>(report.timestamp() - first.timestamp()) / static_cast<double>(bench.model.timestamp_hz);
    EXPECT_NEAR(seconds, stamped, 1.0 / static_cast<double>(bench.model.timestamp_hz) + 2e-9);
    const unsigned routed = bench.split() ? 1 : (bench.model.gen >= spec::GenId::gen11 ? 0 : 7);
    EXPECT_EQ(report.c(routed) - first.c(routed), clocks);
  }
  EXPECT_EQ(bench.peek(results + 64 * 4), 0xdead'beef) << "the report has 64 dwords";
}

TEST_P(TestOa, NothingCountsUntilEnabledAndResumed) {
  COVERS("DG1-OA-02");
  OaBench bench(GetParam());
  program(bench);
  bench.set_timer(-1);
  bench.device->advance(1000);
  EXPECT_EQ(bench.b(1), 0u) << "not enabled";
  bench.set_timer(-1, /*resume=*/false);
  bench.enable();
  bench.device->advance(1000);
  EXPECT_EQ(bench.b(1), 0u) << "not resumed";
  bench.set_timer(-1);
  const uint64_t resumed = bench.clocks(bench.now());
  bench.device->advance(1000);
  const uint64_t counted = bench.clocks(bench.now()) - resumed;
  EXPECT_EQ(bench.b(1), counted);
  bench.set_timer(-1, false);
  bench.device->advance(1000);
  EXPECT_EQ(bench.b(1), counted) << "the value stays";
  EXPECT_EQ(bench.read(bench.at().ticks), bench.clocks(bench.now())) << "ticks run freely";
  bench.set_timer(-1);
  bench.disable();
  bench.device->advance(1000);
  EXPECT_EQ(bench.b(1), counted);
}

TEST_P(TestOa, AnUnknownNetworkIsReportedAndHasNoSignals) {
  OaBench bench(GetParam());
  OaWrites network = test_oa_network(GetParam());
  network.back().second ^= network.back().first == 0x9888 ? 0x10u : 0u;
  if (network.back().first != 0x9888) network[network.size() - 2].second ^= 0x10;
  bench.put(network);
  bench.put(test_oa_counters(GetParam()));
  bench.set_timer(-1);
  bench.enable();
  bench.host.log.clear();
  bench.device->advance(1000);
  EXPECT_EQ(bench.c(0), 0u);
  EXPECT_EQ(bench.c(7), 0u);
  EXPECT_GT(bench.b(1), 420u) << "events without signals go on";
  EXPECT_EQ(bench.events(EventKind::approximation), 1u) << "once";
  bench.put({{bench.model.gen >= spec::GenId::gen11 ? 0x0d04u : 0x9840u, 0}});
  bench.put(test_oa_network(GetParam()));
  bench.device->advance(1000);
  EXPECT_GT(bench.c(bench.model.gen >= spec::GenId::gen11 ? 0 : 7), 420u) << "a new list replaces the old one";
}

TEST_P(TestOa, ADisabledNetworkHasNoSignals) {
  OaBench bench(GetParam());
  program(bench);
  bench.put({{bench.model.gen >= spec::GenId::gen11 ? 0x0d04u : 0x9840u, 0}});
  bench.set_timer(-1);
  bench.enable();
  bench.device->advance(1000);
  EXPECT_EQ(bench.c(bench.model.gen >= spec::GenId::gen11 ? 0 : 7), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, TestOa, ::testing::ValuesIn(kOaChips),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace halogen
