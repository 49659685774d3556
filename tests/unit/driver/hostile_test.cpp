// Random calls on every chip: nothing crashes, hangs or leaks (under sanitizers), and the driver still serves other
// files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz/drm_target.h"
#include "support/paths.h"

namespace halogen::driver {
namespace {

TEST(HostileCalls, RandomCallsReturnErrors) {
  for (uint32_t seed = 0; seed < 66; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<uint8_t> data(1500);
    for (uint8_t& each : data) each = static_cast<uint8_t>(random());
    data[0] = static_cast<uint8_t>(seed);
    EXPECT_GT(fuzz::drm(data), 0u) << "some call was made";
  }
}

// Mostly valid programs on every chip (drm_call_sequence.h checks for leaks).
TEST(HostileCalls, RandomCallSequencesLeakNothing) {
  for (uint32_t seed = 0; seed < 110; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(1000 + seed);
    std::vector<uint8_t> data(1200);
    for (uint8_t& each : data) each = static_cast<uint8_t>(random());
    data[0] = static_cast<uint8_t>((66 + seed % 55) | (seed >= 55 ? 0x80 : 0));
    EXPECT_GT(fuzz::drm(data), 32u);
  }
}

// The seeds of the fuzz target: valid programs, one for each part of the interface.
TEST(HostileCalls, ValidCallSequencesSucceed) {
  const auto folder = test::source_folder() / "tests" / "fuzz" / "corpus" / "fuzz_drm";
  size_t stories = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    EXPECT_GE(fuzz::drm({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}), 10u);
    ++stories;
  }
  EXPECT_GE(stories, 8u);
}

}  // namespace
}  // namespace halogen::driver
