// Metric sets: which devices have them, and what each counter is computed from. Expected equations are written down
// here from the lists of A counters (Cherryview observability and DG1 PRM, seeds 002 and 000); codes of EU events are
// those of the public set RenderBasic (Mesa, OA metrics).
#include "oa/metrics.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace halogen::oa {
namespace {

const spec::DeviceModel& device(const char* name) {
  return *spec::find_device(name);
}

const Metric& metric(const MetricSet& set, std::string_view symbol) {
  for (const Metric& each : set.metrics) {
    if (each.symbol == symbol) return each;
  }
  ADD_FAILURE() << symbol << " is not in " << set.name;
  return set.metrics.front();
}

// A(n) is n * n + 1000, in 2000 ns and 1500 clocks.
Sample sample() {
  Sample sample{.begin_ns = 5000, .end_ns = 7000, .clocks = 1500};
  for (size_t n = 0; n < kACounters; ++n) sample.counts[n] = n * n + 1000;
  return sample;
}

class Metrics : public ::testing::TestWithParam<const char*> {
 protected:
  const spec::DeviceModel& model = device(GetParam());
  EuArray array = EuArray::of(model.topology);
};
INSTANTIATE_TEST_SUITE_P(All, Metrics, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return std::string(chip.param); });

TEST_P(Metrics, CountsHaveTheCounterOfTheirEvent) {
  const std::map<std::string, std::pair<unsigned, unsigned>> expected{// counter, factor
                                                                      {"VsThreads", {1, 1}},
                                                                      {"HsThreads", {2, 1}},
                                                                      {"DsThreads", {3, 1}},
                                                                      {"CsThreads", {4, 1}},
                                                                      {"GsThreads", {5, 1}},
                                                                      {"PsThreads", {6, 1}},
                                                                      {"RasterizedPixels", {21, 1}},
                                                                      {"HiDepthTestFails", {22, 1}},
                                                                      {"EarlyDepthTestFails", {23, 1}},
                                                                      {"SamplesKilledInPs", {24, 1}},
                                                                      {"PixelsFailingPostPsTests", {25, 1}},
                                                                      {"SamplesWritten", {26, 1}},
                                                                      {"SamplesBlended", {27, 1}},
                                                                      {"SamplerTexels", {28, 1}},
                                                                      {"SlmBytesRead", {30, 64}},
                                                                      {"SlmBytesWritten", {31, 64}},
                                                                      {"ShaderMemoryAccesses", {32, 1}},
                                                                      {"ShaderAtomics", {34, 1}},
                                                                      {"ShaderBarriers", {35, 1}}};
  const MetricSet& set = *find_metric_set(model, "RenderBasic");
  for (const auto& [symbol, equation] : expected) {
    const auto [counter, factor] = equation;
    EXPECT_EQ(value_of(metric(set, symbol).equation, sample(), array), factor * (counter * counter + 1000.0)) << symbol;
  }
}

TEST_P(Metrics, TimesAndSharesFollowFromTheClocks) {
  const MetricSet& set = *find_metric_set(model, "RenderBasic");
  const double eus = model.topology.slices * model.topology.subslices * model.topology.eus;
  const double slots = eus * model.topology.threads;
  const auto value = [&](const char* symbol) { return value_of(metric(set, symbol).equation, sample(), array); };
  EXPECT_EQ(value("GpuTime"), 2000.0);
  EXPECT_EQ(value("GpuCoreClocks"), 1500.0);
  EXPECT_EQ(value("AvgGpuCoreFrequency"), 750e6);
  EXPECT_DOUBLE_EQ(value("GpuBusy"), 100 * 1000.0 / 1500);
  EXPECT_DOUBLE_EQ(value("EuActive"), 100 * 1049.0 / (eus * 1500));             // A7
  EXPECT_DOUBLE_EQ(value("EuStall"), 100 * 1064.0 / (eus * 1500));              // A8
  EXPECT_DOUBLE_EQ(value("EuThreadOccupancy"), 800 * 1256.0 / (slots * 1500));  // A16: 8 threads x clocks a pulse
}

TEST_P(Metrics, EmptyIntervalsHaveNoShares) {
  for (const MetricSet& set : metric_sets(model)) {
    for (const Metric& each : set.metrics) EXPECT_EQ(value_of(each.equation, {}, array), 0.0) << each.symbol;
  }
}

// Codes: fine filter, coarse filter, increment event.
TEST_P(Metrics, EuMetricsCountTheEventsOfTheirNames) {
  const std::map<std::string, std::string> expected{
      {"EuActive", "004"},     {"EuStall", "005"},      {"EuFpuBothActive", "003"}, {"VsFpu0Active", "010"},
      {"VsFpu1Active", "011"}, {"VsSendActive", "012"}, {"PsFpu0Active", "050"},    {"PsFpu1Active", "051"},
      {"PsSendActive", "052"}, {"Fpu0Active", "000"},   {"Fpu1Active", "001"},      {"EuSendActive", "002"},
      {"VsEuActive", "014"},   {"HsEuActive", "024"},   {"DsEuActive", "034"},      {"GsEuActive", "044"},
      {"PsEuActive", "054"},   {"CsEuActive", "064"},   {"VsEuStall", "015"},       {"HsEuStall", "025"},
      {"DsEuStall", "035"},    {"GsEuStall", "045"},    {"PsEuStall", "055"},       {"CsEuStall", "065"},
      {"Fpu0Ternary", "200"},  {"Fpu0Binary", "300"},   {"Fpu0Move", "400"},        {"EuThreadOccupancy", "008"}};
  std::set<std::string> seen;
  for (const MetricSet& set : metric_sets(model)) {
    for (const Metric& each : set.metrics) {
      if (each.equation.raw != Equation::Raw::a || each.equation.counter < 7 || each.equation.counter > 20) continue;
      const std::string symbol(each.symbol);
      ASSERT_TRUE(expected.contains(symbol)) << symbol;
      EXPECT_EQ(text_of(set.events[each.equation.counter - 7u]), expected.at(symbol)) << set.name << " " << symbol;
      seen.insert(symbol);
    }
  }
  EXPECT_EQ(seen.size(), expected.size());
}

TEST_P(Metrics, SymbolsAreUniqueAndApproximationsHaveAReason) {
  for (const MetricSet& set : metric_sets(model)) {
    std::set<std::string_view> symbols;
    for (const Metric& each : set.metrics) {
      EXPECT_TRUE(symbols.insert(each.symbol).second) << set.name << " " << each.symbol;
      EXPECT_EQ(each.accuracy == Accuracy::approximate, !each.note.empty()) << each.symbol;
      EXPECT_FALSE(each.unit.empty()) << each.symbol;
    }
  }
}

TEST_P(Metrics, SetsAreFoundByName) {
  EXPECT_EQ(find_metric_set(model, "")->name, "RenderBasic");
  EXPECT_EQ(find_metric_set(model, "ComputeBasic")->name, "ComputeBasic");
  EXPECT_EQ(find_metric_set(model, "renderbasic"), nullptr);
}

// Threads of Gen12 are dispatched in fused pairs (DG1 PRM); the model counts threads.
TEST(MetricSets, FusedThreadsAreApproximate) {
  for (const char* const name : {"bdw", "chv", "skl", "icl"}) {
    EXPECT_EQ(metric(*find_metric_set(device(name), ""), "PsThreads").accuracy, Accuracy::exact) << name;
  }
  for (const char* const name : {"tgl", "dg1"}) {
    EXPECT_EQ(metric(*find_metric_set(device(name), ""), "PsThreads").accuracy, Accuracy::approximate) << name;
  }
}

TEST(MetricSets, ChipsWithoutUnitHaveNoSets) {
  for (const char* const name : {"i965", "gm965", "g45", "gm45", "snb"}) {
    EXPECT_TRUE(metric_sets(device(name)).empty()) << name;
    EXPECT_EQ(find_metric_set(device(name), ""), nullptr) << name;
  }
}

TEST(MetricSets, EquationsPrintAsText) {
  EXPECT_EQ(text_of(Equation{.counter = 4}), "A4");
  EXPECT_EQ(text_of(Equation{.counter = 30, .scale = 64}), "64 * A30");
  EXPECT_EQ(text_of(Equation{.counter = 7, .scale = 100, .per = Equation::Per::eu_clocks}),
            "100 * A7 / (EUs * clocks)");
  EXPECT_EQ(text_of(Equation{.raw = Equation::Raw::clocks, .scale = 5, .per = Equation::Per::time_ns}),
            "5 * clocks / time");
}

}  // namespace
}  // namespace halogen::oa
