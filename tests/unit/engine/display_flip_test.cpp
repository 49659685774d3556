// Flips requested by commands: pending, performed at the vertical blank or immediately, and their status bits. G45 PRM
// vol. 1b 1.6, 1.21, 5.3.7.3, 5.4.4 (seed 003).
#include "screen_bench.h"

namespace halogen {
namespace {

constexpr uint32_t kPlaneA = 1u << 11, kPlaneB = 1u << 10;
using Dwords = FlowBench::Dwords;

class DisplayFlip : public ::testing::TestWithParam<std::string> {
 protected:
  DisplayFlip() : bench(GetParam()) {
    for (const unsigned number : {0u, 1u}) {
      bench.show(number, number, 0x10'0000);  // takes effect immediately: no pipe runs
      bench.start_pipe(number);
    }
  }
  bool pending(uint32_t bit) { return (bench.read(ScreenBench::kIsr) & bit) != 0; }
  void run(const Dwords& dwords) {
    bench.go(dwords);
    bench.expect_done_at_once();
  }
  ScreenBench bench;
};

TEST_P(DisplayFlip, FlipIsPendingUntilTheNewBaseIsActive) {
  COVERS("G45-1.6-05");
  COVERS("G45-5.4.4-01");
  bench.write(ScreenBench::kImr, ~(kPlaneA | kPlaneB));
  for (const unsigned number : {0u, 1u}) {
    const uint32_t bit = number == 0 ? kPlaneA : kPlaneB;
    EXPECT_FALSE(pending(bit));
    // The parser continues immediately, even through a flush.
    run(FlowBench::join({bench.flip(number, 0x20'0000), {kFlush}}));
    EXPECT_TRUE(pending(bit)) << "the flush did not wait for the flip";
    EXPECT_EQ(bench.read(ScreenBench::kIir) & bit, 0u);
    EXPECT_EQ(bench.image(number).surface, 0x10'0000u);
    bench.advance_to(bench.vblank_at(number, number) - 1);
    EXPECT_TRUE(pending(bit));
    EXPECT_EQ(bench.image(number).surface, 0x10'0000u);
    bench.advance_to(bench.vblank_at(number, number));
    EXPECT_FALSE(pending(bit));
    EXPECT_EQ(bench.image(number).surface, 0x20'0000u);
    EXPECT_EQ(bench.read(ScreenBench::kIir) & bit, bit) << "set with the falling edge";
    bench.write(ScreenBench::kIir, bit);
  }
  // Masked: the identity register stays zero.
  bench.write(ScreenBench::kImr, 0xffff'ffff);
  run(bench.flip(0, 0x30'0000));
  bench.advance_to(bench.vblank_at(0, 2));
  EXPECT_EQ(bench.read(ScreenBench::kIir) & kPlaneA, 0u);
  EXPECT_EQ(bench.undefined(), 0u);
}

// The display reads through the global table, whatever table the process has.
TEST_P(DisplayFlip, SurfaceIsReadThroughTheGlobalTable) {
  COVERS("G45-1.6-16");
  constexpr uint32_t kLines = 80, kXrgb = 6u << 26, kDisplayA = 1u << 4;
  const uint64_t surface = bench.allocate(kLines);  // one page per line
  for (uint32_t line = 0; line < kLines; ++line) bench.poke(surface + line * 4096, 0x0010'2000 + line);
  if (GetParam() == "gm45") {  // the process maps the same pages to other memory, which is empty
    constexpr uint64_t kTable = 0x0400'0000, kElsewhere = 0x0500'0000;
    for (uint64_t page = 0; page < 1024; ++page) {
      bench.host.put<uint32_t>(kTable + 4 * page, static_cast<uint32_t>(kElsewhere + page * 4096) | 1);
    }
    bench.write(0x20c4, static_cast<uint32_t>(kTable) | 1);
    bench.set_reg("rcs0", 0x520, 0x8000'8000);
  }
  bench.write(ScreenBench::timing(0, 0x1c), 639u << 16 | (kLines - 1));
  bench.write(ScreenBench::plane(0, 0x180), ScreenBench::kEnable | kXrgb);
  uint64_t frame = 0;
  const auto line_colour = [&](uint32_t line) {
    const auto image = bench.device->take_frame(0);
    const picture::Rgba pixel = image->at(0, line);
    return uint32_t{pixel.red} << 16 | uint32_t{pixel.green} << 8 | pixel.blue;
  };
  const auto flip = [&](uint64_t base) {
    bench.go(bench.flip(0, static_cast<uint32_t>(base), 4096, false));
    bench.advance_to(bench.vblank_at(0, frame++));
  };
  flip(surface);
  for (const uint32_t line : {0u, 1u, 3u, 5u, kLines - 1}) EXPECT_EQ(line_colour(line), 0x10'2000 + line);
  EXPECT_EQ(bench.read(0x2024), 0u);
  // The command cannot express address bits below a page.
  flip(surface | 0x800);
  EXPECT_EQ(bench.image(0).surface, surface);
  // A surface with lines outside memory: the display shows black for them and reports the error.
  bench.host.log.clear();
  bench.map(surface / 4096 + 5, 0x3'0000'0000);
  flip(surface);
  EXPECT_EQ(line_colour(5), 0u) << "above the top of memory";
  EXPECT_EQ(line_colour(4), 0x10'2004u);
  EXPECT_GE(bench.events(), 1u);
  bench.host.log.clear();
  bench.set_entry(surface / 4096 + 3, 0);
  flip(surface);
  EXPECT_EQ(line_colour(3), 0u) << "no page table entry";
  EXPECT_EQ(line_colour(4), 0x10'2004u);
  EXPECT_GE(bench.events(EventKind::fault), 1u);
  EXPECT_EQ(bench.read(0x2024) & kDisplayA, kDisplayA);
}

TEST_P(DisplayFlip, WaitEndsWhenTheNewBaseIsActive) {
  COVERS("G45-1.21-11");
  COVERS("G45-5.3.7-11");
  for (const unsigned number : {0u, 1u}) {
    const uint32_t bit = number == 0 ? ScreenBench::kFlipA : ScreenBench::kFlipB;
    bench.go(FlowBench::join({bench.flip(number, 0x20'0000), bench.wait(bit)}));
    bench.expect_done_at(bench.vblank_at(number, 2 * number));
    EXPECT_EQ(bench.image(number).surface, 0x20'0000u);
    // The other plane is not waited for.
    run(FlowBench::join(
        {bench.flip(number, 0x30'0000), bench.wait(number == 0 ? ScreenBench::kFlipB : ScreenBench::kFlipA)}));
    bench.advance_to(bench.vblank_at(number, 2 * number + 1));
  }
  // An immediate flip leaves nothing to wait for.
  run(FlowBench::join({bench.async_flip(0, 0x40'0000), bench.wait(ScreenBench::kFlipA)}));
  EXPECT_EQ(bench.image(0).surface, 0x40'0000u);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(DisplayFlip, AsynchronousFlipKeepsPitchAndTiling) {
  COVERS("G45-1.6-10");
  run(bench.async_flip(0, 0x20'0000, 512, false));
  EXPECT_EQ(bench.image(0).surface, 0x20'0000u) << "active as soon as possible";
  EXPECT_EQ(bench.image(0).stride, 4096u) << "the pitch in the registers";
  EXPECT_EQ(bench.image(0).control & ScreenBench::kTiled, ScreenBench::kTiled);
  EXPECT_EQ(bench.read(bench.plane(0, 0x188)), 4096u);
  run(bench.flip(0, 0x30'0000, 8192));
  bench.advance_to(bench.vblank_at(0, 0));
  run(bench.async_flip(0, 0x40'0000, 1024, false));
  EXPECT_EQ(bench.image(0).surface, 0x40'0000u);
  EXPECT_EQ(bench.image(0).stride, 8192u) << "the pitch of the last synchronous flip";
  EXPECT_EQ(bench.image(0).control & ScreenBench::kTiled, ScreenBench::kTiled);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(DisplayFlip, AsynchronousFlipIgnoresAFourthDword) {
  COVERS("G45-1.6-08");
  Dwords command = bench.async_flip(0, 0x20'0000);
  command[0] += 1;
  command[3] = 0x8000'0000 | 99u << 16 | 49;
  run(command);
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.read(bench.timing(0, 0x1c)), 0u) << "the source size is unchanged";
  EXPECT_EQ(bench.image(0).surface, 0x20'0000u);
  command[0] &= ~(1u << 22);
  run(command);
  EXPECT_EQ(bench.undefined(), 1u) << "a synchronous flip may have a fourth dword";
}

TEST_P(DisplayFlip, UnsupportedAsynchronousFlipIsReported) {
  COVERS("G45-1.6-09");
  // A linear surface, and a plane without asynchronous flips: both flips happen at the vertical blank.
  run(bench.flip(0, 0x20'0000, 4096, false));
  bench.advance_to(bench.vblank_at(0, 0));
  EXPECT_EQ(bench.undefined(), 0u);
  run(bench.async_flip(0, 0x30'0000));
  EXPECT_EQ(bench.undefined(), 1u);
  EXPECT_EQ(bench.image(0).surface, 0x20'0000u);
  bench.advance_to(bench.vblank_at(0, 1));
  EXPECT_EQ(bench.image(0).surface, 0x30'0000u);
  run(bench.async_flip(2, 0x30'0000));
  EXPECT_GE(bench.undefined(), 2u);
}

TEST_P(DisplayFlip, QueuePerformsOneFlipPerBlankAndAStandardFlipDropsIt) {
  COVERS("G45-1.6-14");
  const auto queued = [&](uint32_t base) {
    Dwords command = bench.flip(0, base);
    command[1] |= 1u << 29;
    return command;
  };
  run(FlowBench::join({queued(0x20'0000), queued(0x30'0000), queued(0x40'0000)}));
  for (const uint32_t frame : {0u, 1u}) {
    bench.advance_to(bench.vblank_at(0, frame));
    EXPECT_EQ(bench.image(0).surface, 0x20'0000u + 0x10'0000u * frame);
    EXPECT_TRUE(pending(kPlaneA)) << "later flips are still queued";
  }
  run(bench.flip(0, 0x50'0000));
  bench.advance_to(bench.vblank_at(0, 2));
  EXPECT_EQ(bench.image(0).surface, 0x50'0000u) << "the third flip of the queue was dropped";
  EXPECT_FALSE(pending(kPlaneA));
  bench.advance_to(bench.vblank_at(0, 4));
  EXPECT_EQ(bench.image(0).surface, 0x50'0000u);
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(DisplayFlip, SynchronousFlipSetsPitchAndTiling) {
  COVERS("G45-1.6-15");
  COVERS("G45-1.6-17");
  uint64_t frame = 0;
  for (const auto& [pitch, tiled] : {std::pair{8192u, false}, std::pair{512u, true}, std::pair{0x7ff8u, false}}) {
    run(bench.flip(0, 0x20'0000, pitch, tiled));
    EXPECT_NE(bench.image(0).stride, pitch) << "not before the vertical blank";
    bench.advance_to(bench.vblank_at(0, frame++));
    EXPECT_EQ(bench.image(0).stride, pitch) << "in bytes: bits 14:3 count quadwords";
    EXPECT_EQ((bench.image(0).control & ScreenBench::kTiled) != 0, tiled);
  }
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST_P(DisplayFlip, FourthDwordSetsTheSourceSizeOfThePipe) {
  COVERS("G45-1.6-18");
  for (const unsigned number : {0u, 1u}) {
    for (const uint32_t fitter : {0x8000'0000u, 0xc000'0000u}) {
      Dwords command = bench.flip(number, 0x20'0000);
      command[0] += 1;
      command[3] = fitter | 1023u << 16 | 767;
      run(command);
      bench.advance_to(bench.vblank_at(number, (bench.now() - bench.started[number]) / 1'000'000 + 1));
      EXPECT_EQ(bench.read(bench.timing(number, 0x1c)), 1023u << 16 | 767u) << "horizontal and vertical, minus one";
      EXPECT_EQ(*bench.device->display().panel_fitter(number),
                (display::PanelFitter{true, fitter == 0xc000'0000u, 1023, 767}));
    }
    EXPECT_EQ(bench.read(bench.timing(1, 0x1c)) != 0, number == 1) << "only the pipe of the plane changes";
  }
  Dwords widest = bench.flip(0, 0x20'0000);
  widest[0] += 1;
  widest[3] = 0x0fff'0fff;
  run(widest);
  bench.device->advance(1'000'000);
  EXPECT_EQ(bench.read(bench.timing(0, 0x1c)), 0x0fff'0fffu) << "4096 each";
  EXPECT_EQ(*bench.device->display().panel_fitter(0), (display::PanelFitter{false, false, 0xfff, 0xfff}));
  EXPECT_EQ(bench.undefined(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Gen4, DisplayFlip, ::testing::ValuesIn(gen4_chips()), chip_name);

class FlipPrivilege : public ::testing::TestWithParam<std::string> {};

TEST_P(FlipPrivilege, NonSecureBatchCannotFlip) {
  COVERS("G45-1.6-19");
  ScreenBench bench(GetParam());
  bench.show(0, 0, 0x10'0000);
  bench.start_pipe(0);
  const uint64_t batch = bench.place(FlowBench::join({bench.flip(0, 0x20'0000), {kBatchEnd}}));
  bench.go(bench.batch(batch, 1u << 8));
  bench.expect_done_at_once();
  EXPECT_EQ(bench.read(ScreenBench::kIsr) & kPlaneA, 0u);
  bench.advance_to(bench.vblank_at(0, 0));
  EXPECT_EQ(bench.image(0).surface, 0x10'0000u);
  bench.go(bench.batch(batch));
  bench.expect_done_at_once();
  EXPECT_EQ(bench.read(ScreenBench::kIsr) & kPlaneA, kPlaneA) << "a secure batch can flip";
  bench.advance_to(bench.vblank_at(0, 1));
  EXPECT_EQ(bench.image(0).surface, 0x20'0000u);
}

INSTANTIATE_TEST_SUITE_P(Gen45, FlipPrivilege, ::testing::Values("gm45"), chip_name);

TEST(SpriteFlips, SpritesOfTheMobilePartHaveTheirOwnBits) {
  ScreenBench bench("gm45");
  for (const unsigned pipe : {0u, 1u}) {
    bench.start_pipe(pipe);
  }
  bench.go(FlowBench::join({bench.flip(2, 0x20'0000), bench.wait(1u << 8)}));
  bench.expect_done_at(bench.vblank_at(0, 0));
  bench.go(FlowBench::join({bench.flip(3, 0x20'0000), bench.wait(1u << 16)}));
  bench.expect_done_at(bench.vblank_at(1, 1));
  EXPECT_EQ(bench.undefined(), 0u);
}

TEST(FlipTimes, FlipTimeIsIndependentOfABusyEngine) {
  ScreenBench bench("gm45");
  bench.start_ring("vcs0");
  bench.show(0, 0, 0x10'0000);
  bench.start_pipe(0);
  const uint64_t loop = bench.allocate(1);
  bench.poke(loop, FlowBench::join({{kNoop, kNoop}, bench.batch(loop)}));
  bench.emit("vcs0", bench.batch(loop));
  bench.submit("vcs0");
  // A flip requested one microsecond after a blank waits for the next blank.
  bench.advance_to(bench.vblank_at(0, 0) - 1000);
  Dwords idle(200, kNoop);
  bench.go(FlowBench::join({idle, bench.flip(0, 0x20'0000), bench.wait(ScreenBench::kFlipA)}));
  bench.expect_done_at(bench.vblank_at(0, 1));
}

}  // namespace
}  // namespace halogen
