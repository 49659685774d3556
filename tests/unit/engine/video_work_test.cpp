// Commands of the codecs are not executed. The report and one Event for each command say what that means for a program.
#include "engine/video_work.h"
#include "base/fidelity.h"
#include "flow_bench.h"

namespace halogen {
namespace {

class VideoWork : public ::testing::TestWithParam<const char*> {};

// MFX_PIPE_MODE_SELECT: client 3, pipeline 2, five dwords. MFX_WAIT: one dword.
TEST_P(VideoWork, EachCommandGivesOneEventThatNamesTheLoss) {
  FlowBench bench(GetParam());
  bench.start_ring("vcs0");
  bench.host.log.clear();
  bench.run_all("vcs0", {0x7000'0003, 0, 0, 0, 0, 0x7000'0003, 0, 0, 0, 0});
  size_t told = 0;
  for (const Event& event : bench.host.log.events()) {
    if (event.kind != EventKind::unsupported) continue;
    ++told;
    EXPECT_EQ(event.detail, engine::kVideoNotExecuted);
    EXPECT_EQ(event.item, "MFX_PIPE_MODE_SELECT");
  }
  EXPECT_EQ(told, 1u) << "once for each command";
  const FidelityReport report = bench.device->fidelity();
  const auto found = report.entries().find({FidelityKind::command, "MFX_PIPE_MODE_SELECT"});
  ASSERT_NE(found, report.entries().end());
  EXPECT_EQ(found->second.count, 2u);
  EXPECT_EQ(found->second.fidelity, FidelityClass::unsupported);
  EXPECT_EQ(found->second.reason, engine::kVideoNotExecuted);
}

TEST_P(VideoWork, CommandsThatTheStreamerExecutesGiveNone) {
  FlowBench bench(GetParam());
  const uint64_t data = bench.allocate(1);
  bench.start_ring("vcs0");
  bench.host.log.clear();
  bench.run_all("vcs0", bench.store(data, 7));
  EXPECT_EQ(bench.peek(data), 7u);
  EXPECT_EQ(bench.host.log.count(EventKind::unsupported), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chips, VideoWork, ::testing::Values("bdw", "skl", "icl", "tgl", "dg1"),
                         [](const auto& chip) { return std::string(chip.param); });

}  // namespace
}  // namespace halogen
