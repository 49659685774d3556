// How the address space of a batch determines its privilege, from Gen8 on. DG1 PRM vol. 13, user mode privileged
// commands (seed 000).
#include "covers.h"
#include "flow_bench.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint64_t kBatch = 0x40'0000, kData = 0x50'0000, kOther = 0x60'0000;  // addresses of the process
constexpr uint32_t kPpgtt = 1u << 8, kSecondLevel = 1u << 22, kViolation = 4;

using Dwords = std::vector<uint32_t>;

Dwords batch(uint64_t address, uint32_t flags) {
  return {kBatchStart | flags | 1, static_cast<uint32_t>(address), 0};
}
class BatchPrivilege : public ::testing::TestWithParam<std::string> {
 protected:
  BatchPrivilege() : bench(GetParam()), context(bench.create(kRcs, 1)) {
    bench.set_reg(kRcs, kEmr, 0);
    commands = bench.allocate(1);
    data = bench.allocate(1);
    bench.map_process(context, kBatch, commands);
    bench.map_process(context, kData, data);
  }
  void run(const Dwords& ring) {
    bench.emit(context, ring);
    bench.run(context);
  }
  // A store through the global table requires privilege.
  Dwords privileged(uint32_t value) const { return ContextBench::store(data + 64, value); }
  uint32_t stored() { return bench.peek(data + 64); }

  ContextBench bench;
  ContextBench::Context context;
  uint64_t commands = 0, data = 0;  // addresses in the global table
};

TEST_P(BatchPrivilege, OnlyRingAndGlobalBatchesArePrivileged) {
  COVERS("DG1-PRIV-01");
  run(privileged(0x01));
  EXPECT_EQ(stored(), 1u) << "from the ring";
  bench.poke(commands, FlowBench::join({privileged(0x03), {kBatchEnd}}));
  run(batch(commands, 0));
  EXPECT_EQ(stored(), 3u) << "from a batch in the global table";
  EXPECT_EQ(bench.reg(kRcs, kEir), 0u);
  bench.poke(commands, FlowBench::join({privileged(0x07), {kBatchEnd}}));
  run(batch(kBatch, kPpgtt));
  EXPECT_EQ(stored(), 3u) << "from a batch in the table of the process";
  EXPECT_EQ(bench.reg(kRcs, kEir), kViolation);
}

TEST_P(BatchPrivilege, BatchStartKeepsOrLowersPrivilege) {
  COVERS("DG1-PRIV-04");
  for (const uint32_t level : {0u, kSecondLevel}) {
    // A batch of the process that starts a batch in the global table stays in the address space of the process, without
    // privilege.
    const uint64_t other = bench.allocate(1);
    bench.map_process(context, kOther, other);
    bench.poke(other, FlowBench::join({privileged(0x0f), {0x0040'0021, kBatchEnd}}));
    bench.poke(commands, FlowBench::join({batch(kOther, level), {kBatchEnd}}));
    run(batch(kBatch, kPpgtt));
    EXPECT_NE(stored(), 0xfu);
    EXPECT_EQ(bench.reg(kRcs, kNopid), 0x21u) << "the batch was fetched from the address space of the process";
    EXPECT_EQ(bench.reg(kRcs, kEir), kViolation);
    bench.set_reg(kRcs, kEir, kViolation);
    // A global batch may start an unprivileged batch.
    bench.poke(other, FlowBench::join({privileged(0x1f), {0x0040'0022, kBatchEnd}}));
    bench.poke(commands, FlowBench::join({batch(kOther, level | kPpgtt), {kBatchEnd}}));
    run(batch(commands, 0));
    EXPECT_NE(stored(), 0x1fu);
    EXPECT_EQ(bench.reg(kRcs, kNopid), 0x22u);
    EXPECT_EQ(bench.reg(kRcs, kEir), kViolation);
    bench.set_reg(kRcs, kEir, kViolation);
    // A global second level batch keeps privilege. When it ends, the first level still has privilege.
    bench.poke(other, {kBatchEnd, kNoop});
    bench.poke(commands, FlowBench::join({batch(kOther, kSecondLevel | kPpgtt), privileged(0x55), {kBatchEnd}}));
    run(batch(commands, 0));
    EXPECT_EQ(stored(), 0x55u);
    EXPECT_EQ(bench.reg(kRcs, kEir), 0u);
  }
}

TEST_P(BatchPrivilege, PostSyncWritesToGlobalMemoryAreDropped) {
  const auto pipe_control = [&](uint32_t flags, uint64_t address, uint32_t value) {
    return Dwords{0x7a00'0004, flags | 1u << 14, static_cast<uint32_t>(address), 0, value, 0};
  };
  bench.poke(commands, FlowBench::join({pipe_control(0, kData, 1), {kBatchEnd}}));
  run(batch(kBatch, kPpgtt));
  EXPECT_EQ(bench.peek(data), 1u) << "memory of the process";
  EXPECT_EQ(bench.reg(kRcs, kEir), 0u);
  bench.poke(commands, FlowBench::join({pipe_control(1u << 24, data, 2), {0x0040'0031, kBatchEnd}}));
  run(batch(kBatch, kPpgtt));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg(kRcs, kNopid), 0x31u) << "the flush itself completes";
  EXPECT_EQ(bench.reg(kRcs, kEir), kViolation);
  bench.set_reg(kRcs, kEir, kViolation);
  bench.poke(commands, FlowBench::join({pipe_control(1u << 21, 0x200, 2), {kBatchEnd}}));
  run(batch(kBatch, kPpgtt));
  EXPECT_EQ(bench.process_page(context, 0x80), 0u);
  EXPECT_EQ(bench.reg(kRcs, kEir), kViolation);
}

TEST_P(BatchPrivilege, IndexedPostSyncWritesToTheContextStatusPage) {
  run({0x7a00'0004, 1u << 21 | 1u << 14, 0x200, 0, 0x5a, 0});
  EXPECT_EQ(bench.process_page(context, 0x80), 0x5au);
  run({0x7a00'0004, 1u << 24 | 1u << 21 | 1u << 14, 0x200, 0, 0x5b, 0});
  EXPECT_EQ(bench.peek(bench.status_page(kRcs) + 0x200), 0x5bu)
      << "global address space: the status page of the engine";
}

TEST_P(BatchPrivilege, ReportHeadWritesToTheContextStatusPage) {
  run({kReportHead, kNoop});
  EXPECT_EQ(bench.process_page(context, 4), 4u);
  EXPECT_EQ(bench.peek(bench.status_page(kRcs) + 16), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, BatchPrivilege, ::testing::Values("bdw", "chv", "skl", "icl", "tgl", "dg1"), chip_name);

}  // namespace
}  // namespace halogen
