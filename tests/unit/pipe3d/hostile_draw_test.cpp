// Random changes of a draw that works, on every chip, as in the fuzzer. The sanitizers report accesses out of bounds.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/draw_target.h"
#include "fuzz/fast_target.h"
#include "support/fuzz_corpus.h"

namespace halogen {
namespace {

std::vector<uint8_t> random_input(std::mt19937& random, size_t chip_at, size_t chip) {
  std::vector<uint8_t> data(8 + random() % 600);
  for (uint8_t& byte : data) {
    byte = static_cast<uint8_t>(random());
  }
  data[chip_at] = static_cast<uint8_t>(chip);
  return data;
}

// If this fails, the fuzzer's inputs no longer reach shaders.
TEST(HostileDraw, AnUnchangedSceneDrawsOnEveryChip) {
  for (size_t chip = 0; chip < spec::device_models().size(); ++chip) {
    SCOPED_TRACE(spec::device_models()[chip].name);
    fuzz::DrawWorld& world = fuzz::draw_world(chip);
    world.build({});
    const fuzz::DrawResult result = world.draw(nullptr);
    EXPECT_EQ(result.stops.back(), pipe3d::Stop::finished);
    EXPECT_EQ(result.counts[0], fuzz::scene::kVertexCount);
    EXPECT_GT(result.shader_threads, 100u);
    EXPECT_TRUE(world.painted(result));
    EXPECT_TRUE(result.faults.empty());
  }
}

TEST(HostileDraw, RandomDrawsEnd) {
  std::mt19937 random(67);
  for (size_t chip = 0; chip < spec::device_models().size(); ++chip) {
    for (int round = 0; round < 40; ++round) {
      fuzz::draw(random_input(random, 0, chip));
    }
  }
  test::replay_corpus("fuzz_draw", fuzz::draw);
}

TEST(HostileDraw, HostThreadsLeaveTheSameResults) {
  std::mt19937 random(68);
  for (size_t chip = 0; chip < spec::device_models().size(); ++chip) {
    for (int round = 0; round < 15; ++round) {
      fuzz::draw_threads(random_input(random, 1, chip));
    }
  }
  test::replay_corpus("fuzz_draw_threads", fuzz::draw_threads);
}

TEST(HostileDraw, FastPathsGiveTheBytesOfSlowPaths) {
  std::mt19937 random(69);
  for (size_t chip = 0; chip < spec::device_models().size(); ++chip) {
    for (int round = 0; round < 60; ++round) {
      fuzz::fast(random_input(random, 0, chip));
    }
  }
  test::replay_corpus("fuzz_fast", fuzz::fast);
}

}  // namespace
}  // namespace halogen
