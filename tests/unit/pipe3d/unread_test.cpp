// Indirect state of a draw with a field that the model does not read.
#include "sandy_draw.h"

namespace halogen::pipe3d {
namespace {

FidelityReport report_of_draw(uint32_t color_calc) {
  SandyDraw world;
  constexpr uint32_t kOne = 0x3f80'0000;
  world.entries({{0, 0, 0, 0, kOne, kOne, 0, kOne}});
  constexpr uint32_t kColorCalc = 0x800;  // from the dynamic base
  world.word(DrawWorld::kStates + kColorCalc) = color_calc;
  hw::_3DSTATE_CC_STATE_POINTERS pointers;
  pointers.color_calc_state_pointer = kColorCalc;
  pointers.color_calc_state_pointer_valid = true;
  world.send(pointers, 4);
  world.draw(hw::PrimitiveTopology::POINTLIST, 1);
  FidelityReport report;
  world.unread.report(report);
  return report;
}

TEST(UnreadState, ADrawWithUnreadFieldsIsApproximate) {
  const FidelityReport report = report_of_draw(1u << 15);  // round disable function disable
  ASSERT_EQ(report.entries().size(), 1u);
  const auto& [key, entry] = *report.entries().begin();
  EXPECT_EQ(key.second, "COLOR_CALC_STATE.round_disable_function_disable");
  EXPECT_EQ(entry.fidelity, FidelityClass::approximate);
  EXPECT_FALSE(entry.reason.empty());
}

TEST(UnreadState, ADrawWithoutUnreadFieldsIsExact) {
  EXPECT_TRUE(report_of_draw(0).entries().empty());
}

}  // namespace
}  // namespace halogen::pipe3d
