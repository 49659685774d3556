// Waits for display events: blanks, scan line windows and condition codes. Expected times are computed from the timing
// registers. G45 PRM vol. 1b 1.9, 1.10, 1.21, 5.3.7 (seed 003).
#include "screen_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kExcc = 0x28, kRbWait = 0x800;
using Dwords = FlowBench::Dwords;

class DisplayWait : public ::testing::TestWithParam<std::string> {
 protected:
  DisplayWait() : bench(GetParam()) {}
  ScreenBench bench;
};

TEST_P(DisplayWait, VerticalBlankWaitEndsAtTheLeadingEdge) {
  COVERS("G45-1.21-08");
  ScreenMode other;
  other.v_active = 50;
  bench.start_pipe(0);
  bench.start_pipe(1, other);
  for (const unsigned pipe : {0u, 1u}) {
    bench.write(bench.status(pipe), 1u << 17);
  }
  bench.go(bench.wait(ScreenBench::kVblankA));
  bench.expect_done_at(bench.vblank_at(0, 0));
  bench.go(bench.wait(ScreenBench::kVblankB));
  bench.expect_done_at(bench.vblank_at(1, 1));
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), 0u);
  EXPECT_EQ(bench.host.line.size(), 0u) << "the device interrupt need not be enabled";
  // If the pipe's enable bit is clear, the wait is reported.
  bench.write(bench.status(0), 0);
  bench.go(bench.wait(ScreenBench::kVblankA));
  bench.device->advance(ScreenBench::kSoon);
  EXPECT_GE(bench.events(EventKind::undefined_behaviour), 1u);
  const size_t before = bench.events(EventKind::undefined_behaviour);
  bench.go(bench.wait(ScreenBench::kVblankB));
  bench.device->advance(4'000'000);
  EXPECT_TRUE(bench.done());
  EXPECT_EQ(bench.events(EventKind::undefined_behaviour), before);
}

TEST_P(DisplayWait, WaitInsideABlankEndsAtTheNextBlank) {
  bench.start_pipe(0);
  bench.write(bench.status(0), 1u << 17);
  bench.advance_to(bench.vblank_at(0, 0) + 10'000);
  bench.go(bench.wait(ScreenBench::kVblankA));
  bench.expect_done_at(bench.vblank_at(0, 1));
}

TEST_P(DisplayWait, StartOfVerticalBlankWaitEndsAtTheBlank) {
  bench.start_pipe(0);
  bench.write(bench.status(0), 1u << 17);
  bench.go(bench.wait(ScreenBench::kStartVblankA));
  if (GetParam() == "i965") {  // erratum: the bit is reserved there
    bench.expect_done_at_once();
  } else {
    bench.expect_done_at(bench.vblank_at(0, 0));
  }
}

TEST_P(DisplayWait, HorizontalBlankWaitEndsWithTheLine) {
  bench.start_pipe(0);
  bench.start_pipe(1);
  bench.advance_to(bench.line_at(0, 0, 7));
  // The blank begins 640 pixels after the first active one, which comes 768 - 656 pixels after the sync.
  const uint64_t edge = bench.time_of(0, 7 * 768 + 112 + 640 - 768);
  const uint64_t next = bench.time_of(0, 7 * 768 + 112 + 640);
  EXPECT_LT(edge, bench.now());
  bench.go(bench.wait(ScreenBench::kHblankA));
  bench.expect_done_at(next);
  bench.go(bench.wait(ScreenBench::kHblankB));
  bench.expect_done_at(bench.time_of(1, 8 * 768 + 112 + 640));
}

TEST_P(DisplayWait, InclusiveWindowHoldsInsideIt) {
  COVERS("G45-1.10-01");
  for (const unsigned pipe : {0u, 1u}) {
    bench.start_pipe(pipe);
    const uint32_t bit = pipe == 0 ? ScreenBench::kWindowA : ScreenBench::kWindowB;
    const uint64_t frame = 0;
    bench.go(FlowBench::join({bench.lines(true, pipe, 20, 29), bench.lines(true, pipe, 20, 29), bench.wait(bit)}));
    bench.expect_done_at_once();  // line 0 is outside the window
    bench.advance_to(bench.line_at(pipe, frame, 20) - 100);
    bench.go(bench.wait(bit));
    bench.device->advance(60);
    EXPECT_TRUE(bench.done()) << "just before the window";
    bench.advance_to(bench.line_at(pipe, frame, 20));
    bench.go(bench.wait(bit));
    bench.expect_done_at(bench.line_at(pipe, frame, 30));
    bench.go(bench.wait(bit));
    bench.expect_done_at_once();
    EXPECT_EQ(bench.undefined(), 0u);
  }
}

TEST_P(DisplayWait, ExclusiveWindowHoldsOutsideIt) {
  COVERS("G45-1.9-02");
  bench.start_pipe(0);
  bench.go(FlowBench::join(
      {bench.lines(false, 0, 20, 29), bench.lines(false, 0, 20, 29), bench.wait(ScreenBench::kWindowA)}));
  bench.expect_done_at(bench.line_at(0, 0, 20));
  bench.advance_to(bench.line_at(0, 0, 30) - 100);
  bench.go(bench.wait(ScreenBench::kWindowA));
  bench.device->advance(60);
  EXPECT_TRUE(bench.done()) << "the last line belongs to the window";
  bench.advance_to(bench.line_at(0, 0, 30));
  bench.go(bench.wait(ScreenBench::kWindowA));
  bench.expect_done_at(bench.line_at(0, 1, 20));
  // Equal numbers give a window of one line.
  bench.go(FlowBench::join(
      {bench.lines(false, 0, 50, 50), bench.lines(false, 0, 50, 50), bench.wait(ScreenBench::kWindowA)}));
  bench.expect_done_at(bench.line_at(0, 1, 50));
  bench.advance_to(bench.line_at(0, 1, 51));
  bench.go(bench.wait(ScreenBench::kWindowA));
  bench.expect_done_at(bench.line_at(0, 2, 50));
}

TEST_P(DisplayWait, NewWindowReplacesTheWindowOfItsPipe) {
  COVERS("G45-1.9-03");
  bench.start_pipe(0);
  bench.start_pipe(1);
  bench.advance_to(bench.line_at(0, 0, 10));
  bench.go(FlowBench::join({bench.lines(true, 0, 0, 90), bench.lines(true, 1, 0, 60), bench.lines(true, 0, 0, 90),
                            bench.lines(true, 1, 0, 60), bench.lines(true, 0, 5, 30), bench.lines(true, 0, 5, 30),
                            bench.wait(ScreenBench::kWindowA)}));
  bench.expect_done_at(bench.line_at(0, 0, 31));
  bench.go(bench.wait(ScreenBench::kWindowB));
  bench.expect_done_at(bench.line_at(1, 0, 61));
  // Inclusive and exclusive windows replace each other.
  bench.go(FlowBench::join(
      {bench.lines(false, 0, 70, 75), bench.lines(false, 0, 70, 75), bench.wait(ScreenBench::kWindowA)}));
  bench.expect_done_at(bench.line_at(0, 0, 70));
  bench.go(
      FlowBench::join({bench.lines(true, 0, 0, 72), bench.lines(true, 0, 0, 72), bench.wait(ScreenBench::kWindowA)}));
  bench.expect_done_at(bench.line_at(0, 0, 73));
}

TEST_P(DisplayWait, LoneScanLineCommandIsReported) {
  COVERS("G45-1.9-04");
  bench.start_pipe(0);
  bench.go(FlowBench::join({bench.lines(true, 0, 5, 9), bench.lines(true, 0, 5, 9)}));
  bench.expect_done_at_once();
  EXPECT_EQ(bench.undefined(), 0u);
  bench.go(FlowBench::join({bench.lines(true, 0, 5, 9), bench.lines(false, 0, 5, 9), bench.lines(true, 0, 0, 40)}));
  bench.expect_done_at_once();
  EXPECT_EQ(bench.undefined(), 1u) << "an odd number of commands";
  bench.go(bench.wait(ScreenBench::kWindowA));
  bench.expect_done_at(bench.line_at(0, 0, 41));  // the window is valid nevertheless
}

TEST_P(DisplayWait, WithoutAWindowThereIsNoWait) {
  COVERS("G45-1.21-10");
  COVERS("G45-5.3.7-12");
  bench.start_pipe(0);
  bench.start_pipe(1);
  bench.go(FlowBench::join({bench.wait(ScreenBench::kWindowA), bench.wait(ScreenBench::kWindowB)}));
  bench.expect_done_at_once();
  bench.go(
      FlowBench::join({bench.lines(true, 1, 0, 40), bench.lines(true, 1, 0, 40), bench.wait(ScreenBench::kWindowA)}));
  bench.expect_done_at_once();  // pipe A still has no window
  bench.go(bench.wait(ScreenBench::kWindowB));
  bench.expect_done_at(bench.line_at(1, 0, 41));
  bench.go(bench.wait(ScreenBench::kWindowB));
  bench.expect_done_at_once();  // outside the window
  bench.go(FlowBench::join(
      {bench.lines(false, 0, 60, 69), bench.lines(false, 0, 60, 69), bench.wait(ScreenBench::kWindowA)}));
  bench.expect_done_at(bench.line_at(0, 0, 60));
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(DisplayWait, WaitForANonexistentConditionEndsImmediately) {
  COVERS("G45-1.21-04");
  COVERS("G45-5.3.7-07");
  bench.start_pipe(0);
  bench.start_pipe(1);
  for (const uint32_t bits :
       {ScreenBench::kWindowA, ScreenBench::kFlipA, ScreenBench::kCompression, ScreenBench::kWindowB,
        ScreenBench::kFlipB, 1u << 8, ScreenBench::code(1), ScreenBench::code(5), ScreenBench::kOverlay}) {
    bench.go(bench.wait(bits));
    bench.expect_done_at_once();
  }
  // Conditions that exist hold the stream: a window, a flip, a condition code.
  bench.go(
      FlowBench::join({bench.lines(true, 0, 0, 20), bench.lines(true, 0, 0, 20), bench.wait(ScreenBench::kWindowA)}));
  bench.expect_done_at(bench.line_at(0, 0, 21));
  bench.show(0, 0, 0x10'0000);
  bench.go(FlowBench::join({bench.flip(0, 0x20'0000), bench.wait(ScreenBench::kFlipA)}));
  bench.expect_done_at(bench.vblank_at(0, 0));
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(DisplayWait, ConditionCodeHoldsWhileItIsSet) {
  COVERS("G45-1.21-06");
  COVERS("G45-1.21-07");
  for (unsigned number = 1; number <= 5; ++number) {
    const uint32_t bit = 1u << (number - 1);
    bench.set_reg(kRcs, kExcc, 0x001f'0000 | (0x1fu & ~bit));  // every code except this one
    bench.go(bench.wait(ScreenBench::code(number)));
    bench.expect_done_at_once();
    bench.set_reg(kRcs, kExcc, 0x001f'0000 | bit);
    bench.go(bench.wait(ScreenBench::code(number)));
    bench.device->advance(1'000'000);
    EXPECT_FALSE(bench.done()) << number;
    bench.set_reg(kRcs, kExcc, 0x001f'0000);
    bench.device->advance(5000);
    EXPECT_TRUE(bench.done()) << number;
  }
  EXPECT_EQ(bench.undefined(), 0u);
  bench.set_reg(kRcs, kExcc, 0xffff'ffff);
  for (unsigned number = 6; number <= 15; ++number) {
    const size_t before = bench.undefined();
    bench.go(bench.wait(ScreenBench::code(number)));
    bench.expect_done_at_once();
    EXPECT_EQ(bench.undefined(), before + 1) << number;
  }
}

TEST_P(DisplayWait, WaitForTwoEventsIsReported) {
  COVERS("G45-1.21-02");
  bench.start_pipe(0);
  bench.write(bench.status(0), 1u << 17);
  bench.go(bench.wait(ScreenBench::kVblankA));
  bench.expect_done_at(bench.vblank_at(0, 0));
  EXPECT_EQ(bench.undefined(), 0u);
  bench.go(bench.wait(ScreenBench::kVblankA | ScreenBench::kHblankA));
  bench.device->advance(3'000'000);
  EXPECT_GE(bench.undefined(), 1u);
  EXPECT_TRUE(bench.done()) << "the wait ends";
}

TEST_P(DisplayWait, WaitShowsInTheRingAndCanBeCancelled) {
  COVERS("G45-5.3.7-09");
  bench.start_pipe(0);
  bench.write(bench.status(0), 1u << 17);
  bench.go(bench.wait(ScreenBench::kVblankA));
  bench.device->advance(ScreenBench::kSoon);
  EXPECT_FALSE(bench.done());
  const uint32_t control = bench.reg(kRcs, EngineBench::kControl);
  EXPECT_EQ(control & kRbWait, kRbWait);
  bench.set_reg(kRcs, EngineBench::kControl, control & ~kRbWait);
  bench.device->advance(ScreenBench::kSoon);
  EXPECT_FALSE(bench.done()) << "writing zero changes nothing";
  bench.set_reg(kRcs, EngineBench::kControl, control);
  bench.expect_done_at_once();
  EXPECT_EQ(bench.reg(kRcs, EngineBench::kControl) & kRbWait, 0u);
  EXPECT_LT(bench.now(), bench.vblank_at(0, 0));
  // The next wait is not affected by the cancelled wait.
  bench.go(bench.wait(ScreenBench::kVblankA));
  bench.expect_done_at(bench.vblank_at(0, 0));
}

TEST_P(DisplayWait, CompressorIdleWaitEndsImmediately) {
  bench.start_pipe(0);
  bench.go(bench.wait(ScreenBench::kCompression));
  bench.expect_done_at_once();
}

TEST_P(DisplayWait, WaitLastsUntilThePipeRuns) {
  bench.write(bench.status(0), 1u << 17);
  bench.go(bench.wait(ScreenBench::kVblankA));
  bench.device->advance(50'000'000);
  EXPECT_FALSE(bench.done());
  bench.start_pipe(0);
  bench.expect_done_at(bench.vblank_at(0, 0));
}

TEST_P(DisplayWait, WaitSurvivesASnapshot) {
  bench.start_pipe(0);
  bench.write(bench.status(0), 1u << 17);
  bench.go(bench.wait(ScreenBench::kVblankA));
  bench.advance_to(bench.line_at(0, 0, 50));
  const device::DeviceState state = bench.device->snapshot();
  bench.expect_done_at(bench.vblank_at(0, 0));
  bench.poke(bench.data, 0);
  bench.device->restore(state);
  bench.expect_done_at(bench.vblank_at(0, 0));
}

INSTANTIATE_TEST_SUITE_P(Gen4, DisplayWait, ::testing::ValuesIn(gen4_chips()), chip_name);

// Other work that runs while a stream waits. Only GM45 has any: a video ring, and run lists.
TEST(WaitingRings, OtherStreamsContinue) {
  COVERS("G45-1.21-03");
  for (const bool from_batch : {false, true}) {
    ScreenBench bench("gm45");
    bench.start_ring("vcs0");
    bench.start_pipe(0);
    bench.write(bench.status(0), 1u << 17);
    const uint64_t first = bench.allocate(8), second = bench.allocate(8), data = bench.allocate(1);
    bench.set_reg(kRcs, 0x520, 0x8000'8000);  // run lists
    bench.set_reg(kRcs, 0x190, static_cast<uint32_t>(first) | 1);
    const Dwords held = FlowBench::join({bench.wait(ScreenBench::kVblankA), {kNoop}, bench.store(data, 1)});
    const uint64_t batch = bench.place(FlowBench::join({held, {kBatchEnd}}));
    bench.emit(kRcs, from_batch ? bench.batch(batch, 1u << 9) : held);
    bench.submit(kRcs);
    bench.device->advance(5000);
    EXPECT_EQ(bench.peek(data), 0u);
    // The other streamer continues.
    bench.emit("vcs0", bench.store(data + 4, 2));
    bench.submit("vcs0");
    bench.device->advance(5000);
    EXPECT_EQ(bench.peek(data + 4), 2u);
    EXPECT_EQ(bench.peek(data), 0u);
    // Another context of the same ring runs only if arbitration is not suspended.
    bench.set_reg(kRcs, 0x198, static_cast<uint32_t>(second) | 1);
    bench.device->advance(5000);
    EXPECT_EQ(bench.reg(kRcs, 0x190), (from_batch ? first : second) | 1);
    EXPECT_EQ(bench.peek(data), 0u);
    bench.advance_to(bench.vblank_at(0, 0));
    EXPECT_EQ(bench.peek(data), 0u);
    bench.device->advance(5000);
    EXPECT_EQ(bench.peek(data), 1u) << "the wait ends with its event";
  }
}

// A wait ends at its exact time while another engine is busy.
TEST(WaitingRings, WaitEndsInTheMiddleOfASlice) {
  ScreenBench bench("gm45");
  bench.start_ring("vcs0");
  bench.start_pipe(0);
  bench.write(bench.status(0), 1u << 17);
  const uint64_t loop = bench.allocate(1);
  bench.poke(loop, FlowBench::join({{kNoop, kNoop}, bench.batch(loop)}));
  bench.emit("vcs0", bench.batch(loop));
  bench.submit("vcs0");
  bench.go(bench.wait(ScreenBench::kVblankA));
  bench.expect_done_at(bench.vblank_at(0, 0));
  bench.go(
      FlowBench::join({bench.lines(true, 0, 80, 88), bench.lines(true, 0, 80, 88), bench.wait(ScreenBench::kWindowA)}));
  bench.expect_done_at(bench.line_at(0, 0, 89));
  bench.advance_to(bench.line_at(0, 1, 7));
  bench.go(bench.wait(ScreenBench::kHblankA));
  bench.expect_done_at(bench.time_of(0, 107 * 768 + 112 + 640));
}

}  // namespace
}  // namespace halogen
