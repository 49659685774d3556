// Contexts: reports of their switches, ids in reports, and the counters of the render engine's own unit on Gen12, which
// belong to contexts.
#include <gtest/gtest.h>

#include "covers.h"
#include "oa_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kBase = 0x400'0000;

class OaContexts : public ::testing::TestWithParam<const char*> {};

std::vector<uint32_t> noops(size_t count) {
  return std::vector<uint32_t>(count, 0);
}

TEST_P(OaContexts, ALoadReportsTheNewContext) {
  COVERS("DG1-OA-14");
  COVERS("DG1-OA-11");  // with the tests of the timer and of TestOa
  OaContextBench bench(GetParam());
  bench.map_buffer(kBase, 0);
  bench.set_timer(-1);
  bench.enable();
  ContextBench::Context one = bench.create("rcs0", 5);
  ContextBench::Context two = bench.create("rcs0", 9);
  bench.emit(one, noops(20));
  bench.emit(two, noops(20));
  bench.submit({&one, &two});
  ASSERT_TRUE(bench.device->settle());
  const std::vector<OaReport> reports = bench.reports();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].context(), one.id);
  EXPECT_EQ(reports[1].context(), two.id);
  for (const OaReport& report : reports) {
    EXPECT_EQ(bench.reason(report), OaContextBench::kReasonSwitch);
    EXPECT_TRUE(bench.context_valid(report));
  }
  EXPECT_GT(reports[1].ticks(), reports[0].ticks());
  // Other engines have contexts too.
  ContextBench::Context copy = bench.create("bcs0", 3);
  bench.emit(copy, noops(4));
  bench.run(copy);
  EXPECT_EQ(bench.reports().size(), 2u) << "only the render engine";
}

TEST_P(OaContexts, SwitchReportsCanBeDisabled) {
  OaContextBench bench(GetParam());
  bench.map_buffer(kBase, 0);
  bench.write(bench.at().debug, 0x0002'0002);
  bench.set_timer(-1);
  bench.enable();
  ContextBench::Context one = bench.create("rcs0", 5);
  bench.emit(one, noops(20));
  bench.run(one);
  EXPECT_EQ(bench.tail(), kBase);
  bench.write(bench.at().debug, 0x0002'0000);
  bench.emit(one, noops(20));
  bench.run(one);
  EXPECT_EQ(bench.reports().size(), 1u);
}

TEST_P(OaContexts, TimerReportsShowTheContextOfTheirTime) {
  OaContextBench bench(GetParam());
  bench.map_buffer(kBase, 0);
  ContextBench::Context one = bench.create("rcs0", 5, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
  bench.emit(one, noops(3000));
  bench.set_timer(2);
  bench.enable();
  bench.device->advance(2000);
  bench.submit({&one});
  bench.device->advance(50'000);
  const std::vector<OaReport> reports = bench.reports();
  size_t before = 0, inside = 0, after = 0;
  for (const OaReport& report : reports) {
    if (bench.context_valid(report)) {
      EXPECT_EQ(report.context(), one.id);
      EXPECT_EQ(after, 0u) << "one stretch";
      ++inside;
    } else {
      ++(inside == 0 ? before : after);
    }
  }
  EXPECT_GE(before, 2u);
  EXPECT_GT(inside, 30u) << "3000 commands of 10 ns, a report every 640 ns or less";
  EXPECT_GT(after, 5u);
}

TEST_P(OaContexts, CommandsShowTheSameContextAsTheBuffer) {
  OaContextBench bench(GetParam());
  bench.map_buffer(kBase, 0);
  bench.set_timer(-1);
  bench.enable();
  ContextBench::Context one = bench.create("rcs0", 7);
  const uint64_t results = bench.allocate(1);
  bench.emit(one, bench.report_command(results, 0x77));
  bench.run(one);
  const OaReport report = bench.report_in(results);
  EXPECT_EQ(report.id(), 0x77u);
  EXPECT_EQ(report.context(), one.id);
  EXPECT_EQ(bench.reports().at(0).context(), one.id);
}

TEST_P(OaContexts, ReportsAndTimestampsOfPipeControlAgree) {
  OaContextBench bench(GetParam());
  bench.set_timer(-1);
  bench.enable();
  if (bench.split()) bench.enable_context_unit();
  ContextBench::Context one = bench.create("rcs0", 7);
  const uint64_t results = bench.allocate(2);
  std::vector<uint32_t> commands;
  for (unsigned n = 0; n < 2; ++n) {
    const auto report = bench.report_command(results + 0x400 * n, n);
    commands.insert(commands.end(), report.begin(), report.end());
    const auto at = static_cast<uint32_t>(results + 0x1000 + 0x40 * n);
    const std::vector<uint32_t> stamp{0x7a00'0004, 0x0101'c000, at, 0, 0, 0};  // write the timestamp, global table
    commands.insert(commands.end(), stamp.begin(), stamp.end());
    commands.insert(commands.end(), 500, 0);
  }
  one = bench.create("rcs0", 8, ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait, 4);
  bench.emit(one, commands);
  bench.run(one);
  const uint32_t reported = bench.report_in(results + 0x400).timestamp() - bench.report_in(results).timestamp();
  const uint32_t stamped = bench.peek(results + 0x1040) - bench.peek(results + 0x1000);
  EXPECT_GT(reported, 50u);
  EXPECT_LE(std::max(reported, stamped) - std::min(reported, stamped), 1u);
}

INSTANTIATE_TEST_SUITE_P(Chips, OaContexts, ::testing::ValuesIn(kOaChips),
                         [](const auto& each) { return std::string(each.param); });

class OaContextUnit : public ::testing::TestWithParam<const char*> {};

// The context with the enable in its control register counts only while it runs; another one sees a report of zeros.
TEST_P(OaContextUnit, ValuesBelongToContexts) {
  COVERS("DG1-OA-05");
  OaContextBench bench(GetParam());
  bench.put(test_oa_network(GetParam()));
  bench.put(test_oa_counters(GetParam()));
  bench.write(0x2360, 1);
  bench.write(0x2960, 5 << 1 | 1);
  constexpr uint32_t kControl = ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait;
  ContextBench::Context measured = bench.create("rcs0", 5, kControl | 0x100, 4);
  ContextBench::Context also = bench.create("rcs0", 6, kControl | 0x100, 4);
  ContextBench::Context other = bench.create("rcs0", 7, kControl, 4);
  const uint64_t results = bench.allocate(8);
  const auto run = [&](ContextBench::Context& context, uint64_t place, size_t work) {
    auto commands = bench.report_command(results + place, 1);
    commands.insert(commands.end(), work, 0);
    const auto end = bench.report_command(results + place + 0x200, 2);
    commands.insert(commands.end(), end.begin(), end.end());
    bench.poke(results + place + 64 * 4, 0xdead'beef);
    bench.emit(context, commands);
    bench.run(context);
  };
  run(measured, 0, 400);
  run(other, 0x1000, 400);
  run(also, 0x2000, 100);
  run(measured, 0x3000, 200);
  const OaReport first = bench.report_in(results), second = bench.report_in(results + 0x200);
  const uint32_t clocks = second.ticks() - first.ticks();
  EXPECT_GT(clocks, 1800u - 10) << "400 commands of 10 ns";
  EXPECT_EQ(second.b(1) - first.b(1), clocks);
  EXPECT_EQ(second.c(1) - first.c(1), clocks) << "the signal of the render engine's unit";
  EXPECT_EQ(second.a(0) - first.a(0), clocks) << "busy";
  for (const uint64_t place : {uint64_t{0x1000}, uint64_t{0x1200}}) {
    const OaReport zeros = bench.report_in(results + place);
    EXPECT_NE(zeros.timestamp(), 0u);
    EXPECT_EQ(zeros.context(), other.id);
    for (unsigned dword = 4; dword < 64; ++dword) EXPECT_EQ(zeros.dwords[dword], 0u) << dword;
  }
  const OaReport again = bench.report_in(results + 0x3000);
  const uint32_t own = again.b(1) - second.b(1);
  EXPECT_LT(own, 3000u) << "the other contexts' 5000 ns are not in it";
  EXPECT_LT(bench.report_in(results + 0x2000).b(1), first.b(1) + clocks) << "a new context begins with zero";
  EXPECT_EQ(bench.peek(results + 64 * 4), 0xdead'beefu);
}

TEST_P(OaContextUnit, EachUnitHasItsOwnEnable) {
  COVERS("DG1-OA-04");  // with OaState.ARenderResetKeepsTheConfiguration and the timer of OaBuffer
  OaContextBench bench(GetParam());
  bench.put(test_oa_counters(GetParam()));
  bench.set_timer(-1);
  bench.enable();
  bench.device->advance(1000);
  EXPECT_EQ(bench.b(1), 450u);
  EXPECT_EQ(bench.read(0x2924), 0u) << "the render engine's unit is off";
  bench.disable();
  bench.enable_context_unit();
  bench.device->advance(1000);
  EXPECT_EQ(bench.b(1), 450u);
  EXPECT_EQ(bench.read(0x2924), 450u);
}

INSTANTIATE_TEST_SUITE_P(Chips, OaContextUnit, ::testing::Values("tgl", "dg1"),
                         [](const auto& each) { return std::string(each.param); });

TEST(OaContextUnit, MoreContextsThanAreKeptRaiseAnEvent) {
  OaContextBench bench("tgl");
  bench.put(test_oa_counters("tgl"));
  bench.enable_context_unit();
  bench.host.log.clear();
  for (uint64_t n = 0; n < 1100; ++n) {
    const uint64_t time = bench.now();
    bench.device->observation().on_context_switch(0, {engine::ContextStep::Kind::launch, (n + 1) << 12, time});
    bench.device->advance(100);
  }
  EXPECT_GT(bench.events(EventKind::unsupported), 0u);
}

}  // namespace
}  // namespace halogen
