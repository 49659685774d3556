// Draws and state commands that set unread fields: the fidelity report must not class them as exact.
#include "flow_bench.h"

namespace halogen {
namespace {

constexpr std::string_view kRcs = "rcs0";
constexpr uint32_t kVf = 0x780c'0000;
constexpr uint32_t kPrimitive = 0x7b00'0005;

class UnreadCommand : public ::testing::TestWithParam<std::string> {
 protected:
  // A draw without vertices, with these bits in its second dword, and the cut index of indexed draws.
  FidelityReport report_of(uint32_t primitive, uint32_t vf) const {
    FlowBench bench(GetParam());
    bench.start_ring(kRcs);
    bench.run_all(kRcs, {kVf | vf, 0, kPrimitive, primitive, 0, 0, 0, 0, 0, kNoop});
    EXPECT_EQ(bench.executed("3DPRIMITIVE"), 1u);
    return bench.device->fidelity();
  }
};

TEST_P(UnreadCommand, DrawAtRestValuesIsExact) {
  constexpr uint32_t kIndexedCut = 1u << 8;
  const FidelityReport report = report_of(0, kIndexedCut);
  EXPECT_EQ(report.entries().at({FidelityKind::command, "3DPRIMITIVE"}).fidelity, FidelityClass::exact);
  EXPECT_EQ(report.entries().at({FidelityKind::command, "3DSTATE_VF"}).fidelity, FidelityClass::exact);
  for (const auto& [key, entry] : report.entries()) {
    EXPECT_NE(key.first, FidelityKind::field) << key.second;
  }
}

TEST_P(UnreadCommand, DrawWithAnUnreadFieldIsApproximateAndNamesIt) {
  constexpr uint32_t kEndOffset = 1u << 9;
  const FidelityReport report = report_of(kEndOffset, 0);
  const FidelityReport::Entry& draw = report.entries().at({FidelityKind::command, "3DPRIMITIVE"});
  EXPECT_EQ(draw.fidelity, FidelityClass::approximate);
  EXPECT_NE(draw.reason.find("end_offset_enable"), std::string::npos) << draw.reason;
  EXPECT_EQ(report.entries().at({FidelityKind::command, "3DSTATE_VF"}).fidelity, FidelityClass::exact);
  const FidelityReport::Entry& field = report.entries().at({FidelityKind::field, "3DPRIMITIVE.end_offset_enable"});
  EXPECT_EQ(field.fidelity, FidelityClass::approximate);
  EXPECT_FALSE(field.reason.empty());
}

TEST_P(UnreadCommand, StateCommandWithAnUnreadFieldIsApproximate) {
  constexpr uint32_t kSequentialCut = 1u << 10;
  const FidelityReport report = report_of(0, kSequentialCut);
  const FidelityReport::Entry& state = report.entries().at({FidelityKind::command, "3DSTATE_VF"});
  EXPECT_EQ(state.fidelity, FidelityClass::approximate);
  EXPECT_NE(state.reason.find("sequential_draw_cut_index_enable"), std::string::npos) << state.reason;
  EXPECT_EQ(report.entries().at({FidelityKind::command, "3DPRIMITIVE"}).fidelity, FidelityClass::exact);
}

// Sizes of the state heaps are not checked, so only "everything" is exact.
TEST_P(UnreadCommand, CommandsOutsideThe3dPipelineAreWatchedToo) {
  for (const auto& [pages, expected] :
       {std::pair{0xf'ffffu, FidelityClass::exact}, std::pair{0x10u, FidelityClass::approximate}}) {
    FlowBench bench(GetParam());
    bench.start_ring(kRcs);
    std::vector<uint32_t> bases(GetParam() == "skl" ? 19 : 22);
    bases[0] = 0x6101'0000 | static_cast<uint32_t>(bases.size() - 2);
    bases[12] = pages << 12 | 1;
    bench.run_all(kRcs, bases);
    const FidelityReport report = bench.device->fidelity();
    EXPECT_EQ(report.entries().at({FidelityKind::command, "STATE_BASE_ADDRESS"}).fidelity, expected) << pages;
    EXPECT_EQ(report.entries().contains({FidelityKind::field, "STATE_BASE_ADDRESS.general_state_buffer_size"}),
              expected == FidelityClass::approximate);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, UnreadCommand, ::testing::Values("skl", "icl", "tgl"), chip_name);

}  // namespace
}  // namespace halogen
