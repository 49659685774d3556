// Random streams, images and registers on every chip, a few per run. The fuzz target tests/fuzz/engine.cpp runs many
// more. Inputs that once failed are in tests/fuzz/corpus/fuzz_engine.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fuzz/engine_target.h"
#include "support/paths.h"

namespace halogen {
namespace {

class HostileStreams : public ::testing::TestWithParam<int> {};

TEST_P(HostileStreams, ResultDoesNotDependOnSnapshots) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (int round = 0; round < 40; ++round) {
    std::vector<uint8_t> input(64 + random() % 1024);
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
    // Every setting in turn: bytes that differ by the number of chips.
    input[0] =
        static_cast<uint8_t>(static_cast<size_t>(GetParam()) +
                             static_cast<size_t>(round) % fuzz::EngineFuzz::kSettings.size() * spec::kDeviceCount);
    fuzz::engine(input);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, HostileStreams, ::testing::Range(0, static_cast<int>(spec::kDeviceCount)));

TEST(FuzzReplay, CorpusInputsDoNotCrash) {
  const auto folder = test::source_folder() / "tests" / "fuzz" / "corpus" / "fuzz_engine";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " does not exist; inputs found by the fuzz target belong there";
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().string());
    fuzz::engine({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  }
}

}  // namespace
}  // namespace halogen
