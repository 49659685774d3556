// Points at which an engine may switch to other work: the updated head pointer of Gen4 to Gen6 rings, the run lists of
// GM45, and MI_ARB_ON_OFF. G45 PRM vol. 1b 1.2, 1.3, 2.2, 5.3.7 (seed 003).
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kHead = EngineBench::kHead, kTail = EngineBench::kTail;
constexpr uint32_t kRccid = 0x190, kRncid = 0x198, kGfxMode = 0x520;

class UpdatedHead : public ::testing::TestWithParam<std::string> {};

TEST_P(UpdatedHead, ArbCheckLoadsHeadAndWrapCount) {
  COVERS("G45-1.2-01");
  COVERS("G45-1.2-05");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  const uint64_t ring = bench.ring_start(kRcs);
  bench.poke(ring, FlowBench::join({{kArbCheck, kNoop}, bench.store(data, 1)}));
  bench.poke(ring + 0x100, bench.store(data + 4, 2));
  bench.set_reg(kRcs, kUhptr, 9u << 21 | 0x100 | 1);
  bench.set_reg(kRcs, kTail, 0x110);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0u) << "the ring was preempted before this store";
  EXPECT_EQ(bench.peek(data + 4), 2u);
  EXPECT_EQ(bench.reg(kRcs, kHead), 9u << 21 | 0x110) << "the wrap count comes from the register";
  EXPECT_EQ(bench.reg(kRcs, kUhptr) & 1, 0u);
}

TEST_P(UpdatedHead, UpdatedHeadMayLieBeforeTheOldHead) {
  COVERS("G45-1.2-02");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  const uint64_t ring = bench.ring_start(kRcs);
  bench.poke(ring, bench.store(data, 1));
  bench.poke(ring + 0x40, {kArbCheck, kNoop});
  bench.set_reg(kRcs, kHead, 0x40);
  bench.set_reg(kRcs, kUhptr, 1);
  bench.set_reg(kRcs, kTail, 0x48);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg(kRcs, kHead), 0x48u);
}

TEST_P(UpdatedHead, EqualHeadsOnlyClearTheValidBit) {
  COVERS("G45-1.2-03");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  const uint64_t ring = bench.ring_start(kRcs);
  bench.poke(ring + 0x40, FlowBench::join({{kArbCheck, kNoop}, bench.store(data, 1)}));
  bench.set_reg(kRcs, kUhptr, 0x40 | 1);
  bench.set_reg(kRcs, kTail, 0x58);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg(kRcs, kUhptr), 0x40u);
  EXPECT_EQ(bench.reg(kRcs, kHead), 0x58u);
}

TEST_P(UpdatedHead, WithoutTheValidBitParsingContinues) {
  COVERS("G45-1.2-06");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.set_reg(kRcs, kUhptr, 0x100);
  bench.run_all(kRcs, FlowBench::join({{kArbCheck, kNoop}, bench.store(data, 1)}));
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg(kRcs, kUhptr), 0x100u);
}

TEST_P(UpdatedHead, ArbCheckInABatchIsReported) {
  COVERS("G45-1.2-04");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  const uint64_t batch = bench.place(FlowBench::join({{kArbCheck}, bench.store(data, 1), {kBatchEnd}}));
  bench.start_ring(kRcs);
  bench.set_reg(kRcs, kUhptr, 0x800 | 1);
  bench.emit(kRcs, bench.batch(batch));
  bench.submit(kRcs);
  bench.device->advance(200);
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.peek(data), 1u) << "MI_ARB_CHECK has no effect in a batch";
}

TEST_P(UpdatedHead, EmptyRingLoadsTheUpdatedHead) {
  COVERS("G45-5.3.7-04");
  COVERS("G45-5.3.7-06");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  const uint64_t ring = bench.ring_start(kRcs);
  bench.poke(ring + 0x100, bench.store(data, 1));
  bench.set_reg(kRcs, kHead, 0x110);
  bench.set_reg(kRcs, kTail, 0x110);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kHead), 0x110u) << "an empty ring is idle";
  bench.set_reg(kRcs, kUhptr, 0x100 | 1);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg(kRcs, kHead), 0x110u);
  EXPECT_EQ(bench.reg(kRcs, kUhptr) & 1, 0u);
  bench.poke(data, 0);
  bench.poke(ring + 0x110, FlowBench::join({{kArbCheck, kNoop}, bench.store(data + 4, 2)}));
  bench.set_reg(kRcs, kTail, 0x128);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data + 4), 2u) << "parsing continues when no switch is requested";
  EXPECT_EQ(bench.peek(data), 0u);
}

TEST(Gen6UpdatedHead, UpdatedHeadIsIgnoredWhileArbitrationIsOff) {
  FlowBench bench("snb");
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.poke(bench.ring_start(kRcs) + 0x100, bench.store(data + 4, 2));
  bench.emit(kRcs, FlowBench::join({{kArbOnOff, kArbCheck}, bench.store(data, 1), {kArbOnOff | 1, kArbCheck}}));
  bench.set_reg(kRcs, kUhptr, 0x100 | 1);
  bench.set_reg(kRcs, kTail, 0x110);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.peek(data + 4), 2u);
}

INSTANTIATE_TEST_SUITE_P(Rings, UpdatedHead, ::testing::ValuesIn(ring_chips()), chip_name);

// The wait bit of the ring's control register: a condition code in EXCC holds the ring.
class RingWait : public ::testing::TestWithParam<std::string> {};

TEST_P(RingWait, ControlRegisterShowsAndCancelsTheWait) {
  COVERS("G45-5.3.7-08");
  COVERS("G45-5.3.7-13");
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring(kRcs);
  bench.set_reg(kRcs, 0x28, 0x0001'0001);  // condition code 1
  bench.emit(kRcs, FlowBench::join({{kWaitForEvent | 1u << 9, kNoop}, bench.store(data, 1)}));
  bench.submit(kRcs);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.reg(kRcs, kHead), 0u);
  const uint32_t control = bench.reg(kRcs, EngineBench::kControl);
  EXPECT_EQ(control & 0x800, 0x800u);
  bench.set_reg(kRcs, EngineBench::kControl, control);  // as drivers do: write the set bit back
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kControl) & 0x800, 0u);
  // The next wait waits again and ends when its condition is met.
  bench.emit(kRcs, FlowBench::join({{kWaitForEvent | 1u << 9, kNoop}, bench.store(data, 2)}));
  bench.submit(kRcs);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  bench.set_reg(kRcs, 0x28, 0x0001'0000);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 2u);
  bench.run_all(kRcs, FlowBench::join({{kWaitForEvent | 1u << 9, kNoop}, bench.store(data, 3)}));
  EXPECT_EQ(bench.peek(data), 3u) << "the store runs while the condition code is clear";
}

INSTANTIATE_TEST_SUITE_P(Gen4, RingWait, ::testing::ValuesIn(gen4_chips()), chip_name);

TEST(ArbOnOff, DoesNotExistBeforeGm45) {
  COVERS("G45-1.3-06");
  FlowBench bench("gm965");
  bench.start_ring(kRcs);
  bench.run_all(kRcs, {kArbOnOff, kNoop});
  EXPECT_EQ(bench.events(EventKind::unknown_command), 1u);
  EXPECT_EQ(bench.reg(kRcs, kEsr) & 1, 1u);
}

// Two contexts of a run list. The device writes the images itself: the first switch away from a context creates its
// image.
struct RunListBench : FlowBench {
  RunListBench() : FlowBench("gm45") {
    first = allocate(8);
    second = allocate(8);
    start_ring(kRcs);
    set_reg(kRcs, kGfxMode, 0x8000'8000);
    set_reg(kRcs, kRccid, static_cast<uint32_t>(first) | 1);
  }
  void ask_for(uint64_t context) { set_reg(kRcs, kRncid, static_cast<uint32_t>(context) | 1); }
  uint32_t current() { return reg(kRcs, kRccid); }

  uint64_t first = 0, second = 0;
};

TEST(RunLists, ArbCheckSwitchesToTheNextContextAndIgnoresTheHead) {
  RunListBench bench;
  const uint64_t data = bench.allocate(1);
  bench.set_reg(kRcs, kUhptr, 0x800 | 1);
  bench.run_all(kRcs, FlowBench::join({{kArbCheck, kNoop}, bench.store(data, 1)}));
  EXPECT_EQ(bench.current(), bench.first | 1) << "no next context is set";
  EXPECT_EQ(bench.reg(kRcs, kUhptr), 0x801u);
  bench.ask_for(bench.second);
  bench.run_all(kRcs, FlowBench::join({{kArbCheck, kNoop}, bench.store(data, 2)}));
  EXPECT_EQ(bench.current(), bench.second | 1);
  EXPECT_EQ(bench.reg(kRcs, kRncid) & 1, 0u);
}

TEST(ArbOnOff, SuppressesSwitchesUntilArbitrationIsOnAgain) {
  COVERS("G45-1.3-01");
  COVERS("G45-5.3.7-02");
  RunListBench bench;
  bench.ask_for(bench.second);
  bench.emit(kRcs, {kArbOnOff, kArbCheck, kArbCheck, kNoop | 0x0040'0007});
  bench.submit(kRcs);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.reg(kRcs, kNopid), 7u);
  EXPECT_EQ(bench.current(), bench.first | 1) << "the switch stays suppressed when the ring is empty";
  bench.run_all(kRcs, {kArbOnOff | 1, kArbCheck});
  EXPECT_EQ(bench.current(), bench.second | 1);
}

TEST(ArbOnOff, ProbeFaultWhileOffHangs) {
  COVERS("G45-1.3-02");
  RunListBench bench;
  bench.ask_for(bench.second);
  const uint64_t data = bench.allocate(1);
  // A page without a page table entry.
  bench.run_all(kRcs, FlowBench::join({{kArbOnOff, kProbe, 0x0fff'0005, kNoop}, bench.store(data, 1)}));
  EXPECT_EQ(bench.peek(data), 0u);
  EXPECT_EQ(bench.current(), bench.first | 1);
}

TEST(ArbOnOff, NoSwitchAtAWaitOrAnEmptyRingWhileOff) {
  COVERS("G45-1.3-02");
  RunListBench bench;
  const uint64_t data = bench.allocate(1);
  bench.set_reg(kRcs, 0x28, 0x0001'0001);  // the condition code holds the ring
  bench.emit(kRcs, FlowBench::join({{kArbOnOff, kWaitForEvent | 1u << 9}, bench.store(data, 1)}));
  bench.submit(kRcs);
  bench.device->advance(10'000);
  bench.ask_for(bench.second);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.current(), bench.first | 1) << "the ring waits and no context switch happens";
  EXPECT_EQ(bench.peek(data), 0u);
  bench.set_reg(kRcs, 0x28, 0x0001'0000);
  EXPECT_TRUE(bench.device->settle());
  EXPECT_EQ(bench.peek(data), 1u);
  EXPECT_EQ(bench.current(), bench.first | 1) << "the ring is empty and no context switch happens";
  bench.run_all(kRcs, {kArbOnOff | 1, kNoop});
  EXPECT_EQ(bench.current(), bench.second | 1) << "the switch happens when arbitration is on again";
}

TEST(ArbOnOff, IsIgnoredWithoutRunLists) {
  COVERS("G45-1.3-04");
  RunListBench bench;
  bench.set_reg(kRcs, kGfxMode, 0x8000'0000);
  bench.run_all(kRcs, {kArbOnOff, kNoop});
  bench.set_reg(kRcs, kGfxMode, 0x8000'8000);
  bench.ask_for(bench.second);
  bench.run_all(kRcs, {kArbCheck, kNoop});
  EXPECT_EQ(bench.current(), bench.second | 1) << "arbitration was not switched off";
}

TEST(ArbOnOff, BatchThatLeavesArbitrationOffIsReported) {
  COVERS("G45-5.3.7-05");
  COVERS("G45-1.3-05");
  RunListBench bench;
  const uint64_t pair = bench.place({kArbOnOff, kArbOnOff | 1, kBatchEnd, kNoop});
  const uint64_t alone = bench.place({kArbOnOff, kBatchEnd});
  bench.run_all(kRcs, bench.batch(pair));
  EXPECT_EQ(bench.undefined(), 0u);
  bench.run_all(kRcs, bench.batch(alone));
  EXPECT_EQ(bench.undefined(), 1u);
}

TEST(RunLists, ContextResumesWithItsOwnRing) {
  RunListBench bench;
  const uint64_t data = bench.allocate(1);
  bench.ask_for(bench.second);
  bench.run_all(kRcs, {kArbCheck, kNoop});  // saves the first context; its ring ends here
  const uint64_t start = bench.ring_start(kRcs), tail = bench.ring_tail(kRcs);
  bench.start_ring(kRcs);  // another ring for the second context
  bench.ask_for(bench.first);
  bench.run_all(kRcs, FlowBench::join({{kArbCheck, kNoop}, bench.store(data, 1)}));
  EXPECT_EQ(bench.current(), bench.first | 1);
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kStart), start);
  EXPECT_EQ(bench.reg(kRcs, kHead), tail);
  EXPECT_EQ(bench.peek(data), 0u) << "the second context was preempted before this store";
}

TEST(ArbOnOff, NonSecureBatchCannotSwitchArbitrationOff) {
  COVERS("G45-1.3-03");
  RunListBench bench;
  const uint64_t batch = bench.place({kArbOnOff, kBatchEnd});
  bench.run_all(kRcs, bench.batch(batch, 1u << 8));
  bench.ask_for(bench.second);
  bench.run_all(kRcs, {kArbCheck, kNoop});
  EXPECT_EQ(bench.current(), bench.second | 1);
}

// A batch of two parts, each long enough to be interrupted. Each context has its own ring, so what is left of the batch
// is not executed after the switch. The other context is requested during the first part.
struct InterruptedBatch : RunListBench {
  explicit InterruptedBatch(uint32_t control, bool arbitration_off = false) {
    ask_for(second);
    run_all(kRcs, {kArbCheck, kNoop});  // the first context is saved with its ring, which is empty
    start_ring(kRcs);
    host.log.clear();
    data = allocate(1);
    const uint64_t second_part = allocate(8);
    poke(second_part + 4 * kPage, FlowBench::join({store(data + 4, 2), {kBatchEnd}}));
    const uint64_t first_part = allocate(8);
    poke(first_part + 4 * kPage, FlowBench::join({store(data, 1), batch(second_part, control << 9)}));
    emit(kRcs, FlowBench::join({Dwords{arbitration_off ? kArbOnOff : kArbOnOff | 1}, batch(first_part, control << 9),
                                store(data + 8, 3)}));
    submit(kRcs);
    device->advance(5000);
    EXPECT_EQ(peek(data), 0u);
    ask_for(first);
    device->advance(2560);
    at_once = current() == (first | 1);
    EXPECT_EQ(peek(data), 0u) << "the first part still runs";
    EXPECT_TRUE(device->settle());
  }
  bool switched() { return current() == (first | 1); }
  bool first_part() { return peek(data) == 1; }
  bool second_part() { return peek(data + 4) == 2; }
  bool rest_of_ring() { return peek(data + 8) == 3; }
  // The interrupted context continues.
  bool completes() {
    ask_for(second);
    return device->settle() && first_part() && second_part() && rest_of_ring();
  }

  uint64_t data = 0;
  bool at_once = false;
};

TEST(RunLists, ArbitrationBetweenCommandsSwitchesWithinABatch) {
  COVERS("G45-1.5-02");
  COVERS("G45-5.3.7-03");
  InterruptedBatch bench(1);
  EXPECT_TRUE(bench.at_once);
  EXPECT_FALSE(bench.first_part());
  EXPECT_TRUE(bench.completes());
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST(RunLists, ArbitrationAtChainPointsSwitchesAtTheChainOnly) {
  COVERS("G45-1.5-02");
  COVERS("G45-5.3.7-03");
  InterruptedBatch bench(0);
  EXPECT_FALSE(bench.at_once);
  EXPECT_TRUE(bench.switched());
  EXPECT_TRUE(bench.first_part());
  EXPECT_FALSE(bench.second_part());
  EXPECT_FALSE(bench.rest_of_ring());
  EXPECT_TRUE(bench.completes());
  EXPECT_EQ(bench.undefined(), 0u);
  InterruptedBatch off(0, true);
  EXPECT_TRUE(off.first_part());
  EXPECT_TRUE(off.second_part()) << "MI_ARB_ON_OFF overrides";
  EXPECT_TRUE(off.rest_of_ring());
  EXPECT_FALSE(off.switched());
}

TEST(RunLists, BatchWithoutArbitrationSwitchesWhenControlReturnsToTheRing) {
  COVERS("G45-1.5-02");
  COVERS("G45-5.3.7-03");
  InterruptedBatch bench(3);
  EXPECT_FALSE(bench.at_once);
  EXPECT_TRUE(bench.first_part());
  EXPECT_TRUE(bench.second_part());
  EXPECT_TRUE(bench.switched());
  EXPECT_TRUE(bench.completes());
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST(RunLists, ReservedArbitrationControlIsReported) {
  COVERS("G45-1.5-02");
  InterruptedBatch bench(2);
  EXPECT_GE(bench.undefined(), 1u);
  EXPECT_FALSE(bench.at_once);
  EXPECT_TRUE(bench.switched());
  EXPECT_FALSE(bench.second_part()) << "executed like 0";
}

TEST(Probe, AllSlotsAreProbedAndAFaultSwitchesTheContext) {
  RunListBench bench;
  const uint64_t page = bench.allocate(1);
  bench.ask_for(bench.second);
  bench.run_all(kRcs, {kArbOnOff | 1, kProbe | 1, 0x0fff'0000 | 3, static_cast<uint32_t>(page) | 40});
  EXPECT_EQ(bench.reg(kRcs, 0x480), 1u << 3);
  EXPECT_EQ(bench.reg(kRcs, 0x484), 1u << 8) << "slots after the faulting slot are probed too";
  EXPECT_EQ(bench.current(), bench.second | 1);
}

TEST(Probe, SlotsAreMarkedAndFreed) {
  COVERS("G45-1.13.2-01");
  RunListBench bench;
  const uint64_t page = bench.allocate(1);
  bench.run_all(kRcs, {kProbe | 1, static_cast<uint32_t>(page) | 3, static_cast<uint32_t>(page) | 40, kNoop});
  EXPECT_EQ(bench.reg(kRcs, 0x480), 1u << 3);
  EXPECT_EQ(bench.reg(kRcs, 0x484), 1u << 8);
  bench.run_all(kRcs, {kUnprobe | 40, kNoop});
  EXPECT_EQ(bench.reg(kRcs, 0x480), 1u << 3);
  EXPECT_EQ(bench.reg(kRcs, 0x484), 0u);
}

}  // namespace
}  // namespace halogen
