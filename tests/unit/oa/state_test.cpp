// Resets, snapshots and power: what stays of the observation unit and what goes.
#include <gtest/gtest.h>

#include "covers.h"
#include "oa_bench.h"

namespace halogen {
namespace {

constexpr uint64_t kBase = 0x400'0000;

class OaState : public ::testing::TestWithParam<const char*> {};

void start(OaBench& bench, int exponent = 3) {
  bench.put(test_oa_network(bench.model.name));
  bench.put(test_oa_counters(bench.model.name));
  bench.map_buffer(kBase, 0);
  bench.set_timer(exponent);
  bench.enable();
}

TEST_P(OaState, ARenderResetKeepsTheConfiguration) {
  COVERS("DG1-OA-01");  // with AWholeResetClearsEverything
  OaBench bench(GetParam());
  start(bench);
  bench.write(0xe458, 0x5004);
  bench.device->advance(5000);
  const uint32_t before = bench.b(1);
  ASSERT_GT(before, 2000u);
  const OaWrites kept = test_oa_counters(GetParam());
  bench.write(0x941c, 1u << bench.engine_model("rcs0").reset_bit);
  EXPECT_EQ(bench.read(bench.at().control), 5u << 2 | 1);
  EXPECT_EQ(bench.read(bench.at().buffer) & ~0x3fu, static_cast<uint32_t>(kBase));
  EXPECT_EQ(bench.read(0xe458), 0x5004u);
  for (const auto& [offset, value] : kept) {
    if (offset < 0xdc00) {
      EXPECT_EQ(bench.read(offset), value) << std::hex << offset;
    }
  }
  EXPECT_GE(bench.b(1), before) << "counters stay";
  bench.set_timer(3);  // the context's control is state of the engine on chips with one unit
  const uint64_t tail = bench.tail();
  bench.device->advance(5000);
  EXPECT_GT(bench.tail(), tail) << "reports go on";
}

TEST_P(OaState, AWholeResetClearsEverything) {
  OaBench bench(GetParam());
  start(bench);
  bench.device->advance(5000);
  bench.write(0x941c, 1);
  EXPECT_EQ(bench.read(bench.at().control), 0u);
  EXPECT_EQ(bench.read(bench.at().tail), 0u);
  EXPECT_EQ(bench.b(1), 0u);
  bench.device->advance(5000);
  EXPECT_EQ(bench.b(1), 0u);
  EXPECT_EQ(bench.read(bench.at().tail), 0u);
}

TEST_P(OaState, NothingIsReportedBeforeTheUnitIsConfigured) {
  OaBench bench(GetParam());
  start(bench, 0);
  const uint64_t enabled_at = bench.timestamp_ticks(bench.now());
  bench.device->advance(3000);
  EXPECT_GE(bench.report_at(0).timestamp(), std::max<uint64_t>(enabled_at, 1));
  EXPECT_NE(bench.report_at(0).id(), 0u);
}

TEST_P(OaState, ASnapshotContinuesAsIfNothingHadHappened) {
  OaBench bench(GetParam());
  start(bench);
  bench.device->observation().on_engine_work(
      0, {.begin_ns = bench.now() + 100, .end_ns = bench.now() + 9000, .counts = {.blocks_written = 5000}});
  bench.device->advance(4321);
  const device::DeviceState state = bench.device->snapshot();
  bench.device->advance(7777);
  const device::DeviceState expected = bench.device->snapshot();
  std::vector<uint32_t> dwords = bench.report_at(bench.tail() - kBase - 256).dwords;
  bench.device->reset(device::ResetKind::power_on);
  bench.enable();
  bench.device->advance(999);
  bench.device->restore(state);
  bench.device->advance(7777);
  EXPECT_EQ(bench.device->snapshot().observation, expected.observation);
  EXPECT_EQ(bench.report_at(bench.tail() - kBase - 256).dwords, dwords);
  EXPECT_EQ(bench.a(26), 20'000u);
}

// The counters are in the power context: they keep their values while the render domain sleeps.
TEST_P(OaState, PowerContextKeepsCounters) {
  COVERS("DG1-OA-03");
  OaBench bench(GetParam());
  start(bench);
  bench.device->advance(2000);
  bench.disable();
  std::vector<uint64_t> before;
  for (unsigned n = 0; n < 8; ++n) before.push_back(bench.b(n));
  ASSERT_GT(before[1], 0u);
  if (const spec::WakeTable* table = bench.device->mmio().wake().config().wake()) {
    for (const spec::WakePort& port : table->ports) {
      bench.write(port.request, port.access == spec::Access::masked ? 0x0001'0000 : 0);
    }
  }
  bench.device->advance(1'000'000);
  bench.wake_all();
  for (unsigned n = 0; n < 8; ++n) EXPECT_EQ(bench.b(n), before[n]);
  bench.set_timer(3);
  bench.enable();
  bench.device->advance(2000);
  EXPECT_GT(bench.b(1), before[1]);
}

INSTANTIATE_TEST_SUITE_P(Chips, OaState, ::testing::ValuesIn(kOaChips),
                         [](const auto& each) { return std::string(each.param); });

TEST(OaAbsent, ChipsWithoutTheUnitIgnoreIt) {
  for (const char* const chip : {"i965", "g45", "snb"}) {
    OaBench bench(chip);
    EXPECT_FALSE(bench.device->observation().unit().exists());
    bench.device->observation().on_engine_work(0, {.begin_ns = 1, .end_ns = 2, .counts = {.atomics = 3}});
    EXPECT_FALSE(bench.device->observation().counts_wanted().work);
    bench.device->advance(1000);
    EXPECT_EQ(bench.device->snapshot().observation, oa::UnitState{});
  }
}

}  // namespace
}  // namespace halogen
