// Gen8 and Gen9: four GT banks and the display banks below the master at 0x44200. Offsets are from Linux i915 (GEN8_*).
#include "unit/interrupt/bench.h"

#include "covers.h"

namespace halogen::interrupt {
namespace {

constexpr uint32_t kMaster = 0x44200;
constexpr uint32_t kEnable = 1u << 31;
constexpr uint32_t gt(unsigned bank, unsigned reg) {
  return 0x44300 + 0x10 * bank + 4 * reg;  // ISR, IMR, IIR, IER
}
constexpr uint32_t pipe(unsigned number, unsigned reg) {
  return 0x44400 + 0x10 * number + 4 * reg;
}

struct EngineWay {
  const char* engine;
  uint32_t imr;
  unsigned bank;
  unsigned shift;
  uint32_t master;
};
constexpr EngineWay kEngines[] = {{"rcs0", 0x20a8, 0, 0, 1u << 0},
                                  {"bcs0", 0x220a8, 0, 16, 1u << 1},
                                  {"vcs0", 0x120a8, 1, 0, 1u << 2},
                                  {"vecs0", 0x1a0a8, 3, 0, 1u << 6}};

class NumberedBanks : public testing::TestWithParam<const char*> {
 protected:
  InterruptBench b{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Devices, NumberedBanks, testing::Values("bdw", "chv", "skl"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(NumberedBanks, EveryEngineHasSixteenBitsOfABankAndABitOfTheMaster) {
  struct Way {
    EngineCause cause;
    unsigned bit;
  };
  for (const EngineWay& engine : kEngines) {
    for (const Way& way : {Way{EngineCause::user, 0},
                           {EngineCause::notify, 4},
                           {EngineCause::watchdog, 6},
                           {EngineCause::context_switch, 8},
                           {EngineCause::semaphore_wait, 11}}) {
      const uint32_t bit = 1u << (way.bit + engine.shift);
      b.write(gt(engine.bank, 1), ~bit);
      b.write(gt(engine.bank, 3), bit);
      b.write(engine.imr, ~0u);
      b.unit.raise(b.engine(engine.engine), way.cause);
      EXPECT_EQ(b.read(gt(engine.bank, 2)), 0u) << "masked by the engine";
      b.write(engine.imr, ~bit);
      b.unit.raise(b.engine(engine.engine), way.cause);
      EXPECT_EQ(b.read(gt(engine.bank, 2)), bit) << engine.engine;
      EXPECT_EQ(b.read(kMaster), engine.master);
      EXPECT_FALSE(b.level);
      b.write(kMaster, kEnable);
      EXPECT_TRUE(b.level);
      EXPECT_EQ(b.read(kMaster), kEnable | engine.master);
      b.write(kMaster, 0);
      EXPECT_FALSE(b.level);
      b.write(gt(engine.bank, 2), bit);
      EXPECT_EQ(b.read(kMaster), 0u) << "the master shows the level of the bank";
      b.write(gt(engine.bank, 3), 0);
    }
  }
}

TEST_P(NumberedBanks, EventBetweenReadAndClearIsNotLost) {
  b.write(0x20a8, ~1u);
  b.write(gt(0, 1), ~1u);
  b.write(gt(0, 3), 1);
  b.write(kMaster, kEnable);
  b.user("rcs0");
  EXPECT_EQ(b.rises, 1u);
  b.write(kMaster, 0);
  const uint32_t iir = b.read(gt(0, 2));
  b.user("rcs0");  // after the driver's read, before its clear
  b.write(gt(0, 2), iir);
  EXPECT_EQ(b.read(gt(0, 2)), 1u);
  b.write(kMaster, kEnable);
  EXPECT_EQ(b.rises, 2u) << "a new message";
  b.write(kMaster, 0);
  b.write(gt(0, 2), 1);
  b.write(kMaster, kEnable);
  EXPECT_FALSE(b.level);
}

TEST(NumberedBanksDisplay, VblankOfEachPipeIsDeliveredOnlyWhileEnabled) {
  COVERS("NOTES-IRQ-01");
  for (const char* device : {"bdw", "skl"}) {
    InterruptBench b(device);
    b.write(kMaster, kEnable);
    for (unsigned p = 0; p < 3; ++p) {
      b.unit.display_event(DisplayCause::vblank, p);
      EXPECT_FALSE(b.level) << "masked after reset";
      EXPECT_EQ(b.read(pipe(p, 2)), 0u);
      b.write(pipe(p, 3), 1);
      b.write(pipe(p, 1), ~1u);
      b.unit.display_event(DisplayCause::vblank, (p + 1) % 3);
      EXPECT_FALSE(b.level) << "another pipe";
      b.unit.display_event(DisplayCause::vblank, p);
      EXPECT_EQ(b.read(pipe(p, 2)), 1u);
      EXPECT_TRUE(b.level);
      EXPECT_EQ(b.read(kMaster), kEnable | 1u << (16 + p));
      b.write(pipe(p, 2), 1);
      EXPECT_FALSE(b.level);
      b.write(pipe(p, 1), ~0u);
      b.unit.display_event(DisplayCause::vblank, p);
      EXPECT_FALSE(b.level) << "disabled again";
    }
  }
}

TEST(NumberedBanksDisplay, PlanesAndOtherCausesOfAPipeHaveTheirBits) {
  InterruptBench skl("skl");
  InterruptBench bdw("bdw");
  skl.write(pipe(1, 1), 0);
  bdw.write(pipe(1, 1), 0);
  skl.unit.display_event(DisplayCause::flip_done, 1, 0);
  skl.unit.display_event(DisplayCause::flip_done, 1, 3);
  EXPECT_EQ(skl.read(pipe(1, 2)), 1u << 3 | 1u << 6);
  bdw.unit.display_event(DisplayCause::flip_done, 1, 0);
  bdw.unit.display_event(DisplayCause::flip_done, 1, 1);
  EXPECT_EQ(bdw.read(pipe(1, 2)), 1u << 4 | 1u << 5);
  EXPECT_FALSE(bdw.unit.display_event(DisplayCause::flip_done, 1, 2));
  skl.write(pipe(1, 2), ~0u);
  skl.unit.display_event(DisplayCause::underrun, 1);
  skl.unit.display_event(DisplayCause::line_compare, 1);
  EXPECT_EQ(skl.read(pipe(1, 2)), 1u << 31 | 1u << 2);
}

// As Linux i915 describes it: (VLV_IIR & VLV_IER), or the master enabled with one of its bits set; only the rising edge
// interrupts.
TEST(NumberedBanksDisplay, CherryviewDisplayBankIgnoresTheMasterEnable) {
  InterruptBench b("chv");
  constexpr uint32_t kIer = 0x1820a0;
  constexpr uint32_t kIir = 0x1820a4;
  constexpr uint32_t kImr = 0x1820a8;
  b.write(kImr, ~(1u << 6));
  b.write(kIer, 1u << 6);
  b.unit.pipe_event(0, true);
  EXPECT_TRUE(b.level) << "without the enable of the master";
  b.write(kIir, 1u << 6);
  EXPECT_EQ(b.read(kIir), 1u << 6) << "the pipe status is still set";
  b.unit.pipe_event(0, false);
  EXPECT_EQ(b.read(kIir), 1u << 6);
  b.write(kIir, 1u << 6);
  EXPECT_EQ(b.read(kIir), 0u);
  EXPECT_FALSE(b.level);
  EXPECT_TRUE(b.unit.display_event(DisplayCause::vblank, 2));
  EXPECT_FALSE(b.unit.display_event(DisplayCause::flip_done, 0)) << "through PIPESTAT";
  EXPECT_FALSE(InterruptBench("skl").unit.pipe_event(0, true)) << "no PIPESTAT";
}

}  // namespace
}  // namespace halogen::interrupt
