// Errors: ESR, EMR, EIR and the master error. G45 PRM vol. 1b 5.7 (seed 003); DG1 PRM vol. 13 (seed 000), hardware
// status page (error registers).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kIsr = 0x20ac, kIir = 0x20a4, kImr = 0x20a8, kMasterError = 1u << 15;

class ErrorTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ErrorTest, MaskSelectsWhatTheIdentityRegisterShows) {
  FlowBench bench(GetParam());
  bench.start_ring(kRcs);
  EXPECT_EQ(bench.reg(kRcs, kEmr), 0xffff'ffffu);
  bench.run_all(kRcs, {0xe000'0000, kNoop});
  EXPECT_EQ(bench.reg(kRcs, kEsr) & 1, 1u) << "the status register is not masked";
  EXPECT_EQ(bench.reg(kRcs, kEir), 0u) << "masked";
  bench.set_reg(kRcs, kEmr, 0xffff'fffe);
  EXPECT_EQ(bench.reg(kRcs, kEir), 1u) << "the status bit is still set";
  bench.set_reg(kRcs, kEir, 1);
  EXPECT_EQ(bench.reg(kRcs, kEir), 1u) << "unrecoverable: writing one does not clear it";
  EXPECT_EQ(bench.reg(kRcs, kIpehr), 0xe000'0000u) << "the header of the failing command";
  EXPECT_EQ(bench.reg(kRcs, 0x64) & 8, 0u) << "the error came from the ring";
}

TEST_P(ErrorTest, UnrecoverableErrorIsClearedOnlyByAReset) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, FlowBench::join({{0xe000'0000, kNoop}, bench.store(data, 1)}));
  bench.run_all(kRcs, bench.store(data + 4, 2));
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.peek(data + 4), 0u);
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kHead), 0u);
  if (bench.is_gen4()) {
    bench.device->config_write(0xc0, 1, 1);  // GDRST: full reset
    bench.enable_table();
  } else {
    bench.write(0x941c, 1);
  }
  EXPECT_EQ(bench.reg(kRcs, kEsr), 0u);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, bench.store(data, 3));
  EXPECT_EQ(bench.peek(data), 3u);
}

INSTANTIATE_TEST_SUITE_P(Chips, ErrorTest, ::testing::ValuesIn(all_chips()), chip_name);

class Gen4Error : public ::testing::TestWithParam<std::string> {};

TEST_P(Gen4Error, EveryErrorSetsTheMasterError) {
  COVERS("G45-5.7.1-01");
  FlowBench bench(GetParam());
  bench.write(kImr, ~kMasterError);
  bench.set_reg(kRcs, kEmr, 0);
  bench.start_ring(kRcs);
  EXPECT_EQ(bench.read(kIsr) & kMasterError, 0u);
  bench.run_all(kRcs, {0xe000'0000, kNoop});
  EXPECT_EQ(bench.reg(kRcs, kEsr) & 1, 1u);
  EXPECT_EQ(bench.reg(kRcs, kEir) & 1, 1u);
  EXPECT_EQ(bench.read(kIsr) & kMasterError, kMasterError);
  EXPECT_EQ(bench.read(kIir) & kMasterError, kMasterError);
}

TEST_P(Gen4Error, InvalidPageTableEntryIsAPageTableErrorOfItsClient) {
  COVERS("G45-5.7.2-01");
  COVERS("G45-5.7.2-05");
  const bool gen4 = GetParam() == "i965" || GetParam() == "gm965";
  const uint32_t page_table_error = gen4 ? 1u << 4 : 1u << 5;
  {
    FlowBench bench(GetParam());  // a store by the streamer
    bench.set_reg(kRcs, kEmr, 0);
    bench.start_ring(kRcs);
    bench.run_all(kRcs, bench.store(0x0800'0000, 1));
    EXPECT_EQ(bench.reg(kRcs, kEsr) & page_table_error, page_table_error);
    EXPECT_EQ(bench.read(0x2024) & 1u << 19, 1u << 19) << "PGTBL_ER names the client";
    bench.set_reg(kRcs, kEir, page_table_error);
    EXPECT_EQ(bench.reg(kRcs, kEir) & page_table_error, page_table_error) << "writing one does not clear it";
    EXPECT_EQ(bench.reg(kRcs, kEsr) & page_table_error, page_table_error);
    bench.device->config_write(0xc0, 1, 1);
    EXPECT_EQ(bench.reg(kRcs, kEsr), 0u);
    EXPECT_EQ(bench.read(0x2024), 0u);
  }
  {
    FlowBench bench(GetParam());  // a batch fetch
    bench.start_ring(kRcs);
    bench.emit(kRcs, bench.batch(0x0800'0000));
    bench.submit(kRcs);
    bench.device->advance(1000);
    EXPECT_EQ(bench.reg(kRcs, kEsr) & page_table_error, page_table_error);
    EXPECT_EQ(bench.read(0x2024) & 1u << 20, 1u << 20);
  }
  {
    FlowBench bench(GetParam());  // a CPU access
    static_cast<void>(bench.aperture(0x0800'0000));
    EXPECT_EQ(bench.reg(kRcs, kEsr) & page_table_error, page_table_error);
  }
}

TEST_P(Gen4Error, MaskingAStuckErrorEndsTheInterrupt) {
  FlowBench bench(GetParam());
  bench.write(kImr, ~kMasterError);
  bench.set_reg(kRcs, kEmr, 0);
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {0xe000'0000, kNoop});
  bench.set_reg(kRcs, kEmr, 0xffff'ffff);
  EXPECT_EQ(bench.read(kIsr) & kMasterError, 0u);
  bench.write(kIir, kMasterError);
  EXPECT_EQ(bench.read(kIir) & kMasterError, 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, Gen4Error, ::testing::ValuesIn(gen4_chips()), chip_name);

TEST(ClearingErrors, ClearsTheSourceThenTheMasterBit) {
  COVERS("G45-5.7.3-01");
  FlowBench bench("gm45");
  bench.write(kImr, ~kMasterError);
  bench.set_reg(kRcs, kEmr, 0);
  bench.start_ring(kRcs);
  // A privileged command in a non-secure batch: this violation can be cleared.
  const uint64_t batch = bench.place({0x1100'0001, 0x2098, 0xffff'fff0, kBatchEnd});
  bench.run_all(kRcs, bench.batch(batch, 1u << 8));
  EXPECT_EQ(bench.reg(kRcs, 0x98), 0xffff'ffffu) << "the command was dropped";
  ASSERT_EQ(bench.reg(kRcs, kEir), 8u) << "bit 3: command privilege violation";
  EXPECT_EQ(bench.read(kIsr) & kMasterError, kMasterError);
  bench.write(kIir, kMasterError);
  EXPECT_EQ(bench.read(kIsr) & kMasterError, kMasterError) << "the source is still set";
  bench.set_reg(kRcs, kEir, 8);
  EXPECT_EQ(bench.reg(kRcs, kEir), 0u);
  EXPECT_EQ(bench.reg(kRcs, kEsr), 0u) << "clearing the identity clears the status";
  EXPECT_EQ(bench.read(kIsr) & kMasterError, 0u);
  bench.write(kIir, kMasterError);
  EXPECT_EQ(bench.read(kIir) & kMasterError, 0u);
}

}  // namespace
}  // namespace halogen
