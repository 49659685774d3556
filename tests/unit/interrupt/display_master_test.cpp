// Gen6: GT, power and display banks below the master bit of DEIER. Bit positions and the order of the driver's steps
// are from Linux i915 (ilk_irq_handler, gen6_irq_enable).
#include "unit/interrupt/bench.h"

#include "covers.h"

namespace halogen::interrupt {
namespace {

constexpr uint32_t kDeImr = 0x44004;
constexpr uint32_t kDeIir = 0x44008;
constexpr uint32_t kDeIer = 0x4400c;
constexpr uint32_t kGtIsr = 0x44010;
constexpr uint32_t kGtImr = 0x44014;
constexpr uint32_t kGtIir = 0x44018;
constexpr uint32_t kGtIer = 0x4401c;
constexpr uint32_t kPmImr = 0x44024;
constexpr uint32_t kPmIir = 0x44028;
constexpr uint32_t kPmIer = 0x4402c;
constexpr uint32_t kSdeImr = 0xc4004;
constexpr uint32_t kSdeIir = 0xc4008;
constexpr uint32_t kSdeIer = 0xc400c;

constexpr uint32_t kMaster = 1u << 31;
constexpr uint32_t kPchEvent = 1u << 21;

struct DisplayMaster : testing::Test {
  InterruptBench b{"snb"};
  void open_rings() {
    for (const uint32_t base : {0x2000u, 0x12000u, 0x22000u}) {
      b.write(base + 0xa8, 0);
    }
  }
};

TEST_F(DisplayMaster, EachRingHasItsBitsBehindTwoMasks) {
  struct Way {
    const char* engine;
    uint32_t base;
    EngineCause cause;
    uint32_t bit;
  };
  for (const Way& way : {Way{"rcs0", 0x2000, EngineCause::user, 1u << 0},
                         {"rcs0", 0x2000, EngineCause::notify, 1u << 4},
                         {"vcs0", 0x12000, EngineCause::user, 1u << 12},
                         {"bcs0", 0x22000, EngineCause::user, 1u << 22},
                         {"bcs0", 0x22000, EngineCause::notify, 1u << 26}}) {
    b.write(kGtImr, 0);
    b.unit.raise(b.engine(way.engine), way.cause);
    EXPECT_EQ(b.read(kGtIir), 0u) << "masked by the ring";
    b.write(way.base + 0xa8, ~way.bit);
    b.write(kGtImr, ~0u);
    b.unit.raise(b.engine(way.engine), way.cause);
    EXPECT_EQ(b.read(kGtIir), 0u) << "masked by the bank";
    b.write(kGtImr, ~way.bit);
    b.unit.raise(b.engine(way.engine), way.cause);
    EXPECT_EQ(b.read(kGtIir), way.bit);
    EXPECT_EQ(b.read(kGtIsr), 0u) << "an event leaves no status";
    EXPECT_FALSE(b.level);
    b.write(kGtIer, way.bit);
    EXPECT_FALSE(b.level) << "the master is disabled";
    b.write(kDeIer, kMaster);
    EXPECT_TRUE(b.level);
    b.write(kDeIer, 0);
    EXPECT_FALSE(b.level);
    b.write(kGtIir, way.bit);
    b.write(kGtIer, 0);
    b.write(way.base + 0xa8, ~0u);
  }
}

TEST_F(DisplayMaster, LevelRaisesOnItsEdgeThroughTheRingMask) {
  b.write(kGtImr, 0);
  b.unit.set_level(0, EngineCause::master_error, true);
  EXPECT_EQ(b.read(kGtIsr), 0u);
  b.write(0x20a8, ~(1u << 3));
  EXPECT_EQ(b.read(kGtIsr), 1u << 3);
  EXPECT_EQ(b.read(kGtIir), 1u << 3);
  b.write(kGtIir, 1u << 3);
  EXPECT_EQ(b.read(kGtIir), 0u);
  b.unit.set_level(0, EngineCause::master_error, false);
  EXPECT_EQ(b.read(kGtIsr), 0u);
}

TEST_F(DisplayMaster, IdentityKeepsASecondEvent) {
  open_rings();
  b.write(kGtImr, 0);
  b.write(kGtIer, 1);
  b.write(kDeIer, kMaster);
  b.user("rcs0");
  b.user("rcs0");
  b.user("rcs0");
  EXPECT_EQ(b.rises, 1u);
  b.write(kGtIir, 1);
  EXPECT_EQ(b.read(kGtIir), 1u) << "the second event";
  EXPECT_EQ(b.rises, 2u) << "the bit was low for a moment";
  b.write(kGtIir, 1);
  EXPECT_EQ(b.read(kGtIir), 0u) << "a third event is not kept";
  EXPECT_FALSE(b.level);
}

TEST_F(DisplayMaster, PowerAndDisplayBanksAreIndependentOfTheGt) {
  b.write(kDeIer, kMaster);
  const std::optional<InterruptSource> mailbox = b.unit.source("PMISR", "mailbox_event");
  ASSERT_TRUE(mailbox);
  b.write(kPmImr, ~(1u << 25));
  b.write(kPmIer, 1u << 25);
  b.unit.pulse_source(*mailbox);
  EXPECT_EQ(b.read(kPmIir), 1u << 25);
  EXPECT_TRUE(b.level);
  b.write(kPmIir, 1u << 25);
  EXPECT_FALSE(b.level);

  struct Way {
    DisplayCause cause;
    unsigned pipe;
    unsigned plane;
    uint32_t bit;
  };
  for (const Way& way : {Way{DisplayCause::vblank, 0, 0, 1u << 7},
                         {DisplayCause::vblank, 1, 0, 1u << 15},
                         {DisplayCause::line_compare, 0, 0, 1u << 4},
                         {DisplayCause::underrun, 1, 0, 1u << 8},
                         {DisplayCause::flip_done, 0, 0, 1u << 26},
                         {DisplayCause::flip_done, 1, 0, 1u << 27},
                         {DisplayCause::flip_done, 0, 1, 1u << 28}}) {
    b.write(kDeImr, ~way.bit);
    b.write(kDeIer, kMaster | way.bit);
    EXPECT_TRUE(b.unit.display_event(way.cause, way.pipe, way.plane));
    EXPECT_EQ(b.read(kDeIir), way.bit);
    EXPECT_TRUE(b.level);
    b.write(kDeIir, way.bit);
    EXPECT_FALSE(b.level);
  }
  EXPECT_FALSE(b.unit.display_event(DisplayCause::vblank, 2)) << "no third pipe";
}

TEST_F(DisplayMaster, SouthDisplayRaisesABitOfTheNorth) {
  const std::optional<InterruptSource> plug = b.unit.source("SDEISR", "port_b_hotplug");
  ASSERT_TRUE(plug);
  b.write(kSdeImr, ~(1u << 21));
  b.write(kDeImr, ~kPchEvent);
  b.write(kDeIer, kMaster | kPchEvent);
  b.unit.pulse_source(*plug);
  EXPECT_EQ(b.read(kSdeIir), 1u << 21);
  EXPECT_EQ(b.read(kDeIir), 0u);
  b.write(kSdeIer, 1u << 21);
  EXPECT_EQ(b.read(kDeIir), kPchEvent);
  EXPECT_TRUE(b.level);
  // The driver's order: south off, south cleared, north cleared, south on again.
  b.write(kSdeIer, 0);
  b.unit.pulse_source(*plug);
  b.write(kSdeIir, 1u << 21);
  b.write(kDeIir, kPchEvent);
  EXPECT_EQ(b.read(kDeIir), 0u);
  b.write(kSdeIer, 1u << 21);
  EXPECT_EQ(b.read(kDeIir), kPchEvent) << "the second south event, from its back queue";
}

}  // namespace
}  // namespace halogen::interrupt
