// One bank for the device: ISR, IMR, IIR, IER at 0x20a0, and status writes. G45 PRM vol. 1b 5.4 to 5.7 (seed 003); bit
// positions as in Linux i915 (I915_*_INTERRUPT).
#include "unit/interrupt/bench.h"

#include "covers.h"

namespace halogen::interrupt {
namespace {

constexpr uint32_t kIer = 0x20a0;
constexpr uint32_t kIir = 0x20a4;
constexpr uint32_t kImr = 0x20a8;
constexpr uint32_t kIsr = 0x20ac;
constexpr uint32_t kHwstam = 0x2098;

constexpr uint32_t kUser = 1u << 1;
constexpr uint32_t kPipeBVblank = 1u << 5;
constexpr uint32_t kPipeAEvent = 1u << 6;
constexpr uint32_t kPipeAVblank = 1u << 7;
constexpr uint32_t kOverlayFlip = 1u << 9;
constexpr uint32_t kPlaneBFlip = 1u << 10;
constexpr uint32_t kPlaneAFlip = 1u << 11;
constexpr uint32_t kSyncStatus = 1u << 12;
constexpr uint32_t kThermal = 1u << 14;
constexpr uint32_t kMasterError = 1u << 15;
constexpr uint32_t kNotify = 1u << 18;
constexpr uint32_t kBsdUser = 1u << 25;

class OneBank : public testing::TestWithParam<const char*> {
 protected:
  InterruptBench b{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Devices, OneBank, testing::Values("i965", "gm965", "g45", "gm45"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(OneBank, MaskGatesTheIdentityAndEnableGatesTheInterrupt) {
  COVERS("G45-5.6-01");
  struct Way {
    EngineCause cause;
    uint32_t bit;
  };
  for (const Way& way : {Way{EngineCause::user, kUser}, {EngineCause::notify, kNotify}}) {
    b.write(kImr, ~0u);
    b.write(kIer, 0);
    b.write(kIir, ~0u);
    b.unit.raise(0, way.cause);
    EXPECT_EQ(b.read(kIsr), way.bit) << "the status is not masked";
    EXPECT_EQ(b.read(kIir), 0u) << "masked";
    EXPECT_FALSE(b.level);

    b.write(kImr, ~way.bit);
    EXPECT_EQ(b.read(kIir), way.bit) << "unmasked while the status is set";
    EXPECT_FALSE(b.level) << "not enabled";
    b.write(kIer, ~way.bit & ~kSyncStatus);
    EXPECT_FALSE(b.level) << "another bit is enabled";
    b.write(kIer, way.bit);
    EXPECT_TRUE(b.level);
    b.write(kImr, ~0u);
    EXPECT_EQ(b.read(kIir), way.bit) << "the identity is sticky";
    EXPECT_TRUE(b.level);
    b.write(kIir, ~way.bit);
    EXPECT_TRUE(b.level) << "writing zeros clears nothing";
    b.write(kIir, way.bit);
    EXPECT_EQ(b.read(kIir), 0u);
    EXPECT_FALSE(b.level);
  }
}

TEST_P(OneBank, UserInterruptIsPendingUntilAcknowledged) {
  b.write(kImr, ~kUser);
  b.write(kIer, kUser);
  b.unit.raise(0, EngineCause::user);
  EXPECT_EQ(b.read(kIsr), kUser);
  EXPECT_EQ(b.rises, 1u);
  b.unit.raise(0, EngineCause::user);
  b.write(kIir, kUser);
  EXPECT_EQ(b.read(kIir), 0u) << "the second had no effect: it was already pending";
  EXPECT_EQ(b.read(kIsr), 0u);
  EXPECT_FALSE(b.level);
  b.unit.raise(0, EngineCause::user);
  EXPECT_EQ(b.read(kIir), kUser);
  EXPECT_EQ(b.rises, 2u);
}

TEST_P(OneBank, FlipsAreReportedWhenPerformed) {
  struct Way {
    DisplayCause cause;
    unsigned pipe;
    uint32_t bit;
  };
  for (const Way& way : {Way{DisplayCause::flip_done, 0, kPlaneAFlip},
                         {DisplayCause::flip_done, 1, kPlaneBFlip},
                         {DisplayCause::overlay_flip, 0, kOverlayFlip}}) {
    b.write(kImr, ~way.bit);
    b.write(kIer, way.bit);
    ASSERT_TRUE(b.unit.display(way.cause, way.pipe, 0, true));
    EXPECT_EQ(b.read(kIsr), way.bit) << "pending";
    EXPECT_EQ(b.read(kIir), 0u);
    EXPECT_FALSE(b.level);
    b.write(kImr, ~0u);
    b.write(kImr, ~way.bit);
    EXPECT_EQ(b.read(kIir), 0u) << "unmasking a pending flip is not an edge";
    ASSERT_TRUE(b.unit.display(way.cause, way.pipe, 0, false));
    EXPECT_EQ(b.read(kIsr), 0u);
    EXPECT_EQ(b.read(kIir), way.bit) << "the falling edge";
    EXPECT_TRUE(b.level);
    b.write(kIir, way.bit);

    b.write(kImr, ~0u);
    b.unit.display(way.cause, way.pipe, 0, true);
    b.unit.display(way.cause, way.pipe, 0, false);
    EXPECT_EQ(b.read(kIir), 0u) << "masked";
  }
}

TEST_P(OneBank, VblankIsReportedAtItsLeadingEdge) {
  COVERS("G45-5.4.6-01");
  for (const auto& [pipe, bit] : {std::pair{0u, kPipeAVblank}, std::pair{1u, kPipeBVblank}}) {
    b.write(kImr, ~bit);
    b.write(kIer, bit);
    b.unit.display(DisplayCause::vblank, pipe, 0, true);
    EXPECT_EQ(b.read(kIsr), bit);
    EXPECT_EQ(b.read(kIir), bit);
    EXPECT_TRUE(b.level);
    b.write(kIir, bit);
    EXPECT_FALSE(b.level);
    b.unit.display(DisplayCause::vblank, pipe, 0, false);
    EXPECT_EQ(b.read(kIsr), 0u);
    EXPECT_EQ(b.read(kIir), 0u) << "the trailing edge is not reported";
  }
}

// Linux i915 toggles the enables of PIPESTAT, because only an edge of the pipe event counts.
TEST_P(OneBank, ConditionThatStaysSetIsNotReportedAgain) {
  b.write(kImr, ~(kPipeAEvent | kMasterError));
  b.write(kIer, kPipeAEvent | kMasterError);
  EXPECT_TRUE(b.unit.pipe_event(0, true));
  EXPECT_FALSE(b.unit.pipe_event(2, true)) << "two pipes";
  EXPECT_EQ(b.read(kIir), kPipeAEvent);
  b.write(kIir, kPipeAEvent);
  EXPECT_EQ(b.read(kIsr), kPipeAEvent);
  EXPECT_FALSE(b.level);
  b.unit.pipe_event(0, false);
  b.unit.pipe_event(0, true);
  EXPECT_TRUE(b.level);
  b.write(kIir, kPipeAEvent);

  b.unit.set_level(0, EngineCause::master_error, true);
  EXPECT_EQ(b.read(kIsr) & kMasterError, kMasterError);
  EXPECT_EQ(b.read(kIir), kMasterError);
  b.unit.set_level(0, EngineCause::master_error, false);
  EXPECT_EQ(b.read(kIsr) & kMasterError, 0u);
  EXPECT_EQ(b.read(kIir), kMasterError) << "the identity stays set until software clears it";
  b.write(kIir, kMasterError);
  EXPECT_EQ(b.read(kIir), 0u);
}

TEST_P(OneBank, EveryChangeOfAnUnmaskedStatusBitWritesTheWholeStatus) {
  b.unit.raise(0, EngineCause::notify);
  EXPECT_TRUE(b.take_reports().empty()) << "everything is masked after reset";
  b.write(kHwstam, ~(kUser | kSyncStatus | kPlaneAFlip));
  b.unit.raise(0, EngineCause::user);
  EXPECT_EQ(b.take_reports(), (std::vector<std::pair<unsigned, uint32_t>>{{0, kNotify | kUser}}));
  b.unit.raise(0, EngineCause::user);
  EXPECT_TRUE(b.take_reports().empty()) << "no change";
  b.write(kIir, kUser);
  EXPECT_EQ(b.take_reports(), (std::vector<std::pair<unsigned, uint32_t>>{{0, kNotify}})) << "1 to 0 too";
  b.write(kIir, kNotify);
  EXPECT_TRUE(b.take_reports().empty()) << "masked";
  b.unit.display(DisplayCause::flip_done, 0, 0, true);
  b.unit.display(DisplayCause::vblank, 0, 0, true);
  b.unit.display(DisplayCause::flip_done, 0, 0, false);
  EXPECT_EQ(b.take_reports(), (std::vector<std::pair<unsigned, uint32_t>>{{0, kPlaneAFlip}, {0, kPipeAVblank}}));
  b.unit.raise(0, EngineCause::sync_status);
  b.unit.raise(0, EngineCause::sync_status);
  EXPECT_EQ(b.take_reports(),
            (std::vector<std::pair<unsigned, uint32_t>>{{0, kPipeAVblank | kSyncStatus}, {0, kPipeAVblank}}))
      << "each sync flush toggles it";
}

TEST_P(OneBank, UnmaskingTheThermalEventIsReported) {
  COVERS("G45-5.4.2-01");
  b.write(kHwstam, ~(kUser | kSyncStatus));
  EXPECT_EQ(b.log.count(EventKind::undefined_behaviour), 0u);
  b.write(kHwstam, ~kThermal);
  ASSERT_EQ(b.log.count(EventKind::undefined_behaviour), 1u);
  EXPECT_EQ(b.log.events().back().item, "HWSTAM");
  EXPECT_EQ(b.log.events().back().value, kThermal);
  const std::optional<InterruptSource> thermal = b.unit.source("ISR", "thermal_sensor_event");
  ASSERT_TRUE(thermal);
  b.unit.set_source(*thermal, true);
  EXPECT_EQ(b.take_reports(), (std::vector<std::pair<unsigned, uint32_t>>{{0, kThermal}})) << "what the rule prevents";
}

TEST_P(OneBank, EnablingTheSyncStatusInterruptIsReported) {
  COVERS("G45-5.4.3-01");
  b.write(kIer, ~kSyncStatus);
  EXPECT_EQ(b.log.count(EventKind::undefined_behaviour), 0u);
  b.write(kIer, kSyncStatus);
  ASSERT_EQ(b.log.count(EventKind::undefined_behaviour), 1u);
  EXPECT_EQ(b.log.events().back().item, "IER");
  EXPECT_EQ(b.log.events().back().value, kSyncStatus);
}

TEST(OneBankVideo, VideoRingHasItsOwnUserInterruptBit) {
  InterruptBench b("g45");
  b.write(kImr, 0);
  b.user("vcs0");
  EXPECT_EQ(b.read(kIir), kBsdUser);
  b.write(kIir, ~0u);
  b.unit.set_level(0, EngineCause::master_error, true);
  b.unit.set_level(b.engine("vcs0"), EngineCause::master_error, true);
  b.unit.set_level(0, EngineCause::master_error, false);
  EXPECT_EQ(b.read(kIsr), kMasterError) << "one of the two errors is still set";
  b.unit.set_level(b.engine("vcs0"), EngineCause::master_error, false);
  EXPECT_EQ(b.read(kIsr), 0u);
  // The video ring has no status mask of its own (Linux i915: not before Gen6).
  b.write(0x4098, 0);
  b.user("vcs0");
  EXPECT_TRUE(b.take_reports().empty());
  EXPECT_EQ(InterruptBench("i965").model.engines.size(), 1u);
}

}  // namespace
}  // namespace halogen::interrupt
