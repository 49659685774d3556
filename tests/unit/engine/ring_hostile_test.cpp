// Endless or unmapped rings, batches and images, on every chip. The registers show that the engine loops or is stuck.
// Other engines and the host continue, and a reset recovers the engine.
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kSecondLevel = 1u << 22;
constexpr uint64_t kLongTime = 1'000'000;

class RingHostileTest : public ::testing::TestWithParam<std::string> {
 protected:
  RingHostileTest() : bench(GetParam()), data(bench.allocate(1)) { bench.start_ring(kRcs); }

  void start(const FlowBench::Dwords& dwords) {
    bench.emit(kRcs, dwords);
    bench.submit(kRcs);
  }
  // Checks that another engine, if there is one, completes work meanwhile.
  void expect_others_work() {
    if (bench.model.engines.size() < 2) return;
    const std::string_view other = bench.model.engines[1].name;
    bench.start_ring(other);
    bench.emit(other, bench.store(data + 0x80, ++round_));
    bench.submit(other);
    bench.device->advance(kLongTime);
    EXPECT_EQ(bench.peek(data + 0x80), round_);
  }
  void expect_recovery() {
    bench.device->reset_engine(bench.engine_model(kRcs));
    if (bench.is_gen4()) bench.enable_table();
    bench.start_ring(kRcs);
    bench.run_all(kRcs, bench.store(data, ++round_));
    EXPECT_EQ(bench.peek(data), round_);
    EXPECT_EQ(bench.reg(kRcs, EngineBench::kHead) & 0x1f'fffc, bench.ring_tail(kRcs));
  }

  FlowBench bench;
  uint64_t data;
  uint32_t round_ = 0;
};

TEST_P(RingHostileTest, EndlessBatchLoopCanBeReset) {
  const uint64_t batch = bench.allocate(1);
  bench.poke(batch, FlowBench::join({bench.store(data + 4, 7), bench.batch(batch)}));
  start(FlowBench::join({bench.batch(batch), bench.store(data + 8, 9)}));
  EXPECT_FALSE(bench.device->settle(kLongTime)) << "the loop does not end";
  EXPECT_EQ(bench.peek(data + 4), 7u);
  EXPECT_EQ(bench.peek(data + 8), 0u);
  EXPECT_EQ(bench.reg(kRcs, kActhd) & ~0xfffu, batch);
  expect_others_work();
  expect_recovery();
}

TEST_P(RingHostileTest, BatchThatIsTheRingCanBeReset) {
  start(FlowBench::join({bench.store(data + 4, 7), bench.batch(bench.ring_start(kRcs))}));
  EXPECT_FALSE(bench.device->settle(kLongTime));
  EXPECT_EQ(bench.peek(data + 4), 7u);
  expect_others_work();
  expect_recovery();
}

// A second level batch that calls itself exceeds the maximum depth.
TEST_P(RingHostileTest, RecursiveBatchCanBeReset) {
  const uint64_t batch = bench.allocate(1);
  bench.poke(batch, bench.batch(batch, bench.is_gen8_on() ? kSecondLevel : 0));
  start(bench.batch(batch));
  bench.device->advance(kLongTime);
  EXPECT_NE(bench.reg(kRcs, EngineBench::kHead) & 0x1f'fffc, bench.ring_tail(kRcs) + 8) << "the ring is never resumed";
  expect_others_work();
  expect_recovery();
}

TEST_P(RingHostileTest, HeadOrTailOutsideTheRingIsReported) {
  for (const auto& [head, tail] : std::initializer_list<std::pair<uint32_t, uint32_t>>{
           {0, 0x1000}, {0, 0x1f'fff8}, {0x1000, 0}, {0x1f'fffc, 8}, {0x1f'fffc, 0x1f'fff8}}) {
    const uint64_t ring = bench.allocate(2);  // the second page does not belong to the ring
    bench.poke(ring + 0x1000, bench.store(data + 4, 7));
    bench.set_reg(kRcs, EngineBench::kControl, 0);
    bench.set_reg(kRcs, EngineBench::kStart, static_cast<uint32_t>(ring));
    bench.set_reg(kRcs, EngineBench::kHead, head);
    bench.set_reg(kRcs, EngineBench::kControl, 1);
    bench.set_reg(kRcs, EngineBench::kTail, tail);
    EXPECT_TRUE(bench.device->settle()) << head << " " << tail;
    EXPECT_EQ(bench.peek(data + 4), 0u) << "nothing after the ring is executed";
    EXPECT_GE(bench.undefined(), 1u) << "the mistake is reported";
    expect_others_work();
    expect_recovery();
  }
}

TEST_P(RingHostileTest, UnmappedRingCanBeReset) {
  for (const uint32_t at : {0u, 0x7fff'f000u, 0xffff'f000u}) {
    bench.set_reg(kRcs, EngineBench::kControl, 0);
    bench.set_reg(kRcs, EngineBench::kStart, at);
    bench.set_reg(kRcs, EngineBench::kHead, 0);
    bench.set_reg(kRcs, EngineBench::kControl, 1);
    bench.set_reg(kRcs, EngineBench::kTail, 0xff8);
    bench.device->advance(kLongTime);
    expect_others_work();
    expect_recovery();
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, RingHostileTest, ::testing::ValuesIn(all_chips()), chip_name);

// MI_SET_CONTEXT with an image that is the running ring or is not mapped.
class SetContextHostileTest : public RingHostileTest {};

TEST_P(SetContextHostileTest, ImageThatIsTheRingCanBeReset) {
  constexpr uint32_t kGlobal = 0x100, kForce = 2;
  for (const uint64_t image : {bench.ring_start(kRcs), uint64_t{0x7fff'f000}}) {
    const auto low = static_cast<uint32_t>(image) | kGlobal | kForce;
    start({kSetContext, low, kNoop, kNoop, kSetContext, static_cast<uint32_t>(data) | kGlobal | kForce, kNoop, kNoop,
           kSetContext, low, kNoop, kNoop});
    bench.device->advance(kLongTime);
    expect_others_work();
    expect_recovery();
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, SetContextHostileTest, ::testing::ValuesIn(ring_chips()), chip_name);

}  // namespace
}  // namespace halogen
