// Random state and small draws on every chip, as in the fuzzer. The sanitizers report accesses out of bounds.
#include <gtest/gtest.h>

#include <random>

#include "fuzz/draw_target.h"

namespace halogen {
namespace {

TEST(HostileDraw, RandomDrawsEnd) {
  std::mt19937 random(67);
  for (size_t chip = 0; chip < spec::device_models().size(); ++chip) {
    for (int round = 0; round < 40; ++round) {
      std::vector<uint8_t> data(400 + random() % 3000);
      for (uint8_t& byte : data) {
        byte = static_cast<uint8_t>(random());
      }
      data[0] = static_cast<uint8_t>(chip);
      fuzz::draw(data);
    }
  }
}

}  // namespace
}  // namespace halogen
