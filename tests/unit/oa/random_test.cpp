// Random inputs of the fuzz target (tests/fuzz/oa_target.h), which every build runs.
#include <random>

#include <gtest/gtest.h>

#include "fuzz/oa_target.h"

namespace halogen {
namespace {

TEST(OaRandom, HostileGuestsDoNotBreakTheUnit) {
  std::mt19937 random(4711);
  for (unsigned round = 0; round < 300; ++round) {
    std::vector<uint8_t> input(1 + 8 * (4 + random() % 60));
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
    for (size_t at = 1; at < input.size(); at += 8 * (1 + random() % 12)) input[at] &= 0xf0;  // enables the unit
    fuzz::oa(input);
  }
}

}  // namespace
}  // namespace halogen
