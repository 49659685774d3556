// Self-modifying streams with prefetch: commands prefetched in their own buffer (flow_test.cpp) and, by the pre-parser
// of Gen12, across the start and end of batch buffers. DG1 PRM vol. 13, "Command Fetch" (seed 000). The prefetch option
// is on; without it every command is executed as it is in memory.
#include "covers.h"
#include "flow_bench.h"
#include "support/context_bench.h"

namespace halogen {
namespace {

using Dwords = FlowBench::Dwords;

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kMode = 0x29c;
constexpr uint32_t kSwitchOff = 0x0280'0101, kSwitchOn = 0x0280'0100;  // MI_ARB_CHECK with the mask bit
constexpr uint32_t kOld = 0x11, kNew = 0x33;

device::DeviceOptions reads_ahead() {
  device::DeviceOptions options;
  options.prefetch_lines = 8;
  return options;
}

struct PreParserBench : FlowBench {
  explicit PreParserBench(std::string_view chip) : FlowBench(chip, reads_ahead()), data(allocate(1)) {
    start_ring(kRcs, 16);
  }
  // Returns the value that a batch stores after the ring has changed it. `before`: commands between the change and the
  // batch start. `first`: commands in the batch before the changed command.
  uint32_t changed_batch(const Dwords& before, const Dwords& first = {}) {
    poke(data, 0);
    const uint64_t target = place(join({first, store(data, kOld), {kBatchEnd}}));
    run_all(kRcs, join({store(target + 4 * first.size() + 12, kNew), before, batch(target)}));
    return peek(data);
  }
  // Returns the value that the ring stores after a batch has changed it.
  uint32_t changed_ring(const Dwords& before) {
    poke(data, 0);
    const uint64_t start = ring_start(kRcs) + ring_tail(kRcs);
    const uint64_t behind = start + 4 * (before.size() + 3);  // address of the store after the batch start
    const uint64_t target = place(join({store(behind + 12, kNew), {kBatchEnd}}));
    run_all(kRcs, join({before, batch(target), store(data, kOld)}));
    return peek(data);
  }

  uint64_t data;
};

class PreParserTest : public ::testing::TestWithParam<std::string> {};

TEST_P(PreParserTest, CrossesBatchBuffersUnlessDisabled) {
  COVERS("DG1-FETCH-02");
  PreParserBench bench(GetParam());
  EXPECT_EQ(bench.changed_batch({}), kOld) << "on by default, across the start";
  EXPECT_EQ(bench.changed_ring({}), kOld) << "and across the end";
  EXPECT_EQ(bench.changed_batch({0x0280'0001}), kOld) << "without its mask bit the command changes nothing";
  // The switch of the context.
  EXPECT_EQ(bench.changed_batch({kSwitchOff}), kNew);
  EXPECT_EQ(bench.changed_batch({}), kNew) << "off until it is switched on again";
  EXPECT_EQ(bench.changed_ring({}), kNew);
  EXPECT_EQ(bench.changed_batch({kSwitchOn}), kOld);
  // Both switches must be on. The CPU writes the global switch while the engine is idle.
  bench.set_reg(kRcs, kMode, 0x0400'0400);
  EXPECT_EQ(bench.changed_batch({}), kNew);
  EXPECT_EQ(bench.changed_ring({}), kNew);
  EXPECT_EQ(bench.changed_batch({kSwitchOn}), kNew);
  bench.set_reg(kRcs, kMode, 0x0400'0000);
  EXPECT_EQ(bench.changed_batch({kSwitchOff}), kNew);
  EXPECT_EQ(bench.changed_batch({kSwitchOn}), kOld);
}

// The two ways in which software makes its own changes visible, and the result without them.
TEST_P(PreParserTest, SelfModifyingCodeNeedsDistanceOrTheSwitch) {
  COVERS("DG1-FETCH-03");
  PreParserBench bench(GetParam());
  // Distance: eight cache lines between the change and the batch start.
  EXPECT_EQ(bench.changed_batch(Dwords(4 * 16, kNoop)), kOld);
  EXPECT_EQ(bench.changed_batch(Dwords(9 * 16, kNoop)), kNew);
  // Switch: off before the start, on again as the first command of the batch.
  EXPECT_EQ(bench.changed_batch({kSwitchOff}, {kSwitchOn}), kNew);
  EXPECT_EQ(bench.changed_batch({}), kOld) << "on again";
  // Within one buffer only the distance, or a batch start in between, makes the change visible.
  const auto in_one_buffer = [&](size_t lines) {
    bench.poke(bench.data, 0);
    const uint64_t batch = bench.allocate(2);
    const uint64_t target = batch + 64 * lines;
    bench.poke(batch, bench.store(target + 12, kNew));
    bench.poke(target, FlowBench::join({bench.store(bench.data, kOld), {kBatchEnd}}));
    bench.run_all(kRcs, bench.batch(batch));
    return bench.peek(bench.data);
  };
  EXPECT_EQ(in_one_buffer(1), kOld);
  EXPECT_EQ(in_one_buffer(6), kOld) << "the current line of the ring is one of the eight";
  EXPECT_EQ(in_one_buffer(8), kNew);
  bench.set_reg(kRcs, kMode, 0x0400'0400);
  EXPECT_EQ(in_one_buffer(1), kOld) << "the pre-parser has no influence";
  EXPECT_EQ(bench.changed_batch({}), kNew) << "without the pre-parser a batch start is enough";
}

// Missing pages, batch starts to unmapped memory and recursive starts in the prefetched commands have no visible
// effect.
TEST_P(PreParserTest, PrefetchHasNoSideEffects) {
  PreParserBench bench(GetParam());
  const uint64_t batch =
      bench.place(FlowBench::join({bench.store(bench.data, 1), {kBatchEnd}, bench.batch(0x7fff'f000)}));
  bench.run_all(kRcs, bench.batch(batch));
  EXPECT_EQ(bench.peek(bench.data), 1u);
  EXPECT_EQ(bench.events(), 0u);
  const uint64_t loop = bench.allocate(1);
  bench.poke(loop, bench.batch(loop));
  bench.emit(kRcs, bench.batch(loop));
  bench.submit(kRcs);
  bench.device->advance(100'000);
  EXPECT_EQ(bench.events(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Gen12, PreParserTest, ::testing::Values("tgl", "dg1"), chip_name);

TEST(PreParser, DoesNotExistBeforeGen12) {
  for (const char* chip : {"bdw", "skl", "icl"}) {
    PreParserBench bench(chip);
    EXPECT_EQ(bench.changed_batch({}), kNew) << chip;
    EXPECT_EQ(bench.changed_ring({}), kNew) << chip;
  }
}

TEST(PreParser, SwitchBelongsToTheContext) {
  COVERS("DG1-FETCH-02");
  ContextBench bench("dg1", reads_ahead());
  const uint64_t data = bench.allocate(1);
  // A context that changes a batch and runs it after other commands.
  const auto add = [&](ContextBench::Context& context, uint32_t before, uint64_t result) {
    const uint64_t target = bench.allocate(1);
    std::vector<uint32_t> commands = ContextBench::store(result, kOld);
    commands.push_back(kBatchEnd);
    bench.poke(target, commands);
    bench.emit(context, {before, 0});
    bench.emit(context, ContextBench::store(target + 12, kNew));
    bench.emit(context, {0x1880'0001, static_cast<uint32_t>(target), 0, 0});
  };
  ContextBench::Context careful = bench.create("rcs0", 1);
  ContextBench::Context careless = bench.create("rcs0", 2);
  add(careful, kSwitchOff, data);
  add(careless, kNoop, data + 4);
  bench.run(careful);
  bench.run(careless);
  EXPECT_EQ(bench.peek(data), kNew);
  EXPECT_EQ(bench.peek(data + 4), kOld) << "on for a context that never switched it off";
  add(careful, kNoop, data + 8);
  add(careless, kNoop, data + 12);
  bench.run(careful);
  bench.run(careless);
  EXPECT_EQ(bench.peek(data + 8), kNew) << "saved with the context";
  EXPECT_EQ(bench.peek(data + 12), kOld);
}

}  // namespace
}  // namespace halogen
