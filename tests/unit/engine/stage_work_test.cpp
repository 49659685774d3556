// The time of a part is divided among the stages that ran in it.
#include "engine/backend/stage_work.h"

#include <gtest/gtest.h>

namespace halogen::engine {
namespace {

using oa::Stage;

constexpr oa::CountsWanted kAll{.work = true, .activity = true};

uint64_t active(const oa::WorkCounts& counts, Stage stage) {
  return counts.activity[static_cast<size_t>(stage)].active_ns;
}

TEST(StageWork, SharesOfADrawAddUpToItsTime) {
  pipe3d::Outcome outcome;
  outcome.instructions_of = {
      .vertex = 100, .hull = 20, .domain = 30, .geometry = 40, .clip = 5, .setup = 6, .pixel = 1000};
  outcome.instructions = outcome.instructions_of.sum();
  outcome.threads = {.vertex = 3, .hull = 1, .domain = 2, .geometry = 4, .clip = 7, .setup = 8, .pixel = 50};
  outcome.counts.vertices = 24;
  outcome.counts.pixels.invocations = 777;
  oa::WorkCounts counts;
  add_stages(outcome, kAll, counts);
  uint64_t sum = 0;
  for (const oa::StageActivity& each : counts.activity) {
    sum += each.active_ns;
  }
  EXPECT_EQ(sum, 1201u + 24 + 777);
  EXPECT_EQ(sum, time_of(outcome));
  EXPECT_EQ(active(counts, Stage::vertex), 124u);
  EXPECT_EQ(active(counts, Stage::pixel), 1783u);
  EXPECT_EQ(counts.activity[static_cast<size_t>(Stage::pixel)].thread_ns, 58u * 1783);
  EXPECT_EQ(counts.threads, (std::array<uint64_t, oa::kStages>{3, 1, 2, 4, 50, 0}));
}

TEST(StageWork, ADispatchHasOneStage) {
  const compute::Outcome outcome{.instructions = 5000, .threads = 16, .loaded = 40};
  oa::WorkCounts counts;
  add_stages(outcome, kAll, counts);
  EXPECT_EQ(active(counts, Stage::compute), time_of(outcome));
  EXPECT_EQ(time_of(outcome), 5000u);
  EXPECT_EQ(counts.activity[static_cast<size_t>(Stage::compute)].thread_ns, 40u * 5000);
  EXPECT_EQ(counts.threads[static_cast<size_t>(Stage::compute)], 16u);
}

TEST(StageWork, CountsThatAreNotWantedStayZero) {
  const compute::Outcome outcome{.instructions = 5000, .threads = 16, .loaded = 40};
  oa::WorkCounts none;
  add_stages(outcome, {}, none);
  EXPECT_TRUE(none == oa::WorkCounts{});
  oa::WorkCounts work;
  add_stages(outcome, {.work = true}, work);
  EXPECT_TRUE(work.activity == none.activity);
  EXPECT_EQ(work.threads[static_cast<size_t>(Stage::compute)], 16u);
}

}  // namespace
}  // namespace halogen::engine
