// Privileged commands in non-secure batches of GM45. G45 PRM vol. 1b 1.5.1, 1.5.2 (seed 003).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kNonSecure = 1u << 8, kGfxMode = 0x520, kRccid = 0x190, kViolation = 8;

// The per-process table maps only the page of the batch to the same memory as the global table.
struct Gm45 : FlowBench {
  static constexpr uint64_t kTable = 0x0400'0000, kOther = 0x0500'0000;

  explicit Gm45(bool process_space) : FlowBench("gm45") {
    for (uint64_t page = 0; page < 1024; ++page) {
      host.put<uint32_t>(kTable + 4 * page, static_cast<uint32_t>(kOther + page * kPage) | 1);
    }
    write(0x20c4, static_cast<uint32_t>(kTable) | 1);
    context = allocate(8);
    status = give_status_page(kRcs);
    data = allocate(1);
    commands = allocate(1);
    host.put<uint32_t>(kTable + commands / kPage * 4, static_cast<uint32_t>(host_address(commands)) | 1);
    if (process_space) {
      set_reg(kRcs, kGfxMode, 0x8000'8000);
      set_reg(kRcs, kRccid, static_cast<uint32_t>(context) | 1);
    }
    set_reg(kRcs, kEmr, 0);
    start_ring(kRcs);
  }
  // Runs one command in a non-secure batch. True: a violation was flagged.
  bool violates(const Dwords& command) {
    poke(commands, FlowBench::join({command, {kNoop | 0x0040'0000 | ++number, kBatchEnd}}));
    run_all(kRcs, batch(commands, kNonSecure));
    EXPECT_EQ(reg(kRcs, kNopid), number) << "parsing continues";
    const bool flagged = (reg(kRcs, kEir) & kViolation) != 0;
    set_reg(kRcs, kEir, kViolation);
    return flagged;
  }
  uint32_t process(uint64_t address) { return host.value_at<uint32_t>(kOther + address); }

  uint64_t context = 0, status = 0, data = 0, commands = 0;
  uint32_t number = 0;
};

class Gm45Privilege : public ::testing::TestWithParam<bool> {};

TEST_P(Gm45Privilege, PrivilegedCommandsAreFlaggedAndDropped) {
  COVERS("G45-1.5.2-01");
  COVERS("G45-1.5.2-03");
  Gm45 bench(GetParam());
  const auto data = static_cast<uint32_t>(bench.data);
  EXPECT_TRUE(bench.violates({kArbOnOff}));
  EXPECT_TRUE(bench.violates({0x1100'0001, 0x2098, 0xffff'fff0}));
  EXPECT_EQ(bench.reg(kRcs, kHwstam), 0xffff'ffffu);
  const uint64_t entry = bench.entry(bench.data / EngineBench::kPage);
  EXPECT_TRUE(bench.violates({0x1180'0001, data, 0}));
  EXPECT_EQ(bench.entry(bench.data / EngineBench::kPage), entry);
  EXPECT_TRUE(bench.violates({0x1240'0001, 0x2038, data}));
  EXPECT_EQ(bench.peek(bench.data), 0u);
  EXPECT_EQ(bench.process(bench.data), 0u);
  const uint32_t surface = bench.read(0x7019c);
  EXPECT_TRUE(bench.violates({0x0a00'0001, 512, data}));
  EXPECT_EQ(bench.read(0x7019c), surface);
  EXPECT_EQ(bench.read(0x20ac) & 1u << 11, 0u) << "no flip is pending";
}

INSTANTIATE_TEST_SUITE_P(ProcessSpace, Gm45Privilege, ::testing::Bool());

TEST(Gm45Stores, NonSecureStoresUseTheProcessTable) {
  COVERS("G45-1.5.1-01");
  COVERS("G45-1.5.2-02");
  Gm45 bench(true);
  const auto data = static_cast<uint32_t>(bench.data);
  EXPECT_FALSE(bench.violates({0x1060'0002, 0, data, 7})) << "the command selects the global table";
  EXPECT_EQ(bench.peek(bench.data), 0u);
  EXPECT_EQ(bench.process(bench.data), 7u);
  bench.violates({0x1080'0001, 0x100, 8});
  EXPECT_EQ(bench.peek(bench.status + 0x100), 0u);
  EXPECT_EQ(bench.peek(bench.context + 0x5000 + 0x100), 8u) << "the status page of the process";
  // A secure stream may select the table.
  bench.run_all(kRcs, {0x1060'0002, 0, data, 9});
  EXPECT_EQ(bench.peek(bench.data), 9u);
  bench.run_all(kRcs, {0x1080'0001, 0x104, 10});
  EXPECT_EQ(bench.peek(bench.status + 0x104), 10u);
  bench.run_all(kRcs, {0x10a0'0001, 0x108, 11});
  EXPECT_EQ(bench.peek(bench.context + 0x5000 + 0x108), 11u);
}

}  // namespace
}  // namespace halogen
