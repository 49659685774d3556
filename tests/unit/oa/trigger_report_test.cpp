// Reports of internal triggers: their reasons and times, and what happens if they come too fast.
#include <gtest/gtest.h>

#include "covers.h"
#include "oa_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kBase = 0x400'0000;

class OaTriggers : public ::testing::TestWithParam<const char*> {};

// The lane that TestOa routes: its signal is asserted in every clock.
uint32_t routed_lane(const OaBench& bench) {
  return bench.model.gen >= spec::GenId::gen11 ? 8 : 15;
}

void start(OaBench& bench, unsigned block, uint32_t threshold, uint32_t bits) {
  bench.put(test_oa_network(bench.model.name));
  bench.put(test_oa_counters(bench.model.name));
  const uint32_t at = bench.at().report_trigger + 0x10 * block;
  bench.write(at, threshold);
  bench.write(at + 4, 1u << 31 | bits);
  bench.write(at + 8, routed_lane(bench) * 0x1111'1111);
  bench.write(at + 12, routed_lane(bench) * 0x1111'1111);
  bench.map_buffer(kBase, 2);
  bench.set_timer(-1);
  bench.enable();
}

TEST_P(OaTriggers, EachBlockReportsAtItsThreshold) {
  for (const unsigned block : {0u, 1u}) {
    OaBench bench(GetParam());
    bench.device->advance(12'345);
    start(bench, block, 1000, 1u << 23);
    const uint64_t began = bench.clocks(bench.now());
    bench.device->advance(20'000);
    const std::vector<OaReport> reports = bench.reports();
    ASSERT_EQ(reports.size(), 9u) << "9000 clocks";
    for (size_t n = 0; n < reports.size(); ++n) {
      EXPECT_EQ(reports[n].ticks(), began + 1000 * (n + 1));
      EXPECT_EQ(bench.reason(reports[n]), block == 0 ? OaBench::kReasonTrigger1 : OaBench::kReasonTrigger2);
      EXPECT_EQ(reports[n].id() >> 17 & 1, 1u) << "the threshold of this block";
    }
    EXPECT_EQ(bench.status() & 1, 0u);
  }
}

TEST_P(OaTriggers, WithoutAThresholdTheRisingEdgeReportsOnce) {
  OaBench bench(GetParam());
  start(bench, 0, 0, 0);
  bench.device->advance(20'000);
  ASSERT_EQ(bench.reports().size(), 1u);
  EXPECT_EQ(bench.reason(bench.report_at(0)), OaBench::kReasonTrigger1);
  // Inverted, the input is never asserted.
  OaBench other(GetParam());
  start(other, 0, 0, 0xffff);
  other.device->advance(20'000);
  EXPECT_EQ(other.tail(), kBase);
}

TEST_P(OaTriggers, TriggersDuringAReportAreLostAndSaidSo) {
  OaBench bench(GetParam());
  start(bench, 0, 1, 1u << 23);
  bench.device->advance(10'000);
  const std::vector<OaReport> reports = bench.reports();
  EXPECT_GT(reports.size(), 4500u / 64 - 2);
  EXPECT_LE(reports.size(), 4500u / 64 + 1);
  EXPECT_EQ(bench.status() & 1, 1u);
  bench.device->advance(10'000'000'000);  // a guest that asks for as many reports as possible
  EXPECT_EQ(bench.status() & 3, 3u);
}

TEST_P(OaTriggers, DisabledBlocksReportNothing) {
  OaBench bench(GetParam());
  start(bench, 0, 100, 1u << 23);
  bench.write(bench.at().report_trigger + 4, 1u << 23);
  const uint64_t tail = bench.tail();
  bench.device->advance(10'000);
  EXPECT_EQ(bench.tail(), tail);
}

INSTANTIATE_TEST_SUITE_P(Chips, OaTriggers, ::testing::ValuesIn(kOaChips),
                         [](const auto& each) { return std::string(each.param); });

// The buffer of a chip with one unit may be in the tables of the render engine's context.
TEST(OaProcessBuffer, ReportsGoThroughTheTablesOfTheContext) {
  for (const char* const chip : {"bdw", "chv", "skl", "icl"}) {
    OaContextBench bench(chip);
    constexpr uint64_t kAddress = 0x1234'0000;  // of the process
    constexpr uint32_t kControl = ContextBench::kRestoreInhibit | ContextBench::kNoSwitchOnWait;
    ContextBench::Context context = bench.create("rcs0", 5, kControl, 4);
    const uint64_t pages = bench.allocate(32);
    for (uint64_t page = 0; page < 32; ++page) {
      bench.map_process(context, kAddress + page * 4096, pages + page * 4096);
    }
    bench.emit(context, std::vector<uint32_t>(3000, 0));
    bench.submit({&context});
    bench.device->advance(5000);
    bench.write(0x2b0c, kAddress);
    bench.write(0x2b14, kAddress);  // the smallest size, per-process
    bench.write(0x2b10, kAddress);
    bench.set_timer(2);
    bench.enable();
    bench.device->advance(10'000);
    ASSERT_GT(bench.tail(), kAddress + 10 * 256) << chip;
    const uint32_t first = bench.peek(pages + 4);
    EXPECT_NE(first, 0u) << chip;
    EXPECT_EQ(bench.peek(pages + 256 + 4) - first, 8u) << chip;
    ASSERT_TRUE(bench.device->settle());
  }
}

}  // namespace
}  // namespace halogen
