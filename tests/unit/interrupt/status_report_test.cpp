// Hardware status writes of engines with their own status: DG1 PRM vol. 13 (seed 000), interrupt control registers (the
// table of bits), for Gen12; engines from Gen6 on behave alike.
#include "unit/interrupt/bench.h"

#include "covers.h"

namespace halogen::interrupt {
namespace {

using Reports = std::vector<std::pair<unsigned, uint32_t>>;

class StatusReport : public testing::TestWithParam<const char*> {
 protected:
  InterruptBench b{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Devices, StatusReport, testing::Values("icl", "tgl", "dg1"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(StatusReport, LevelBitsAreReportedAndEventBitsReadZero) {
  COVERS("DG1-HWSP-03");
  constexpr uint32_t kHwstam = 0x2098;
  const unsigned rcs = b.engine("rcs0");
  b.unit.raise(rcs, EngineCause::user);
  b.unit.set_level(rcs, EngineCause::master_error, true);
  EXPECT_TRUE(b.take_reports().empty()) << "masked after reset";
  b.unit.set_level(rcs, EngineCause::master_error, false);
  b.write(kHwstam, ~(1u << 0 | 1u << 3 | 1u << 4));
  b.unit.raise(rcs, EngineCause::user);
  EXPECT_EQ(b.take_reports(), (Reports{{rcs, 0}}));
  b.unit.set_level(rcs, EngineCause::master_error, true);
  EXPECT_EQ(b.take_reports(), (Reports{{rcs, 1u << 3}})) << "set when the error occurs";
  b.unit.raise(rcs, EngineCause::notify);
  EXPECT_EQ(b.take_reports(), (Reports{{rcs, 1u << 3}})) << "a flush notify is written as zero";
  b.unit.set_level(rcs, EngineCause::master_error, false);
  EXPECT_EQ(b.take_reports(), (Reports{{rcs, 0}})) << "cleared with the error";
  b.unit.raise(b.engine("bcs0"), EngineCause::user);
  EXPECT_TRUE(b.take_reports().empty()) << "the mask belongs to the engine";
  b.write(kHwstam, ~(1u << 5));
  b.unit.raise(rcs, EngineCause::l3_parity);
  EXPECT_EQ(b.take_reports(), (Reports{{rcs, 0}})) << "an event too";
  EXPECT_EQ(b.log.events().size(), 0u);
  for (const auto& [name, base] : {std::pair{"bcs0", 0x22000u}, std::pair{"vcs0", 0x1c0000u}, {"vecs0", 0x1c8000u}}) {
    b.write(base + 0x98, ~(1u << 5));
    b.unit.raise(b.engine(name), EngineCause::l3_parity);
    EXPECT_TRUE(b.take_reports().empty()) << name << ": only the render engine has the bit";
  }
  for (const char* const name : {"rcs0", "bcs0"}) {
    b.unit.raise(b.engine(name), EngineCause::watchdog);
    EXPECT_TRUE(b.take_reports().empty()) << name << ": must stay masked, and only media engines have the bit";
  }
}

TEST_P(StatusReport, ContextSwitchPageFaultAndWatchdogCannotBeUnmasked) {
  const unsigned vcs = b.engine("vcs0");
  for (const auto& [bit, cause] : {std::pair{8u, EngineCause::context_switch}, std::pair{7u, EngineCause::page_fault},
                                   std::pair{6u, EngineCause::watchdog}}) {
    b.write(0x1c0098, ~(1u << bit));
    ASSERT_EQ(b.log.count(EventKind::undefined_behaviour), 1u) << bit;
    EXPECT_EQ(b.log.events().back().value, 1u << bit);
    b.unit.raise(vcs, cause);
    b.unit.set_level(vcs, cause, true);
    b.unit.set_level(vcs, cause, false);
    EXPECT_TRUE(b.take_reports().empty()) << bit;
    b.write(0x1c0098, ~0u);
    b.log.clear();
  }
}

TEST(StatusReportOlder, Gen6BitsAreAtThePositionsOfTheBank) {
  InterruptBench snb("snb");
  snb.write(0x2098, ~1u);  // as Linux i915 sets it on this chip
  snb.user("rcs0");
  EXPECT_EQ(snb.take_reports(), (Reports{{0, 0}}));
  InterruptBench skl("skl");
  const unsigned bcs = skl.engine("bcs0");
  skl.write(0x22098, ~(1u << 19));
  skl.unit.set_level(bcs, EngineCause::master_error, true);
  EXPECT_EQ(skl.take_reports(), (Reports{{bcs, 1u << 19}}));
}

}  // namespace
}  // namespace halogen::interrupt
