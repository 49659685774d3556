// MI commands without memory access, and command fetch. G45 PRM vol. 1b 1.11, 1.14, 1.20, 5.3.1, 5.3.3 (seed 003); DG1
// PRM vol. 13, command formats and command fetch (seed 000).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kPipeControl = 0x7a00'0000, kStateSip = 0x6102'0000;

class FlowTest : public ::testing::TestWithParam<std::string> {};

TEST_P(FlowTest, NoopWithNumberWritesNopid) {
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {0x0040'0000 | 0x2a'bcde, 0x0001'2345});
  EXPECT_EQ(bench.reg(kRcs, kNopid), 0x2a'bcdeu) << "without bit 22 NOPID is unchanged";
}

TEST_P(FlowTest, ReportHeadWritesTheStatusPage) {
  COVERS("G45-1.14-01");
  FlowBench bench(GetParam());
  const uint64_t page = bench.give_status_page(kRcs);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {kNoop, kNoop, kReportHead, kNoop});
  EXPECT_EQ(bench.peek(page + 16), 12u) << "one dword past the last parsed command";
}

TEST_P(FlowTest, EveryEngineParsesItsOwnRing) {
  COVERS("DG1-CS-01");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  uint32_t number = 0;
  for (const spec::EngineModel& engine : bench.model.engines) {
    bench.start_ring(engine.name);
    bench.emit(engine.name, bench.store(data + 4 * number, number + 1));
    bench.submit(engine.name);
    ++number;
  }
  EXPECT_TRUE(bench.device->settle());
  for (uint32_t i = 0; i < number; ++i) {
    EXPECT_EQ(bench.peek(data + 4 * i), i + 1);
  }
}

TEST_P(FlowTest, ReservedClientsAreParseErrors) {
  COVERS("DG1-CS-07");
  for (const uint32_t client : {1u, 4u, 5u, 6u, 7u}) {
    FlowBench bench(GetParam());
    const uint64_t data = bench.allocate(1);
    bench.start_ring(kRcs);
    bench.run_all(kRcs, FlowBench::join({{client << 29, kNoop}, bench.store(data, 1)}));
    EXPECT_EQ(bench.events(EventKind::unknown_command), 1u) << client;
    EXPECT_EQ(bench.reg(kRcs, kEsr) & 1, 1u) << client;
    EXPECT_EQ(bench.peek(data), 0u) << client;
  }
}

TEST_P(FlowTest, LengthsAreImpliedFixedOrVariable) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint32_t nopid = bench.engine_model(kRcs).mmio_base + kNopid;
  const uint32_t ecos = bench.engine_model(kRcs).mmio_base + kHwstam;
  static_cast<void>(nopid);
  bench.start_ring(kRcs);
  // Implied (MI_NOOP), fixed but encoded (the store), variable (two register pairs), padded to a quadword.
  bench.run_all(kRcs, FlowBench::join({{kNoop},
                                       bench.store(data, 1),
                                       {0x1100'0003, ecos, 0xffff'fffe, ecos, 0xffff'fff5},
                                       bench.store(data + 4, 2)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kHead), bench.ring_tail(kRcs));
}

TEST_P(FlowTest, IdleRegisterShowsTheStreamer) {
  FlowBench bench(GetParam());
  const uint32_t idle = bench.reg(kRcs, 0x6c);
  bench.start_ring(kRcs);
  EXPECT_EQ(bench.reg(kRcs, 0x6c), idle | 1) << "bit 0: the ring is enabled";
}

INSTANTIATE_TEST_SUITE_P(Chips, FlowTest, ::testing::ValuesIn(all_chips()), chip_name);

class Gen4Flow : public ::testing::TestWithParam<std::string> {};

TEST_P(Gen4Flow, UserInterruptIsRaised) {
  COVERS("G45-1.20-01");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.write(0x20a8, ~2u);  // unmask
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({{kUserInterrupt, kNoop}, bench.store(data, 1)}));
  EXPECT_EQ(bench.read(0x20a4) & 2, 2u);
  EXPECT_EQ(bench.peek(data), 1u) << "parsing continues";
}

TEST_P(Gen4Flow, ReportHeadInABatchIsReported) {
  COVERS("G45-1.14-02");
  FlowBench bench(GetParam());
  bench.give_status_page(kRcs);
  const uint64_t batch = bench.place({kReportHead, kBatchEnd});
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.batch(batch));
  EXPECT_EQ(bench.undefined(), 1u);
}

// Command groups that INSTPM disables are skipped, and not reported. The test uses the media group: MEDIA_OBJECT
// without state raises an Event only if it is executed.
TEST_P(Gen4Flow, DisabledCommandGroupsAreSkipped) {
  FlowBench bench(GetParam());
  const FlowBench::Dwords command{0x7100'0002, 0, 0, 0};  // MEDIA_OBJECT without any state
  bench.start_ring(kRcs);
  bench.set_reg(kRcs, kInstpm, 0x0008'0008);
  bench.run_all(kRcs, command);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 0u) << "disabled: the back end does not receive it";
  bench.set_reg(kRcs, kInstpm, 0x0008'0000);
  bench.run_all(kRcs, command);
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 1u) << "the back end received it";
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kHead), bench.ring_tail(kRcs));
  static_cast<void>(kPipeControl);
  static_cast<void>(kStateSip);
}

INSTANTIATE_TEST_SUITE_P(Chips, Gen4Flow, ::testing::ValuesIn(gen4_chips()), chip_name);

// DG1 PRM vol. 13, command fetch (seed 000): hardware prefetches eight lines. Executing current data is always correct;
// the option models what software sees that changes prefetched commands.
class Prefetch : public ::testing::TestWithParam<unsigned> {};

TEST_P(Prefetch, ChangesInsideThePrefetchWindowAreMissed) {
  COVERS("DG1-FETCH-01");
  device::DeviceOptions options;
  options.prefetch_lines = GetParam();
  FlowBench bench("dg1", options);
  const uint64_t data = bench.allocate(1);
  const uint64_t batch = bench.allocate(1);
  const uint64_t near = batch + 0x40, far = batch + 9 * 64;
  // Both changed dwords are data of later stores.
  bench.poke(batch, FlowBench::join({bench.store(near + 12, 0x22), bench.store(far + 12, 0x22)}));
  bench.poke(near, bench.store(data, 0x11));
  bench.poke(far, FlowBench::join({bench.store(data + 4, 0x11), {kBatchEnd}}));
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.batch(batch));
  EXPECT_EQ(bench.peek(data), GetParam() == 0 ? 0x22u : 0x11u) << "the next line";
  EXPECT_EQ(bench.peek(data + 4), 0x22u) << "nine lines later";
  // A batch start fetches current data, unless the pre-parser has read it before (preparser_test.cpp).
  bench.set_reg(kRcs, 0x29c, 0x0400'0400);
  const uint64_t target = bench.place(FlowBench::join({bench.store(data + 8, 0x11), {kBatchEnd}}));
  const uint64_t first = bench.place(FlowBench::join({bench.store(target + 12, 0x33), bench.batch(target)}));
  bench.run_all(kRcs, bench.batch(first));
  EXPECT_EQ(bench.peek(data + 8), 0x33u);
}

INSTANTIATE_TEST_SUITE_P(Lines, Prefetch, ::testing::Values(0u, 8u));

}  // namespace
}  // namespace halogen
