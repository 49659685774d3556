// The hardware status page: what the engine writes there itself. G45 PRM vol. 1b 5.5 (seed 003).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kSyncStatus = 1u << 12;

class StatusPageTest : public ::testing::TestWithParam<std::string> {};

TEST_P(StatusPageTest, EveryChangeOfAnUnmaskedBitWritesTheWholeStatus) {
  COVERS("G45-5.5-01");
  FlowBench bench(GetParam());
  const uint64_t page = bench.give_status_page(kRcs);
  const auto toggle = [&] {
    bench.set_reg(kRcs, kInstpm, 0x0020'0020);
    EXPECT_TRUE(bench.device->settle());
  };
  bench.poke(page, 0x1234'5678);
  toggle();
  toggle();
  EXPECT_EQ(bench.peek(page), 0x1234'5678u) << "masked bits write nothing";
  bench.set_reg(kRcs, kHwstam, ~kSyncStatus);
  toggle();
  EXPECT_EQ(bench.peek(page), bench.read(0x20ac)) << "0 to 1";
  EXPECT_EQ(bench.peek(page) & kSyncStatus, kSyncStatus);
  bench.poke(page, 0x1234'5678);
  toggle();
  EXPECT_EQ(bench.peek(page), bench.read(0x20ac)) << "1 to 0";
  EXPECT_EQ(bench.peek(page) & kSyncStatus, 0u);
}

INSTANTIATE_TEST_SUITE_P(Gen4, StatusPageTest, ::testing::ValuesIn(gen4_chips()), chip_name);

TEST(Paths, AccessesTakeEffectImmediatelyAndCommandsLater) {
  COVERS("G45-5.1-01");
  FlowBench bench("g45");
  const uint64_t data = bench.allocate(1);
  bench.device->config_write(0x3c, 1, 11);
  EXPECT_EQ(bench.device->config_read(0x3c, 1), 11u) << "configuration space: immediately";
  bench.set_reg(kRcs, kHwstam, 0xffff'fff0);
  EXPECT_EQ(bench.reg(kRcs, kHwstam), 0xffff'fff0u) << "registers: immediately";
  bench.start_ring(kRcs);
  bench.emit(kRcs, bench.store(data, 1));
  bench.submit(kRcs);
  EXPECT_EQ(bench.peek(data), 0u) << "commands: only as time advances";
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
}

class Clients : public ::testing::TestWithParam<std::string> {};

TEST_P(Clients, TopBitsOfTheHeaderSelectTheClient) {
  COVERS("G45-5.3.1-01");
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {0x0040'0001, kNoop});
  EXPECT_EQ(bench.reg(kRcs, kNopid), 1u) << "executed by the streamer itself";
  bench.run_all(kRcs, {0x5400'0004, 0, 0, 0, 0, 0x77});  // 2D: XY_COLOR_BLT
  EXPECT_EQ(bench.read(0x40040), 0x77u) << "the BLT engine loaded BR16";
  bench.run_all(kRcs, {0x7b00'0004, 0, 0, 0, 0, 0});
  EXPECT_EQ(bench.executed("3DPRIMITIVE"), 1u) << "3D: a draw without vertices";
  EXPECT_EQ(bench.events(EventKind::unsupported), 0u);
  bench.run_all(kRcs, {0x7100'0002, 0, 0, 0});
  EXPECT_EQ(bench.executed("MEDIA_OBJECT"), 1u) << "media";
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u) << "media: the unit has no state";
  EXPECT_EQ(bench.events(EventKind::unknown_command), 0u);
}

INSTANTIATE_TEST_SUITE_P(Gen4, Clients, ::testing::ValuesIn(gen4_chips()), chip_name);

}  // namespace
}  // namespace halogen
