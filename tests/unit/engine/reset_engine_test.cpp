// Resets of busy engines, and the state after a reset. G45 PRM vol. 1b 5.9 (seed 003); handshake as in Linux i915.
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kResetCtl = 0xd0;

class EngineReset : public ::testing::TestWithParam<std::string> {};

TEST_P(EngineReset, HungEngineRecoversWhileOthersContinue) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  for (const spec::EngineModel& engine : bench.model.engines) {
    bench.start_ring(engine.name);
  }
  bench.run_all(kRcs, {0xe000'0000, kNoop});
  EXPECT_EQ(bench.reg(kRcs, kMiMode) & 0x200, 0u) << "stuck: not idle";
  if (bench.is_gen4()) {
    bench.device->config_write(0xc0, 1, 1 << 2 | 1);  // render
    bench.enable_table();
  } else {
    bench.write(0x941c, 2);
    EXPECT_EQ(bench.read(0x941c), 0u);
  }
  EXPECT_EQ(bench.reg(kRcs, kMiMode) & 0x200, 0x200u);
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kControl), 0u);
  EXPECT_EQ(bench.reg(kRcs, kIpehr), 0u);
  bench.start_ring(kRcs);
  uint32_t number = 0;
  for (const spec::EngineModel& engine : bench.model.engines) {
    const bool shares =
        engine.engine_class == spec::EngineClass::compute || engine.engine_class == spec::EngineClass::posh;
    if (!shares) {  // engines that are reset with the render engine lose their ring
      bench.run_all(engine.name, bench.store(data + 4 * number, number + 1));
      EXPECT_EQ(bench.peek(data + 4 * number), number + 1) << engine.name;
    }
    ++number;
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, EngineReset, ::testing::ValuesIn(all_chips()), chip_name);

class ResetHandshake : public ::testing::TestWithParam<std::string> {};

TEST_P(ResetHandshake, RequestStopsTheStreamer) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.emit(kRcs, bench.store(data, 1));
  bench.submit(kRcs);
  bench.set_reg(kRcs, kResetCtl, 0x0001'0001);
  EXPECT_EQ(bench.reg(kRcs, kResetCtl) & 3, 3u) << "ready";
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0u);
  bench.set_reg(kRcs, kResetCtl, 0x0001'0000);
  EXPECT_EQ(bench.reg(kRcs, kResetCtl) & 3, 0u);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u) << "the request is withdrawn: the streamer continues";
}

INSTANTIATE_TEST_SUITE_P(Chips, ResetHandshake, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"), chip_name);

class Gen4Reset : public ::testing::TestWithParam<std::string> {};

TEST_P(Gen4Reset, RegistersHaveTheirResetValues) {
  COVERS("G45-5.9-01");
  FlowBench bench(GetParam());
  const auto spoil = [&] {
    bench.start_ring(kRcs);
    bench.write(0x20a8, 0);
    bench.write(0x20a0, 0xff);
    bench.set_reg(kRcs, kEmr, 0);
    bench.set_reg(kRcs, kHwstam, 0);
    bench.give_status_page(kRcs);
    bench.set_fence(0, 0, 0x100, 512, false);
    bench.set_reg(kRcs, kInstpm, 0xffff'000e);
    bench.run_all(kRcs, {0x0040'0042, kNoop});
    EXPECT_EQ(bench.reg(kRcs, kNopid), 0x42u);
  };
  const auto check = [&](const char* how) {
    EXPECT_EQ(bench.reg(kRcs, EngineBench::kControl) & 1, 0u) << how << ": the ring is disabled";
    EXPECT_EQ(bench.read(0x20a8), 0xffff'ffffu) << how << ": interrupts are masked";
    EXPECT_EQ(bench.reg(kRcs, kEmr), 0xffff'ffffu) << how << ": errors are masked";
    EXPECT_EQ(bench.reg(kRcs, kHwstam), 0xffff'ffffu) << how;
    EXPECT_EQ(bench.reg(kRcs, kHwsPga), 0x1fff'f000u) << how;
    for (uint32_t at = 0x3000; at < 0x3080; at += 8) {
      EXPECT_EQ(bench.read(at) & 1, 0u) << how << ": fences are invalid";
    }
    EXPECT_EQ(bench.read(0x2020) & 1, 0u) << how << ": the page table is disabled";
    EXPECT_EQ(bench.reg(kRcs, 0x6c), 0xffe7'fffeu) << how << ": every unit is idle";
    EXPECT_EQ(bench.reg(kRcs, kNopid), 0u) << how;
    EXPECT_EQ(bench.reg(kRcs, kInstpm) & 0xe, 0u) << how << ": all command groups are enabled";
    static_cast<void>(bench.aperture(0x10'0000));
    EXPECT_EQ(bench.reg(kRcs, kEsr), 0u) << how << ": CPU reads need no page table";
  };
  spoil();
  bench.device->config_write(0xc0, 1, 1);  // GDRST: full reset
  check("graphics reset");
  bench.enable_table();
  spoil();
  bench.device->reset(device::ResetKind::power_on);
  bench.enable();
  check("power on");
  EXPECT_EQ(bench.read(0x20a0), 0u) << "no interrupt is enabled";
  // With the page table disabled the streamer cannot fetch.
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {0x0040'0043, kNoop});
  EXPECT_EQ(bench.reg(kRcs, kNopid), 0u);
  EXPECT_NE(bench.reg(kRcs, kEsr), 0u) << "an error";
}

INSTANTIATE_TEST_SUITE_P(Chips, Gen4Reset, ::testing::ValuesIn(gen4_chips()), chip_name);

}  // namespace
}  // namespace halogen
