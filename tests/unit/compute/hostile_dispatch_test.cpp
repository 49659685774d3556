// Changes a working dispatch at random, on every chip, as the fuzzer does. The sanitizers report accesses out of
// bounds.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/compute_target.h"
#include "support/fuzz_corpus.h"

namespace halogen {
namespace {

// If this fails, the fuzzer's inputs no longer reach kernels.
TEST(HostileDispatch, AnUnchangedDispatchRunsOnEveryChip) {
  for (size_t chip = 0; chip < spec::device_models().size(); ++chip) {
    SCOPED_TRACE(spec::device_models()[chip].name);
    fuzz::DispatchWorld& world = fuzz::dispatch_world(chip);
    ASSERT_TRUE(world.build({}));
    const fuzz::DispatchResult result = world.run(nullptr);
    ASSERT_FALSE(result.outcomes.empty());
    EXPECT_EQ(result.outcomes.back().stop, compute::Stop::finished);
    EXPECT_GE(result.outcomes.front().threads, 1u);
    EXPECT_TRUE(result.faults.empty());
  }
}

TEST(HostileDispatch, HostThreadsLeaveTheSameResults) {
  std::mt19937 random(70);
  for (size_t chip = 0; chip < spec::device_models().size(); ++chip) {
    for (int round = 0; round < 25; ++round) {
      std::vector<uint8_t> data(8 + random() % 500);
      for (uint8_t& byte : data) {
        byte = static_cast<uint8_t>(random());
      }
      data[0] = static_cast<uint8_t>(round);
      data[1] = static_cast<uint8_t>(chip);
      fuzz::dispatch(data);
    }
  }
  test::replay_corpus("fuzz_dispatch", fuzz::dispatch);
}

}  // namespace
}  // namespace halogen
